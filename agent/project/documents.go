package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

// MaxDocuments caps the documents of a project together, in bytes (LOOP-47).
const MaxDocuments = 32 << 10

// Truncated stands where the documents were cut.
const Truncated = "[Project instructions truncated at 32KB]"

// UserDocument is the name of the user's own document, in Atelier's home
// folder, and of the one that every project may have.
const UserDocument = "AGENTS.md"

// Document is a file of instructions for agents.
type Document struct {
	Path string // relative to the top of the project
	Text string // what of it fits, as valid UTF-8
	Size int    // of the whole file, in bytes
	Told int    // how many of them Text stands for; fewer than Size where it was cut
	// Problem says why it was left out; empty where it was not.
	Problem string
}

// Documents reads the documents with the given names from the top of the
// repository down to the folder, so that deeper ones, which have the last word,
// come later. All together hold [MaxDocuments] bytes; what comes after that is
// cut. Of one file under several names or links the first counts. Only regular
// files inside the project are read: what a link outside leads to is not the
// project's to say. Nor is what another user put above the folder.
func Documents(folder string, names ...string) []Document {
	top := Root(folder)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil // then nothing in the folder can be read
	}
	defer root.Close()
	down, err := filepath.Rel(top, folder)
	if err != nil {
		return nil
	}
	dirs := []string{"."}
	if down != "." {
		for step := range strings.SplitSeq(down, string(filepath.Separator)) {
			dirs = append(dirs, filepath.Join(dirs[len(dirs)-1], step))
		}
	}
	reader := reader{root: root, opened: down, room: MaxDocuments}
	for _, dir := range dirs {
		for _, name := range names {
			reader.read(dir, name)
		}
	}
	return reader.documents
}

// User reads the user's own document from a folder; false where there is none.
func User(home string) (Document, bool) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return Document{}, false
	}
	defer root.Close()
	reader := reader{root: root, opened: ".", room: MaxDocuments}
	reader.read(".", UserDocument)
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
	opened    string // the folder whose documents are read whoever wrote them
	room      int    // bytes that may still come
	seen      []fs.FileInfo
	documents []Document
}

// read adds the document with that name in a folder, if there is one.
func (r *reader) read(dir, name string) {
	path := filepath.Join(dir, name)
	d := Document{Path: filepath.ToSlash(path)}
	text, info, err := r.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return
	case err != nil:
		d.Problem = err.Error()
	case slices.ContainsFunc(r.seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }):
		return // it is there under another name
	case len(text) == 0:
		return
	case dir != r.opened && !(ours(info) && r.isOurs(dir)):
		d.Problem = "it belongs to another user"
	default:
		r.seen = append(r.seen, info)
		d.Size = max(int(info.Size()), len(text))
		d.Text, d.Told = fit(text, r.room)
		r.room -= len(d.Text)
		if d.Told < d.Size {
			r.room = 0 // what follows is cut too: nothing may stand after the mark
		}
	}
	r.documents = append(r.documents, d)
}

func (r *reader) isOurs(dir string) bool {
	info, err := r.root.Stat(dir)
	return err == nil && ours(info)
}

// open reads as much of a regular file as could be used.
func (r *reader) open(path string) (string, fs.FileInfo, error) {
	info, err := r.root.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return "", nil, err
		}
		return "", nil, errors.New("it cannot be opened, or leads out of the project")
	}
	if !info.Mode().IsRegular() {
		return "", nil, errors.New("it is no regular file")
	}
	f, err := r.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return "", nil, errors.New("it cannot be opened")
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxDocuments+1))
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("it cannot be read: %w", err)
	case strings.ContainsRune(string(data), 0):
		return "", nil, errors.New("it is no text")
	}
	return string(data), info, nil
}

// fit returns the beginning of a text, whole characters that take no more than
// room bytes, and how many bytes of the text they are. What is no UTF-8 is
// replaced.
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
