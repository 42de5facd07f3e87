package mcp

import (
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// Include adds files of servers for as long as the program runs. They are stronger
// than all others, the last one the strongest, and what they define is trusted,
// because the user named them. It fails if one cannot be read or has a server that
// cannot be connected. It is called before [Servers.Begin].
func (s *Servers) Include(paths ...string) error {
	files := slices.Clone(s.reader.Files())
	for _, path := range paths {
		real, err := filepath.Abs(path)
		if err == nil {
			real, err = filepath.EvalSymlinks(real)
		}
		if err != nil {
			return backend.Problem(backend.ProblemServersFileUnread, path).Because(err)
		}
		files = slices.DeleteFunc(files, func(f settings.File) bool { return f.Path() == real })
		files = append(files, settings.File{Root: filepath.Dir(real), Name: filepath.Base(real), Scope: agent.ScopeSession})
	}
	s.reader = settings.NewReaderOf(files...)
	l := s.current()
	for _, f := range l.files {
		if f.Scope == agent.ScopeSession && f.Problem != nil {
			return f.Problem
		}
	}
	for _, f := range files {
		if f.Scope == agent.ScopeSession && !slices.ContainsFunc(l.servers, func(d *definition) bool { return d.file == f }) {
			return backend.Problem(backend.ProblemServersFileEmpty, f.Path())
		}
	}
	for _, d := range l.servers {
		if d.given() && d.broken() {
			return backend.Problem(backend.ProblemServerBroken, d.draft.Name).Detailed(d.findings[0].Message)
		}
	}
	return nil
}

// given reports whether the user named the definition's file for this run.
func (d *definition) given() bool { return d.origin.Scope == agent.ScopeSession }

// free reports whether a file may have servers at its top, as files that hold nothing
// else do.
func free(f settings.File) bool { return f.Name == sharedFile || f.Scope == agent.ScopeSession }
