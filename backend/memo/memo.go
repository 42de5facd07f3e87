// Package memo adds what a person wants to be remembered to the files of instructions that every
// session reads: that of the project, or the user's own.
package memo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/regular"
)

const (
	maxNote = 4000    // bytes of a note
	maxFile = 1 << 20 // bytes of a file that is added to
	maxEnd  = 600     // bytes of the end of a file that is shown
)

// MemoScope says whose file is meant.
type MemoScope string

// The scopes.
const (
	ScopeProject MemoScope = "project"
	ScopeUser    MemoScope = "user"
)

// MemoNote is for memo.preview and memo.add.
type MemoNote struct {
	Scope MemoScope `json:"scope"`
	Text  string    `json:"text"`
}

// MemoFile says what a file ends with, and what is added to it.
type MemoFile struct {
	Path  string `json:"path"`
	IsNew bool   `json:"is_new,omitempty"`
	End   string `json:"end,omitempty"`
	Added string `json:"added"`
	// Full says that the files of a project are longer than what sessions read of them.
	Full bool `json:"full,omitempty"`
}

// Config is what a Memo needs.
type Config struct {
	Folder   string // the project
	Home     string // where Atelier keeps its data, and the user's own file is
	ReadOnly bool   // nothing of the project may be changed
}

// Memo adds notes. It is safe for concurrent use, because a note is one write at the end of a file.
type Memo struct{ cfg Config }

// New returns a Memo.
func New(cfg Config) *Memo { return &Memo{cfg} }

// Register registers the methods of the page.
func (m *Memo) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "memo.preview", m.Preview)
	dispatch.Handle(d, "memo.add", m.Add)
}

// Preview says what [Memo.Add] would write, and where.
func (m *Memo) Preview(_ context.Context, note MemoNote) (MemoFile, error) {
	return m.open(note, os.O_RDONLY, nil)
}

// Add writes a note at the end of a file, which is created if there is none.
func (m *Memo) Add(_ context.Context, note MemoNote) (MemoFile, error) {
	if m.cfg.ReadOnly && note.Scope == ScopeProject {
		return MemoFile{}, backend.Problem(backend.ProblemChangesReadOnly)
	}
	if strings.TrimSpace(note.Text) == "" {
		return MemoFile{}, backend.Problem(backend.ProblemMemoEmpty)
	}
	return m.open(note, os.O_RDWR|os.O_CREATE|os.O_APPEND, func(f *os.File, added string) error {
		if _, err := io.WriteString(f, added); err != nil {
			return err
		}
		return f.Sync()
	})
}

// open opens the file of a note, which stays inside its folder whatever links say, and gives it to
// write.
func (m *Memo) open(note MemoNote, flags int, write func(f *os.File, added string) error) (MemoFile, error) {
	dir := m.cfg.Folder
	if note.Scope == ScopeUser {
		dir = m.cfg.Home
	} else if note.Scope != ScopeProject {
		return MemoFile{}, backend.Problem(backend.ProblemArguments, "memo.add")
	}
	if len(note.Text) > maxNote {
		return MemoFile{}, backend.Problem(backend.ProblemMemoLong)
	}
	file := MemoFile{Path: filepath.Join(dir, project.UserDocument), Added: line(note.Text)}
	failed := func(err error) (MemoFile, error) {
		return MemoFile{}, backend.Problem(backend.ProblemMemoFailed, file.Path).Because(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return failed(err)
	}
	defer root.Close()
	f, err := root.OpenFile(project.UserDocument, flags|regular.Flags, 0o644)
	if errors.Is(err, fs.ErrNotExist) && write == nil {
		file.IsNew = true
		return file, nil
	}
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return failed(err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return failed(fmt.Errorf("it is not a file of at most %d bytes", maxFile))
	}
	file.IsNew, file.Full = info.Size() == 0, info.Size() > project.MaxDocuments
	end := make([]byte, min(info.Size(), maxEnd))
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return failed(err)
	}
	if bytes.IndexByte(end, 0) >= 0 {
		return failed(errors.New("it is not text in UTF-8"))
	}
	newline := "\n"
	if bytes.Contains(end, []byte("\r\n")) {
		newline = "\r\n"
		file.Added = strings.ReplaceAll(file.Added, "\n", "\r\n")
	}
	if file.End = strings.ToValidUTF8(string(end), ""); len(end) == maxEnd {
		_, file.End, _ = strings.Cut(file.End, "\n") // the first line may be cut
	}
	if len(end) > 0 && end[len(end)-1] != '\n' {
		file.Added = newline + file.Added
	}
	if write == nil {
		return file, nil
	}
	if err := write(f, file.Added); err != nil {
		return failed(err)
	}
	return file, nil
}

// line returns a note as an item of a list. Further lines belong to the item.
func line(note string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n")), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return "- " + strings.Join(lines, "\n  ") + "\n"
}
