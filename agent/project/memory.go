package project

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/llm/tokens"
	"atelier.dev/atelier/internal/text"
)

const (
	// DefaultMemory limits the memory of a project, in tokens (COM-23).
	DefaultMemory = 2_000
	// MaxMemory is the largest limit, for which enough of a file is read.
	MaxMemory = 8_000
	// maxTokenBytes is how many bytes of a text are counted for each token that it may take.
	maxTokenBytes = 8
	// maxMemoryFiles limits the files of a memory.
	maxMemoryFiles = 50
)

// Memory names files that agents are told of in every session of a project (COM-23,
// K-23): knowledge that is no instruction. A name is relative to the folder, absolute, or
// begins with "~/".
type Memory struct {
	Folder    string // the opened folder
	Files     []string
	MaxTokens int // of all files together; 0 means [DefaultMemory]
}

// Documents reads the files in their order, each after what it imports. From the first one
// on that does not fit, they are cut, and marked. Files of a project are read as its
// documents are; the user's own may lie anywhere. A file that usually holds secrets is
// left out, and so is one that does not exist.
func (m Memory) Documents() []Document {
	documents := Query{Folder: m.Folder}.read(func(r *reader) {
		for _, name := range m.Files[:min(len(m.Files), maxMemoryFiles)] {
			m.gather(r, name)
		}
	})
	limit := min(cmp.Or(m.MaxTokens, DefaultMemory), MaxMemory)
	room := limit
	for i := range documents {
		d := &documents[i]
		if d.Problem != "" {
			continue
		}
		d.Cut = fmt.Sprintf("[Memory truncated at %d tokens]", limit)
		if room <= 0 {
			d.Text, d.Told = "", 0
			continue
		}
		whole := len(d.Text)
		var took int
		d.Text, took = fitTokens(d.Text, room)
		if len(d.Text) < whole {
			d.Told, took = len(d.Text), room // a later one must not seem to be all there is
		}
		room -= took
	}
	return slices.DeleteFunc(documents, func(d Document) bool { return d.Problem == "" && d.Text == "" && d.Size == 0 })
}

// gather adds one file with what it imports.
func (m Memory) gather(r *reader, name string) {
	r.folder = r.opened
	if path, ok := ownPath(name); ok {
		own := &reader{user: true, stat: os.Stat, openFile: os.OpenFile, seen: r.seen}
		own.gatherFile(path)
		r.seen, r.documents = own.seen, append(r.documents, own.documents...)
		return
	}
	r.gatherFile(filepath.Join(r.opened, filepath.FromSlash(name)))
}

// ownPath returns the path of a file of the user's own; it reports false for a name in a
// project.
func ownPath(name string) (path string, ok bool) {
	if below, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, below), err == nil
	}
	return filepath.Clean(name), filepath.IsAbs(name)
}

func (r *reader) gatherFile(path string) {
	switch d, ok := r.load(path); {
	case sensitive.Secret(path):
		r.add(path, Document{Path: filepath.ToSlash(path), Problem: ProblemSecret}, 0)
	case ok:
		r.add(path, d, 0)
	}
}

// fitTokens returns the beginning of a text that takes at most so many tokens, and how many
// it takes.
func fitTokens(s string, room int) (begin string, took int) {
	begin = text.Head(s, room*maxTokenBytes)
	for took = tokens.Count(begin); took > room && begin != ""; took = tokens.Count(begin) {
		begin = text.Head(begin, min(len(begin)-1, len(begin)*room/took))
	}
	return begin, took
}
