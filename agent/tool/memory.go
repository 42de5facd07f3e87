package tool

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/linediff"
)

// fileMemory remembers the content of each file as the model last saw it, so
// that no edit is blind or overwrites somebody else's change (K-28). It is safe
// for concurrent use.
type fileMemory struct {
	mu    sync.Mutex
	files map[string]knowledge // by absolute path
}

// knowledge is what the model has seen of a file.
type knowledge struct {
	hash string // of the whole content, even if only some lines were seen
	// lines has an entry for each line, true if it was seen; nil means that all
	// were seen.
	lines []bool
}

func newFileMemory() *fileMemory { return &fileMemory{files: map[string]knowledge{}} }

// saw records that the model has seen or written content with the given hash.
// An empty hash records nothing.
func (m *fileMemory) saw(path, hash string) {
	if hash == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[path] = knowledge{hash: hash}
}

// sawLines records that the model has seen lines of a file, in addition to
// those of the same content that it saw before.
func (m *fileMemory) sawLines(path string, content []byte, lines []bool) {
	if !slices.Contains(lines, true) {
		return
	}
	known := knowledge{hash: env.Hash(content), lines: lines}
	m.mu.Lock()
	defer m.mu.Unlock()
	if before, ok := m.files[path]; ok && before.hash == known.hash {
		known.lines = either(before.lines, lines)
	}
	if !slices.Contains(known.lines, false) {
		known.lines = nil
	}
	m.files[path] = known
}

// either returns the lines that are in one of two sets; nil stands for all.
func either(a, b []bool) []bool {
	if a == nil || len(a) != len(b) {
		return a
	}
	all := slices.Clone(a)
	for i := range all {
		all[i] = all[i] || b[i]
	}
	return all
}

// linesSeen returns for each line of content whether the model has seen it.
func (m *fileMemory) linesSeen(path string, content []byte) []bool {
	m.mu.Lock()
	known, ok := m.files[path]
	m.mu.Unlock()
	lines := make([]bool, len(linesOf(content)))
	switch {
	case !ok || known.hash != env.Hash(content):
	case known.lines == nil:
		for i := range lines {
			lines[i] = true
		}
	default:
		copy(lines, known.lines)
	}
	return lines
}

// changed records that the model turned one content, of which it knew the given
// lines, into another. It knows the remaining ones of these lines and those
// that it wrote.
func (m *fileMemory) changed(path string, before, after []byte, known []bool) {
	if !slices.Contains(known, false) {
		m.saw(path, env.Hash(after))
		return
	}
	m.sawLines(path, after, carried(before, after, known))
}

// carried returns which lines of the new content are known: lines that were
// known before, and new ones. If the contents are too large to compare, none
// are known.
func carried(before, after []byte, known []bool) []bool {
	if len(before) > maxCompared || len(after) > maxCompared {
		return nil
	}
	var lines []bool
	at, line := 0, 0
	for _, e := range linediff.Edits(string(before), string(after)) {
		kept := len(linesOf(before[at:e.Start]))
		lines = append(lines, known[line:line+kept]...)
		lines = append(lines, slices.Repeat([]bool{true}, lineCount(e.New))...)
		at, line = e.End, line+kept+len(linesOf(before[e.Start:e.End]))
	}
	lines = append(lines, known[line:]...)
	if len(lines) != len(linesOf(after)) {
		return nil
	}
	return lines
}

// maxShown limits how many files of one command are remembered as shown.
const maxShown = 20

// shownFiles has the hashes of files before a command printed them.
type shownFiles map[string]string

// before hashes the files that a command is about to print.
func (m *fileMemory) before(ctx context.Context, files env.Files, paths []string) shownFiles {
	shown := shownFiles{}
	for _, path := range paths[:min(len(paths), maxShown)] {
		if data, err := files.ReadFile(ctx, path); err == nil {
			shown[path] = env.Hash(data)
		}
	}
	return shown
}

// after records that the model has seen the files that a command printed: text
// counts as read by whatever tool it came (K-42). A file that changed meanwhile
// does not count.
func (m *fileMemory) after(ctx context.Context, files env.Files, shown shownFiles) {
	for path, hash := range shown {
		if data, err := files.ReadFile(ctx, path); err == nil && env.Hash(data) == hash {
			m.saw(path, hash)
		}
	}
}

// unchanged returns an error for the model if somebody else changed the file.
// Unlike fresh, it accepts a file that the model has never seen.
func (m *fileMemory) unchanged(path, shown string, content []byte) error {
	m.mu.Lock()
	_, ok := m.files[path]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	return m.fresh(path, shown, content)
}

// fresh returns an error for the model if it has seen nothing of the content on
// disk. An empty file may be written unseen, because nothing is lost.
func (m *fileMemory) fresh(path, shown string, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	m.mu.Lock()
	known, ok := m.files[path]
	m.mu.Unlock()
	switch {
	case !ok:
		return fmt.Errorf("%s exists and has not been read in this session. Read it first, then change it", shown)
	case known.hash != env.Hash(content):
		return fmt.Errorf("%s has changed on disk since it was last read. Read it again, then change it", shown)
	}
	return nil
}

// current is fresh for a change of the whole file: the model must have seen all
// of it.
func (m *fileMemory) current(path, shown string, content []byte) error {
	if err := m.fresh(path, shown, content); err != nil {
		return err
	}
	if slices.Contains(m.linesSeen(path, content), false) {
		return fmt.Errorf("%s has been read only in part. Read all of it first, then change it", shown)
	}
	return nil
}

// covers is fresh for a change of parts of a file: the model must have seen the
// lines that contain them. The parts are in order and do not overlap.
func (m *fileMemory) covers(path, shown string, content []byte, parts []span) error {
	if err := m.fresh(path, shown, content); err != nil {
		return err
	}
	seen := m.linesSeen(path, content)
	lines := linesOf(content)
	for i, line := range lines {
		next := len(content)
		if i+1 < len(lines) {
			next = lines[i+1].start
		}
		for len(parts) > 0 && parts[0].end <= line.start {
			parts = parts[1:]
		}
		if touched := len(parts) > 0 && parts[0].start < next; touched && !seen[i] {
			return fmt.Errorf("%s has not been read where this changes it, at line %d. Read it there first, then change it", shown, i+1)
		}
	}
	return nil
}
