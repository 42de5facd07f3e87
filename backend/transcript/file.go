package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// The errors of files that cannot be read.
var (
	ErrUnknown    = errors.New("the file is not a transcript that Atelier knows")
	ErrNotRegular = errors.New("it is not a regular file")
	ErrEmpty      = errors.New("the transcript has no messages")
)

// File is an open transcript. Close it.
type File struct {
	Program agent.Program
	Path    string
	// Size is how much is read, even if the file grows.
	Size int64
	f    *os.File
	text *text
	// temporary is the name of a file that Close removes; empty if there is none.
	temporary string
}

// text is what a file contains after its byte order mark. It counts what is read.
type text struct {
	*io.SectionReader
	count atomic.Int64
}

func newText(f *os.File, size int64) *text {
	mark := []byte("\ufeff")
	head := make([]byte, len(mark))
	if n, _ := f.ReadAt(head, 0); !bytes.Equal(head[:n], mark) {
		mark = nil
	}
	return &text{SectionReader: io.NewSectionReader(f, int64(len(mark)), size-int64(len(mark)))}
}

func (t *text) Read(p []byte) (int, error) {
	n, err := t.SectionReader.Read(p)
	t.count.Add(int64(n))
	return n, err
}

// Done returns the share of the file that its events have been read from. It may be
// called meanwhile.
func (t *File) Done() float64 {
	passes := int64(1)
	if t.Program == agent.ProgramClaudeCode { // its lines are put in order first
		passes = 2
	}
	return min(float64(t.text.count.Load())/float64(max(passes*t.Size, 1)), 1)
}

// Open opens a transcript, and recognises its format by what it has. The path may be
// that of the folder of a session.
func Open(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the transcript: %w", err)
	}
	if inside, ok := inFolder(path); ok {
		path = inside
	}
	if err := regular(os.Stat(path)); err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	return open(f, path)
}

// openFlags keep a pipe that took the place of a file from blocking.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// inFolder returns the transcript in the folder of a session.
func inFolder(path string) (string, bool) {
	for _, name := range []string{"transcript.json", "context.jsonl", "messages.jsonl"} {
		inside := filepath.Join(path, name)
		if info, err := os.Stat(inside); err == nil && info.Mode().IsRegular() {
			return inside, true
		}
	}
	return "", false
}

// regular refuses pipes and devices, which could keep a reader waiting for ever.
func regular(info fs.FileInfo, err error) error {
	if err == nil && !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	return err
}

// open takes over an open file.
func open(f *os.File, path string) (*File, error) {
	t := &File{Path: path, f: f}
	info, err := f.Stat()
	if err = regular(info, err); err == nil {
		t.Size = info.Size()
		t.text = newText(f, t.Size)
		t.Program, err = t.program()
	}
	if err == nil && t.Size > MaxSize {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, MaxSize)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", filepath.Base(path), err), f.Close())
	}
	return t, nil
}

// Close closes the file.
func (t *File) Close() error {
	err := t.f.Close()
	if t.temporary != "" {
		err = errors.Join(err, removed(t.temporary))
	}
	return err
}

// head is how much of a file is looked at to recognise its format and describe it.
const head = 256 << 10

// program recognises the format.
func (t *File) program() (agent.Program, error) {
	switch name := t.firstMember(); name {
	case "format":
		return agent.ProgramAtelier, nil
	case "metadata", "messages":
		return agent.ProgramOpenAgentSDK, nil
	case "opencode":
		return agent.ProgramOpencode, nil
	case "sessionId":
		beginning := make([]byte, min(head, t.Size))
		n, _ := t.text.ReadAt(beginning, 0) // what a shorter file has counts
		if bytes.Contains(beginning[:n], []byte(`"projectHash"`)) {
			return agent.ProgramGemini, nil
		}
	}
	for raw := range t.beginning() {
		var line map[string]json.RawMessage
		if json.Unmarshal(raw, &line) != nil {
			continue
		}
		has := func(names ...string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return line[name] == nil })
		}
		switch {
		case has("payload", "type"), has("id", "timestamp", "instructions"), has("record_type"):
			return agent.ProgramCodex, nil
		case has("uuid"), has("sessionId"), has("type", "leafUuid"):
			return agent.ProgramClaudeCode, nil
		case has("role"), has("message"):
			return agent.ProgramComate, nil
		}
	}
	return "", ErrUnknown
}

// beginning yields the first lines of the file that are JSON objects.
func (t *File) beginning() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		in := bufio.NewScanner(io.NewSectionReader(t.text, 0, min(head, t.Size)))
		in.Buffer(nil, head)
		for in.Scan() {
			if line := bytes.TrimSpace(in.Bytes()); len(line) > 0 && line[0] == '{' && json.Valid(line) && !yield(line) {
				return
			}
		}
	}
}

// May reports whether the file may have all words, which are in lower case. It does not if one
// is nowhere in its bytes; words that JSON writes otherwise may always be there.
func (t *File) May(ctx context.Context, words []string) (bool, error) {
	left := map[string]bool{}
	for _, word := range words {
		if !strings.ContainsFunc(word, func(r rune) bool {
			return r >= utf8.RuneSelf || r == '"' || r == '\\' || r == '/' || r == '<' || r == '>' || r == '&'
		}) {
			left[word] = true
		}
	}
	for raw, err := range lines(ctx, io.NewSectionReader(t.text, 0, t.Size)) {
		if err != nil {
			return false, err
		}
		if len(left) == 0 {
			break
		}
		raw = bytes.ToLower(raw)
		for word := range left {
			if bytes.Contains(raw, []byte(word)) {
				delete(left, word)
			}
		}
	}
	return len(left) == 0, nil
}

// firstMember returns the name of the first member of a document.
func (t *File) firstMember() string {
	dec := json.NewDecoder(io.NewSectionReader(t.text, 0, min(head, t.Size)))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return ""
	}
	name, err := dec.Token()
	if err != nil {
		return ""
	}
	return fmt.Sprint(name)
}

// Events returns the file as the events of a new session: those that the caller wants
// before it, what the file says, those that the caller wants after it, and at last an
// [agent.Imported]. The events have neither a session nor a place yet.
func (t *File) Events(ctx context.Context, before, after []agent.Payload) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		b := &builder{log: log{yield: yield, waiting: before, before: int64(len(before))}, found: agent.Imported{Program: t.Program, Path: t.Path, Size: t.Size}}
		if info, err := t.f.Stat(); err == nil {
			b.when(info.ModTime())
		}
		t.text.count.Store(0)
		if _, err := t.text.Seek(0, io.SeekStart); err != nil {
			yield(agent.Event{}, fmt.Errorf("read the transcript: %w", err))
			return
		}
		err := t.read(ctx, b)
		if b.stopped {
			return
		}
		b.end()
		if err == nil && !b.said {
			err = ErrEmpty
		}
		if err != nil {
			yield(agent.Event{}, fmt.Errorf("read %s: %w", filepath.Base(t.Path), err))
			return
		}
		b.turn.number = 0
		b.found.Through = b.count
		for _, p := range append(slices.Clone(after), b.found) {
			b.emit(p)
		}
	}
}

func (t *File) read(ctx context.Context, b *builder) error {
	switch t.Program {
	case agent.ProgramClaudeCode:
		b.found.ID = strings.TrimSuffix(filepath.Base(t.Path), ".jsonl")
		return readClaude(ctx, t.text, t.Size, b)
	case agent.ProgramCodex:
		return readCodex(ctx, t.text, t.Size, b)
	case agent.ProgramOpenAgentSDK:
		return readOpenAgent(ctx, t.text, t.Size, b)
	case agent.ProgramGemini:
		return readGemini(ctx, t.text, t.Size, b)
	case agent.ProgramOpencode:
		return readOpencode(ctx, t.text, t.Size, b)
	case agent.ProgramComate:
		b.found.ID = filepath.Base(filepath.Dir(t.Path))
		b.comateState(filepath.Join(filepath.Dir(t.Path), "state.json"))
		return readComate(ctx, t.text, t.Size, b)
	}
	return readNative(ctx, t.text, t.Size, b)
}

// Extent returns the size of the transcript as its program keeps it, which [Found] and
// [agent.Imported] have.
func (t *File) Extent(ctx context.Context) (int64, error) {
	if t.Program != agent.ProgramOpencode {
		return t.Size, nil
	}
	b := &builder{log: log{yield: func(agent.Event, error) bool { return false }}}
	if _, err := t.text.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read the transcript: %w", err)
	}
	err := t.read(ctx, b)
	return b.found.Size, err
}

// ID returns the name that the file gives to its session; empty if it has none before
// the first message.
func (t *File) ID(ctx context.Context) (string, error) {
	if t.Program == agent.ProgramClaudeCode {
		return strings.TrimSuffix(filepath.Base(t.Path), ".jsonl"), nil
	}
	b := &builder{log: log{yield: func(agent.Event, error) bool { return false }}}
	if _, err := t.text.Seek(0, io.SeekStart); err != nil {
		return "", fmt.Errorf("read the transcript: %w", err)
	}
	err := t.read(ctx, b)
	return b.found.ID, err
}
