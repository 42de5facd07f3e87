// Package settings reads and edits the settings files of the user and of a
// project. It knows where they are and where each of their members stands; what a
// member means is its readers' concern.
package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/text/encoding/unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// File is a settings file that may be there.
type File struct {
	Root, Name string // Name is relative to Root
	Scope      agent.Scope
	// Claude says that the file has the form of Claude Code's. Foreign says that
	// the user wrote it for another program, so only its hooks are listed.
	Claude, Foreign bool
}

// Path returns the path of the file.
func (f File) Path() string { return filepath.Join(f.Root, f.Name) }

// Text is what a file said when it was read last. It does not change.
type Text struct {
	There   bool
	Members []Member // of the file's object, in its order
	// Err says why nothing of the file can be used. It is a [SyntaxError] if the
	// file is not what it should be at some line.
	Err error

	bytes []byte
	info  fs.FileInfo
	// alone says that not even the file's folder was there.
	alone bool
	// settled says that the file was old enough when it was read: a later change
	// shows in its time.
	settled bool
}

// settles is how old a file must be for that, with file systems that keep seconds.
const settles = 2 * time.Second

// Bytes returns what the file said, which nobody changes.
func (t *Text) Bytes() []byte { return t.bytes }

// Member returns the member of the file's object with this name.
func (t *Text) Member(name string) (Member, bool) {
	for _, m := range t.Members {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

// Fault says that the file is wrong at an offset.
func (t *Text) Fault(at int, err error) error { return &SyntaxError{Line(t.bytes, at), err} }

// Line returns the line of an offset, counted from 1.
func (t *Text) Line(at int) int { return Line(t.bytes, at) }

// Parse reads the text of a settings file, which may have comments. Blank text is
// an empty object.
func Parse(b []byte) *Text {
	b = Plain(b)
	t := &Text{There: true, bytes: b}
	if blank(b) {
		return t
	}
	var at int
	if t.Members, at, t.Err = Members(b, 0); t.Err != nil {
		t.Err = t.Fault(at, t.Err)
	}
	return t
}

// Reader reads the settings files of one folder, each one again only after it has
// changed. It is safe for concurrent use.
type Reader struct {
	files []File

	mu   sync.Mutex
	read map[File]*Text
}

// NewReader returns a reader. Both folders are absolute and without links; without
// the user's home folder there are no files of the user.
func NewReader(folder, user string) *Reader {
	r := &Reader{read: map[File]*Text{}}
	if user != "" {
		r.files = append(r.files,
			File{Root: user, Name: filepath.Join(".agent", "settings.json"), Scope: agent.ScopeUser},
			File{Root: user, Name: filepath.Join(".claude", "settings.json"), Scope: agent.ScopeUser, Claude: true, Foreign: true})
	}
	if folder == user {
		return r
	}
	for _, f := range []File{
		{Name: ".agent/settings.json", Scope: agent.ScopeProject},
		{Name: ".claude/settings.json", Scope: agent.ScopeProject, Claude: true},
		{Name: ".agent/local-settings.json", Scope: agent.ScopeLocal},
		{Name: ".agent/settings.local.json", Scope: agent.ScopeLocal},
		{Name: ".claude/settings.local.json", Scope: agent.ScopeLocal, Claude: true},
	} {
		f.Root, f.Name = folder, filepath.FromSlash(f.Name)
		r.files = append(r.files, f)
	}
	return r
}

// NewReaderOf returns a reader of these files.
func NewReaderOf(files ...File) *Reader {
	return &Reader{files: files, read: map[File]*Text{}}
}

// Files lists the files that may be there, the weakest first. Settings of a scope
// are added to its first file.
func (r *Reader) Files() []File { return r.files }

// Read returns what a file says: the same text as before if it has not changed
// since.
func (r *Reader) Read(f File) *Text {
	r.mu.Lock()
	before := r.read[f]
	r.mu.Unlock()
	if f.unchanged(before) {
		return before
	}
	t := f.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[f] = t
	return t
}

// ReadAll returns what the files say, in the order of Files, like Read of each. Each
// call of a tool asks several times, so a folder that is still not there is looked for
// once, not its files one by one.
func (r *Reader) ReadAll() []*Text {
	texts := make([]*Text, len(r.files))
	r.mu.Lock()
	for i, f := range r.files {
		texts[i] = r.read[f]
	}
	r.mu.Unlock()
	absent := make([]string, 0, len(r.files))
	for i, f := range r.files {
		before := texts[i]
		if before == nil || !before.alone {
			texts[i] = r.Read(f)
			continue
		}
		folder := filepath.Dir(f.Path())
		if slices.Contains(absent, folder) {
			continue
		}
		if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
			absent = append(absent, folder)
		} else {
			texts[i] = r.Read(f)
		}
	}
	return texts
}

// unchanged reports whether the file is as it was when it was read. Links are
// followed, wherever they lead: the file that was read has the same bytes whatever
// way leads to it.
func (f File) unchanged(before *Text) bool {
	switch {
	case before == nil:
		return false
	case !before.There:
		_, err := os.Lstat(f.Path())
		return errors.Is(err, fs.ErrNotExist)
	case !before.settled:
		return false
	}
	now, err := os.Stat(f.Path())
	return err == nil && before.says(now)
}

// MaxFile limits a settings file, in bytes.
const MaxFile = 1 << 20

// target returns the file that this one is or, over links, leads to: its root is the
// folder beyond which nothing is followed. The user's own files lead anywhere, because
// nobody else can have made those links; a project's stay inside the project.
func (f File) target() (File, error) {
	path := f.Path()
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if leads, err := os.Readlink(path); err == nil {
			return f, backend.Problem(backend.ProblemLinkNowhere, path, leads)
		}
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		real = filepath.Join(real, filepath.Base(path))
	}
	if err != nil {
		return f, err
	}
	if f.Scope == agent.ScopeUser {
		f.Root, f.Name = filepath.Dir(real), filepath.Base(real)
		return f, nil
	}
	root, err := filepath.EvalSymlinks(f.Root)
	if err != nil {
		return f, err
	}
	if f.Root = root; real != filepath.Join(root, f.Name) {
		if f.Name, err = filepath.Rel(root, real); err != nil || !filepath.IsLocal(f.Name) {
			return f, backend.Problem(backend.ProblemLinkOutside, path, real)
		}
	}
	return f, nil
}

// read reads the file.
func (f File) read() *Text {
	at, err := f.target()
	if err != nil {
		return &Text{There: true, Err: err}
	}
	root, err := os.OpenRoot(at.Root)
	if err != nil {
		return &Text{There: !errors.Is(err, fs.ErrNotExist), Err: unlessAbsent(err)}
	}
	defer root.Close()
	info, err := root.Stat(at.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, err := os.Lstat(filepath.Dir(f.Path()))
		return &Text{alone: errors.Is(err, fs.ErrNotExist)}
	case err != nil:
		return &Text{There: true, Err: err}
	}
	b, err := contents(root, at.Name)
	if err != nil {
		return &Text{There: true, Err: err}
	}
	t := Parse(b)
	t.info, t.settled = info, time.Since(info.ModTime()) > settles
	return t
}

func unlessAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// says reports whether the text is that of the file as it is now.
func (t *Text) says(now fs.FileInfo) bool {
	return t.settled && os.SameFile(now, t.info) && now.ModTime().Equal(t.info.ModTime()) && now.Size() == t.info.Size()
}

// contents reads a whole file. It never blocks, even if a pipe or a device has
// taken the file's place.
func contents(root *os.Root, name string) ([]byte, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		err = fmt.Errorf("it is longer than %d bytes", MaxFile)
	}
	if err != nil {
		return nil, err
	}
	return inUTF8(b)
}

// inUTF8 returns a text in UTF-16, which PowerShell writes, in UTF-8 with its byte order
// mark. A change is written so, and Windows' programs read it.
func inUTF8(b []byte) ([]byte, error) {
	if !bytes.HasPrefix(b, []byte("\xff\xfe")) && !bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return b, nil
	}
	text, err := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Bytes(b)
	if err != nil {
		return nil, fmt.Errorf("read UTF-16: %w", err)
	}
	return append([]byte("\ufeff"), text...), nil
}
