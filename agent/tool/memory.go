package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
	"atelier.dev/atelier/agent/internal/linediff"
)

// Memory remembers the text of each file as the model last saw it, so that no edit
// is blind or overwrites somebody else's change (K-28). Texts are UTF-8, whatever the
// file's encoding. It is safe for concurrent use.
type Memory struct {
	folder   string
	contents Contents
	mu       sync.Mutex
	files    map[string]knowledge // by absolute path
}

// knowledge is what the model has seen of a file.
type knowledge struct {
	hash string // of the whole text, even if only some lines were seen
	// lines has an entry for each line, true if it was seen; nil means that all
	// were seen.
	lines []bool
	// texts has the lines that were seen in this or an earlier state of the file. They
	// are still known if somebody else changed the file elsewhere.
	texts lineSet
}

// lineSet is a set of lines by their hashes. It is not changed once it is in use.
type lineSet map[uint64]struct{}

// maxRemembered limits the lines that are remembered of one file.
const maxRemembered = 20_000

var lineSeed = maphash.MakeSeed()

// with returns the set with more lines.
func (s lineSet) with(lines iter.Seq[string]) lineSet {
	all := maps.Clone(s)
	if all == nil {
		all = lineSet{}
	}
	for line := range lines {
		if len(all) >= maxRemembered {
			break
		}
		all[maphash.String(lineSeed, strings.TrimPrefix(line, byteOrderMark))] = struct{}{}
	}
	return all
}

func (s lineSet) has(line []byte) bool {
	_, ok := s[maphash.Bytes(lineSeed, bytes.TrimPrefix(line, []byte(byteOrderMark)))]
	return ok
}

// Contents returns the contents of a version of a file that a journal keeps.
type Contents func(context.Context, agent.FileVersion) ([]byte, error)

// NewMemory returns an empty memory of one session, for [Options]. folder is the session's.
// Without contents, [Memory.Rewritten] knows nothing.
func NewMemory(folder string, contents Contents) *Memory {
	return &Memory{folder: folder, contents: contents, files: map[string]knowledge{}}
}

// fork returns a copy for changes that may come to nothing; [Memory.adopt] takes it over.
func (m *Memory) fork() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Memory{folder: m.folder, contents: m.contents, files: maps.Clone(m.files)}
}

func (m *Memory) adopt(fork *Memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = fork.files
}

// saw records that the model has seen or written a whole text.
func (m *Memory) saw(path string, content []byte) {
	m.sawPage(path, env.Hash(content), textsOf(content, nil))
}

// sawPage records that the model has seen lines of a text with the given hash, and may
// change all of it. An empty hash records nothing.
func (m *Memory) sawPage(path, hash string, lines iter.Seq[string]) {
	if hash == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files[path] = knowledge{hash: hash, texts: m.files[path].texts.with(lines)}
}

// textsOf returns the lines of a text; only those that are marked, unless marked is nil.
func textsOf(content []byte, marked []bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, line := range linesOf(content) {
			if (marked == nil || marked[i]) && !yield(string(content[line.start:line.end])) {
				return
			}
		}
	}
}

// sawLines records that the model has seen lines of a file, in addition to
// those of the same content that it saw before.
func (m *Memory) sawLines(path string, content []byte, lines []bool) {
	if !slices.Contains(lines, true) {
		return
	}
	known := knowledge{hash: env.Hash(content), lines: lines}
	m.mu.Lock()
	defer m.mu.Unlock()
	before, ok := m.files[path]
	if ok && before.hash == known.hash {
		known.lines = either(before.lines, lines)
	}
	if !slices.Contains(known.lines, false) {
		known.lines = nil
	}
	known.texts = before.texts.with(textsOf(content, lines))
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

// linesSeen returns for each line of content whether the model has seen it. In a file
// that somebody else changed, these are the lines that read as they did.
func (m *Memory) linesSeen(path string, content []byte) []bool {
	m.mu.Lock()
	known, ok := m.files[path]
	m.mu.Unlock()
	all := linesOf(content)
	lines := make([]bool, len(all))
	same := ok && known.hash == env.Hash(content)
	for i, line := range all {
		switch {
		case !same:
			lines[i] = known.texts.has(content[line.start:line.end])
		case known.lines == nil:
			lines[i] = true
		default:
			lines[i] = i < len(known.lines) && known.lines[i]
		}
	}
	return lines
}

// changed records that the model turned one content, of which it knew the given
// lines, into another. It knows the remaining ones of these lines and those
// that it wrote.
func (m *Memory) changed(path string, before, after []byte, known []bool) {
	if !slices.Contains(known, false) {
		m.saw(path, after)
		return
	}
	m.sawLines(path, after, carried(before, after, known, true))
}

// carried returns which lines of the new content are known: lines that were
// known before and, if the model was told, new ones. If the contents are too large to
// compare, none are known.
func carried(before, after []byte, known []bool, told bool) []bool {
	if len(before) > filechange.MaxCompared || len(after) > filechange.MaxCompared {
		return nil
	}
	var lines []bool
	at, line := 0, 0
	for _, e := range linediff.Edits(string(before), string(after)) {
		kept := len(linesOf(before[at:e.Start]))
		lines = append(lines, known[line:line+kept]...)
		lines = append(lines, slices.Repeat([]bool{told}, filechange.Lines(e.New))...)
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
func (m *Memory) before(ctx context.Context, files env.Files, paths []string) shownFiles {
	shown := shownFiles{}
	for _, path := range paths[:min(len(paths), maxShown)] {
		if text, err := env.ReadText(ctx, files, path); err == nil {
			shown[path] = env.Hash(text.UTF8)
		}
	}
	return shown
}

// after records that the model has seen the files that a command printed: text
// counts as read by whatever tool it came (K-42). A file that changed meanwhile
// does not count.
func (m *Memory) after(ctx context.Context, files env.Files, shown shownFiles) {
	for path, hash := range shown {
		if text, err := env.ReadText(ctx, files, path); err == nil && env.Hash(text.UTF8) == hash {
			m.saw(path, text.UTF8)
		}
	}
}

// stale reports whether the model has seen the file, but in another state.
func (m *Memory) stale(path string, content []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.files[path]
	return ok && known.hash != env.Hash(content)
}

// read returns an error for the model if it has seen nothing of the file. An empty file
// may be written unseen, because nothing is lost.
func (m *Memory) read(path, shown string, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[path]; !ok && len(content) > 0 {
		return fmt.Errorf("%s exists and has not been read in this session. Read it first, then change it", shown)
	}
	return nil
}

// unchanged returns an error for the model if somebody else changed the file. It accepts
// a file that the model has never seen.
func (m *Memory) unchanged(path, shown string, content []byte) error {
	if !m.stale(path, content) || len(content) == 0 {
		return nil
	}
	return fmt.Errorf("%s has changed on disk since it was last read. Read it again, then change it. %s", shown, m.news(path, content, 0, math.MaxInt))
}

// current returns an error for the model unless it has seen all of the file as it is.
func (m *Memory) current(path, shown string, content []byte) error {
	if err := errors.Join(m.read(path, shown, content), m.unchanged(path, shown, content)); err != nil {
		return err
	}
	if slices.Contains(m.linesSeen(path, content), false) {
		return fmt.Errorf("%s has been read only in part. Read all of it first, then change it", shown)
	}
	return nil
}

// covers returns an error for the model unless it has seen the lines that contain parts
// of a file, as they are. Elsewhere the file may have changed. The parts are in order and
// do not overlap.
func (m *Memory) covers(path, shown string, content []byte, parts []span) error {
	if err := m.read(path, shown, content); err != nil {
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
		touched := len(parts) > 0 && parts[0].start < next
		switch {
		case !touched || seen[i]:
		case m.stale(path, content):
			return fmt.Errorf("%s has changed on disk since it was last read, at line %d, where this changes it. Read it there again, then change it. %s",
				shown, i+1, m.news(path, content, i-maxNews/4, i+maxNews/2))
		default:
			return fmt.Errorf("%s has not been read where this changes it, at line %d. Read it there first, then change it", shown, i+1)
		}
	}
	return nil
}

// Limits of what [Memory.news] shows.
const (
	maxNews     = 20
	maxNewsLine = 200
)

// news says which of the lines from one to another, counted from 0, the model has not
// seen in a file that somebody else changed.
func (m *Memory) news(path string, content []byte, from, to int) string {
	seen, lines := m.linesSeen(path, content), linesOf(content)
	var b strings.Builder
	shown, more := 0, 0
	for i, line := range lines {
		switch near := i >= from && i < to; {
		case seen[i]:
		case near && shown < maxNews && line.end-line.start <= maxNewsLine:
			shown++
			fmt.Fprintf(&b, "\n%d | %s", i+1, strings.ToValidUTF8(string(content[line.start:line.end]), "\uFFFD"))
		default:
			more++
		}
	}
	switch {
	case shown+more == 0:
		return "It has no line that you have not seen, but some are gone or elsewhere."
	case shown == 0:
		return fmt.Sprintf("It has %s that you have not seen.", count(more, "line"))
	case more > 0:
		return fmt.Sprintf("You have not seen these lines:%s\n[and %s more]", b.String(), count(more, "line"))
	}
	return "You have not seen these lines:" + b.String()
}
