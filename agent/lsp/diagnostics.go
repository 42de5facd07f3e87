package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/internal/text"
	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
)

const (
	diagnoseTime = 3 * time.Second        // for the servers to look at what was changed
	quietTime    = 300 * time.Millisecond // after which a server that counts no versions is done
	maxDiagnosed = 5                      // files at a time
	maxLooked    = 20                     // files at a time, for a person
	maxShown     = 12                     // diagnostics at a time
)

// Fault is what a server finds wrong with a line of a file.
type Fault struct {
	Path            string // absolute
	Line, Character int    // from 1
	Warning         bool   // else it is an error
	Message         string
}

// Diagnose returns what the servers find wrong with files that were just changed, in words
// for the model; empty if that is nothing. A server that does not run yet is started for
// the next time, and nobody waits for it.
func Diagnose(ctx context.Context, servers *Servers, e env.Environment, changed []string) string {
	ctx, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	c := client{servers, e}
	var lines []string
	show := printer{project: e.WorkingDirectory()}
	for _, path := range changed[:min(len(changed), maxDiagnosed)] {
		if c.wake(ctx, path) {
			for _, f := range c.diagnose(ctx, path) {
				lines = append(lines, show.fault(f))
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "Diagnostics of the language server after this change:\n" + cut(lines, maxShown, "diagnostics")
}

// Faults returns what the servers that run find wrong with files as they are now. It starts none.
func Faults(ctx context.Context, servers *Servers, e env.Environment, paths []string) (found []Fault) {
	ctx, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	c := client{servers, e}
	for _, path := range paths[:min(len(paths), maxLooked)] {
		found = append(found, c.diagnose(ctx, c.absolute(path))...)
	}
	return found
}

// wake reports whether the server of a file runs. One that does not starts in the background.
func (c client) wake(ctx context.Context, path string) bool {
	language, root, ok := c.home(ctx, path)
	if ok && !c.servers.running(language, root) {
		c.servers.startLater(language, root)
		return false
	}
	return ok
}

// home returns the language of a file in the project, and where its server runs.
func (c client) home(ctx context.Context, path string) (l Language, root string, ok bool) {
	project := c.env.WorkingDirectory()
	if l, ok = LanguageOf(path, c.servers.languages(ctx)); !ok || !within(project, path) {
		return l, "", false
	}
	return l, rootOf(project, path, l), true
}

// diagnose asks the server of a file, if it runs.
func (c client) diagnose(ctx context.Context, path string) []Fault {
	language, root, ok := c.home(ctx, path)
	if !ok || !c.servers.running(language, root) {
		return nil
	}
	lines, err := c.read(ctx, path)
	if err != nil { // it was deleted
		return nil
	}
	s, release, err := c.servers.acquire(ctx, language, root)
	if err != nil {
		return nil
	}
	defer release()
	if err := c.watch(ctx, s, language); err != nil {
		return nil
	}
	last := s.publication(path)
	had := s.version(path)
	version, err := s.open(ctx, path, language.IDs[strings.ToLower(filepath.Ext(path))], strings.Join(lines, "\n"))
	if err != nil {
		return nil
	}
	found := last.faults
	if version != had || last.count == 0 {
		found = s.settled(ctx, path, version, last.count)
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b protocol.Diagnostic) int { return int(a.Severity) - int(b.Severity) })
	var out []Fault
	for _, d := range found {
		if d.Severity <= protocol.SeverityWarning {
			out = append(out, Fault{
				Path: path, Line: int(d.Range.Start.Line) + 1, Character: int(d.Range.Start.Character) + 1,
				Warning: d.Severity == protocol.SeverityWarning, Message: text.Shorten(strings.Join(strings.Fields(d.Message), " "), 300),
			})
		}
	}
	return out
}

func (p printer) fault(f Fault) string {
	severity := "error"
	if f.Warning {
		severity = "warning"
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", p.short(f.Path), f.Line, f.Character, severity, f.Message)
}

// startLater starts a server in the background.
func (s *Servers) startLater(l Language, root string) {
	if _, ok := l.command(); !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if at := s.slots[key{root, l.Name}]; at != nil {
		if !at.mu.TryLock() { // it starts
			return
		}
		at.mu.Unlock()
	}
	s.stopped.Go(func() { // ends with the start, or with Close
		if _, release, err := s.acquire(s.life, l, root); err == nil {
			release()
		}
	})
}

func (s *server) publication(path string) publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published[path]
}

// version returns which version of a file the server knows; 0 if none.
func (s *server) version(path string) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[path]; d != nil {
		return d.version
	}
	return 0
}

// settled waits until a server has looked at a version of a file, and returns what it
// found. Some servers count no versions and publish several times: their last word is the
// one after which they are quiet. One that says nothing has found nothing.
func (s *server) settled(ctx context.Context, path string, version int32, before int) []protocol.Diagnostic {
	for {
		s.mu.Lock()
		now, news := s.published[path], s.news
		s.mu.Unlock()
		if now.count > 0 && now.version == version {
			return now.faults
		}
		var quiet <-chan time.Time
		timer := time.NewTimer(quietTime)
		if now.count > before && now.version == 0 {
			quiet = timer.C
		}
		select {
		case <-news:
		case <-quiet:
			return now.faults
		case <-s.conn.DisconnectNotify():
			timer.Stop()
			return nil
		case <-ctx.Done():
			timer.Stop()
			if now.count > before {
				return now.faults
			}
			return nil
		}
		timer.Stop()
	}
}
