package project

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// MaxDocuments limits the documents of a project together, in bytes (LOOP-47).
const MaxDocuments = 32 << 10

// Truncated marks the place where a document was cut.
const Truncated = "[Project instructions truncated at 32KB]"

// UserDocument is the name of the user's own document in Atelier's home folder,
// and of the document that every model reads in a project.
const UserDocument = "AGENTS.md"

// Document is a file of instructions for agents.
type Document struct {
	Path string // relative to the top of the project
	Text string // the part that fits, as valid UTF-8
	Size int    // of the whole file, in bytes
	Told int    // how many of them Text stands for; less than Size if it was cut
	// Problem says why the document was left out; empty if it was not.
	Problem Problem
	// Cause is what the system said, for ProblemUnread.
	Cause string
}

// Problem is a reason to leave a document out.
type Problem string

// The reasons.
const (
	ProblemUnopened  Problem = "unopened"  // cannot be opened, or leads out of the project
	ProblemIrregular Problem = "irregular" // not a regular file
	ProblemUnread    Problem = "unread"    // cannot be read
	ProblemBinary    Problem = "binary"    // not text
	ProblemForeign   Problem = "foreign"   // belongs to another user
)

// Documents reads the documents with the given names from the top of the
// repository down to the folder. Deeper ones come later, because they take
// precedence. Together they hold at most [MaxDocuments] bytes; if they are
// longer, the deepest are kept and those above them are cut. A file with
// several names or links is read once. Only regular files inside the project
// are read, because a link outside leads to text that is not the project's.
// Documents above the folder that belong to another user are skipped.
func Documents(folder string, names ...string) []Document {
	return onTheWay(folder, folder, true, names)
}

// DocumentsBelow reads the documents in the folders that lead from folder down
// to dir, without those of folder itself, under the rules of [Documents]. It
// returns nothing if dir is not below folder.
func DocumentsBelow(folder, dir string, names ...string) []Document {
	return onTheWay(folder, dir, false, names)
}

// onTheWay reads documents between the top of the folder's repository and dir.
// If above is set, it reads them down to the folder itself, otherwise below it.
func onTheWay(folder, dir string, above bool, names []string) []Document {
	top := Root(folder)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil // then nothing in the folder can be read
	}
	defer root.Close()
	opened, err := filepath.Rel(top, folder)
	if err != nil {
		return nil
	}
	reader := reader{root: root, opened: opened}
	var dirs []string
	if above {
		dirs = append(steps(".", opened), opened)
	} else if below, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(below) && below != "." {
		last := filepath.Join(opened, below)
		dirs = append(steps(opened, last)[1:], last)
	}
	for _, dir := range dirs {
		for _, name := range names {
			reader.read(dir, name)
		}
	}
	reader.fit()
	return reader.documents
}

// steps lists the folders from one folder down to another, without the last
// one.
func steps(from, to string) []string {
	var dirs []string
	for dir := to; dir != from; {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// User reads the user's own document from a folder; it reports false if there
// is none.
func User(home string) (Document, bool) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return Document{}, false
	}
	defer root.Close()
	reader := reader{root: root, opened: "."}
	reader.read(".", UserDocument)
	reader.fit()
	if len(reader.documents) == 0 {
		return Document{}, false
	}
	d := reader.documents[0]
	d.Path = filepath.Join(home, UserDocument)
	return d, true
}

// reader gathers documents beneath a root.
type reader struct {
	root      *os.Root
	opened    string // the folder whose documents are read, no matter who owns them
	seen      []fs.FileInfo
	documents []Document
}

// read adds the document with the given name in a folder, if there is one.
func (r *reader) read(dir, name string) {
	path := filepath.Join(dir, name)
	d := Document{Path: filepath.ToSlash(path)}
	text, info, problem, err := r.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return
	case problem == ProblemUnread:
		d.Problem, d.Cause = problem, err.Error()
	case problem != "":
		d.Problem = problem
	case slices.ContainsFunc(r.seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }):
		return // it was read under another name
	case len(text) == 0:
		return
	case dir != r.opened && !(ours(info) && r.isOurs(dir)):
		d.Problem = ProblemForeign
	default:
		r.seen = append(r.seen, info)
		d.Size, d.Text = max(int(info.Size()), len(text)), text
	}
	r.documents = append(r.documents, d)
}

// fit cuts the documents to the limit, the deepest last.
func (r *reader) fit() {
	room := MaxDocuments
	for i := len(r.documents) - 1; i >= 0; i-- {
		d := &r.documents[i]
		if d.Problem != "" {
			continue
		}
		d.Text, d.Told = fit(d.Text, room)
		room -= len(d.Text)
		if d.Told < d.Size {
			room = 0 // without this one, a document further up would seem to take precedence
		}
	}
}

func (r *reader) isOurs(dir string) bool {
	info, err := r.root.Stat(dir)
	return err == nil && ours(info)
}

// open reads as much of a regular file as can be used. The problem is set if it
// cannot; err is what the system said.
func (r *reader) open(path string) (text string, info fs.FileInfo, problem Problem, err error) {
	info, err = r.root.Stat(path)
	switch {
	case err != nil:
		return "", nil, ProblemUnopened, err
	case !info.Mode().IsRegular():
		return "", nil, ProblemIrregular, nil
	}
	f, err := r.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return "", nil, ProblemUnopened, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, ProblemIrregular, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxDocuments+1))
	switch {
	case err != nil:
		return "", nil, ProblemUnread, err
	case bytes.IndexByte(data, 0) >= 0:
		return "", nil, ProblemBinary, nil
	}
	return string(data), info, "", nil
}

// fit returns the beginning of a text, whole characters of at most room bytes,
// and how many bytes of the text they stand for. Invalid UTF-8 is replaced.
func fit(text string, room int) (valid string, used int) {
	var b strings.Builder
	for used < len(text) {
		r, n := utf8.DecodeRuneInString(text[used:])
		if b.Len()+utf8.RuneLen(r) > room {
			break
		}
		b.WriteRune(r)
		used += n
	}
	return b.String(), used
}
