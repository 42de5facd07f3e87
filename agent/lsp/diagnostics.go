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
	maxShown     = 12                     // diagnostics at a time
)

// Diagnose returns what the servers find wrong with files that were just changed, in words
// for the model; empty if that is nothing. A server that does not run yet is started for
// the next time, and nobody waits for it.
func Diagnose(ctx context.Context, servers *Servers, e env.Environment, changed []string) string {
	ctx, cancel := context.WithTimeout(ctx, diagnoseTime)
	defer cancel()
	c := client{servers, e}
	var lines []string
	for _, path := range changed[:min(len(changed), maxDiagnosed)] {
		lines = append(lines, c.diagnose(ctx, path)...)
	}
	if len(lines) == 0 {
		return ""
	}
	return "Diagnostics of the language server after this change:\n" + cut(lines, maxShown, "diagnostics")
}

func (c client) diagnose(ctx context.Context, path string) []string {
	project := c.env.WorkingDirectory()
	language, ok := LanguageOf(path, c.servers.languages(ctx))
	if !ok || !within(project, path) {
		return nil
	}
	root := rootOf(project, path, language)
	if !c.servers.running(language, root) {
		c.servers.startLater(language, root)
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
	before := s.publication(path).count
	version, err := s.open(ctx, path, language.IDs[strings.ToLower(filepath.Ext(path))], strings.Join(lines, "\n"))
	if err != nil {
		return nil
	}
	found := s.settled(ctx, path, version, before)
	slices.SortStableFunc(found, func(a, b protocol.Diagnostic) int { return int(a.Severity) - int(b.Severity) })
	var out []string
	show := printer{project: project}
	for _, d := range found {
		if d.Severity <= protocol.SeverityWarning {
			at := protocol.Location{URI: protocol.URIFromPath(path), Range: d.Range}
			out = append(out, fmt.Sprintf("%s: %s: %s", show.place(at), severity(d.Severity), text.Shorten(strings.Join(strings.Fields(d.Message), " "), 300)))
		}
	}
	return out
}

func severity(s protocol.DiagnosticSeverity) string {
	if s == protocol.SeverityWarning {
		return "warning"
	}
	return "error"
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
