package languages

import (
	"context"
	"path/filepath"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

// LanguageServer is one language server, as the page shows it.
type LanguageServer struct {
	Language string            `json:"language"`
	Program  string            `json:"program"`
	Root     string            `json:"root,omitempty"` // empty for one that was not needed yet
	State    lsp.LanguageState `json:"state"`
	Problem  string            `json:"problem,omitempty"` // what it said when it failed
	Memory   int64             `json:"memory,omitempty"`  // bytes
	PID      int               `json:"pid,omitempty"`
}

// LanguageServers answers languages.list. Off says that all are switched off.
type LanguageServers struct {
	Servers []LanguageServer `json:"servers,omitempty"`
	Off     bool             `json:"off,omitempty"`
}

// LanguageRestart is for languages.restart.
type LanguageRestart struct {
	Language string `json:"language"`
	Root     string `json:"root"`
}

// LanguageStop is for languages.stop.
type LanguageStop struct {
	Language string `json:"language"`
}

// FaultQuery is for languages.faults: what is wrong with files of a session, or of the project.
type FaultQuery struct {
	Session string   `json:"session,omitempty"`
	Paths   []string `json:"paths,omitempty"` // relative to where it works
}

// FaultList answers languages.faults.
type FaultList struct {
	Faults []CodeFault `json:"faults,omitempty"`
}

// CodeFault is what a language server finds wrong with a line.
type CodeFault struct {
	Path    string `json:"path"`
	Line    int    `json:"line"` // from 1
	Warning bool   `json:"warning,omitempty"`
	Message string `json:"message"`
}

// ServersConfig is what [Servers] need.
type ServersConfig struct {
	Servers func() *lsp.Servers
	Store   backend.Settings
	// FolderOf returns where a session works; that of the project for no session.
	FolderOf func(ctx context.Context, session string) (string, error)
}

// Servers show the language servers to a person. They are safe for concurrent use.
type Servers struct{ cfg ServersConfig }

// NewServers returns Servers.
func NewServers(cfg ServersConfig) *Servers { return &Servers{cfg} }

// Register registers the methods of the page.
func (s *Servers) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "languages.list", s.list)
	dispatch.Handle(d, "languages.restart", s.restart)
	dispatch.Handle(d, "languages.stop", s.stop)
	dispatch.Handle(d, "languages.faults", s.faults)
}

func (s *Servers) list(ctx context.Context, _ backend.Empty) (list LanguageServers, err error) {
	prefs, err := backend.StoredPreferences(ctx, s.cfg.Store)
	if err != nil {
		return list, err
	}
	list.Off = prefs.NoLanguageServers
	for _, one := range s.cfg.Servers().Status(ctx) {
		row := LanguageServer{
			Language: one.Language, Program: filepath.Base(one.Program), Root: one.Root, State: one.State, Memory: one.Memory, PID: one.PID,
		}
		if one.Err != nil {
			row.Problem = text.Shorten(one.Err.Error(), 500)
		}
		list.Servers = append(list.Servers, row)
	}
	return list, nil
}

// restart starts a server again. Why it does not start is in the list.
func (s *Servers) restart(ctx context.Context, in LanguageRestart) (LanguageServers, error) {
	_ = s.cfg.Servers().Restart(ctx, in.Language, in.Root)
	return s.list(ctx, backend.Empty{})
}

// stop ends the servers of a language. The next question starts them, unless they are off.
func (s *Servers) stop(ctx context.Context, in LanguageStop) (LanguageServers, error) {
	s.cfg.Servers().StopLanguage(ctx, in.Language)
	return s.list(ctx, backend.Empty{})
}

func (s *Servers) faults(ctx context.Context, in FaultQuery) (list FaultList, err error) {
	folder, err := s.cfg.FolderOf(ctx, in.Session)
	if err != nil {
		return list, err
	}
	local, err := env.NewLocal(folder)
	if err != nil {
		return list, err
	}
	for _, f := range lsp.Faults(ctx, s.cfg.Servers(), local, in.Paths) {
		path := f.Path
		if rel, err := filepath.Rel(local.WorkingDirectory(), f.Path); err == nil {
			path = filepath.ToSlash(rel)
		}
		list.Faults = append(list.Faults, CodeFault{Path: path, Line: f.Line, Warning: f.Warning, Message: f.Message})
	}
	return list, nil
}

// Off returns what reports whether a person switched the servers of a language off.
func Off(ctx context.Context, store backend.Settings) func(language string) bool {
	return func(language string) bool {
		p, err := backend.StoredPreferences(ctx, store)
		return err != nil || p.LanguageOff(language)
	}
}
