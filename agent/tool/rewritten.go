package tool

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/filechange"
	"atelier.dev/atelier/agent/internal/pathname"
)

// The limits of what the model is told of files that a step rewrote, in bytes.
const (
	maxRewritten  = 2000 // of one file's diff; a longer one is left out
	maxRewrites   = 6000 // of all diffs
	maxTellsFiles = 20   // that are named
)

// Rewritten takes note of what a step did to files that the model knows: a command of its
// own, or a hook, which by names. Lines that stay are known as before, so that the next
// edit of them works. It returns what the model is told, with the new lines where they are
// few; the other new lines must be read first. It is empty if the model knows none of the
// files as they were when the step began: what somebody else changed stays unknown (K-28).
func (m *Memory) Rewritten(ctx context.Context, by string, files []agent.FileRecord) string {
	if m.contents == nil {
		return ""
	}
	var notes []string
	room, more := maxRewrites, 0
	for _, f := range files {
		path := filepath.FromSlash(pathname.Unquote(f.Path))
		if !filepath.IsAbs(path) {
			path = filepath.Join(m.folder, path)
		}
		change, diff := m.rewritten(ctx, path, f, min(room, maxRewritten))
		switch {
		case change == nil:
			continue
		case len(notes) == maxTellsFiles:
			more++
			continue
		}
		room -= len(diff)
		note := fmt.Sprintf("%s (+%d -%d)", change.Path, change.Added, change.Removed)
		if diff == "" {
			note += ": read the new lines before you change them."
		} else {
			note += ":\n" + strings.TrimRight(diff, "\n")
		}
		notes = append(notes, note)
	}
	if len(notes) == 0 {
		return ""
	}
	if more > 0 {
		notes = append(notes, fmt.Sprintf("and %s more.", count(more, "file")))
	}
	what := "This also changed what you know of files"
	if by != "" {
		what = "The hook " + by + " then changed what you know of files"
	}
	return what + ". Their text is now:\n" + strings.Join(notes, "\n")
}

// rewritten takes note of one file that a step rewrote. It returns nil if the model knew
// nothing of the file as it was, and a diff of at most room bytes.
func (m *Memory) rewritten(ctx context.Context, path string, f agent.FileRecord, room int) (change *agent.FileChange, diff string) {
	m.mu.Lock()
	known, ok := m.files[path]
	m.mu.Unlock()
	if !ok || known.hash != f.Before.Hash || known.hash == f.After.Hash || f.After.Hash == "" {
		return nil, ""
	}
	before, err := m.contents(ctx, f.Before)
	if err != nil {
		return nil, ""
	}
	after, err := m.contents(ctx, f.After)
	if err != nil {
		return nil, ""
	}
	c := filechange.Of(f.Path, before, after, false)
	isShown := c.Diff != "" && len(c.Diff) <= room
	if isShown {
		diff = c.Diff
	}
	lines := carried(before, after, m.linesSeen(path, before), isShown)
	m.sawLines(path, after, lines) // unless none is known
	return &c, diff
}
