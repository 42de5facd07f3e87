package project

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"atelier.dev/atelier/agent/internal/sensitive"
)

const (
	// maxImportDepth is what Claude Code and Gemini CLI document.
	maxImportDepth = 5
	// maxImports limits the names that the documents of one query import.
	maxImports = 100
)

// imported matches "@path" at the beginning of a word; a blank in the path has a
// backslash before it.
var imported = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s(\["'])@((?:\\ |[^\s\\@])+)`) })

// imports returns the names after "@" in the prose of a document, each once. What
// stands in code or in a comment is none.
func imports(document string) []string {
	source := []byte(document)
	if !bytes.Contains(source, []byte("@")) {
		return nil
	}
	prose := bytes.Repeat([]byte{0}, len(source))
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindCodeSpan {
			return ast.WalkSkipChildren, nil
		}
		if t, ok := n.(*ast.Text); ok && entering {
			copy(prose[t.Segment.Start:], t.Value(source))
			if t.Segment.Stop < len(prose) && source[t.Segment.Stop] == '\n' {
				prose[t.Segment.Stop] = '\n'
			}
		}
		return ast.WalkContinue, nil
	})
	var names []string
	for line := range bytes.FieldsFuncSeq(prose, func(r rune) bool { return r == 0 || r == '\n' }) {
		for _, m := range imported().FindAllSubmatch(line, -1) {
			name := strings.ReplaceAll(string(m[1]), `\ `, " ")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// readImport adds a file that a document imports. Most words that begin with "@"
// are no imports but names of people, packages and decorators: those that neither
// exist nor look like paths are ignored.
func (r *reader) readImport(from, name string, depth int) {
	bare := strings.TrimRight(name, ".,;:!?)]}\"'*_") // punctuation may follow
	problem := ProblemMissing
	if r.imports++; r.imports > maxImports || depth > maxImportDepth {
		problem = ProblemImports
	}
	for _, name := range slices.Compact([]string{name, bare}) {
		path, inside := r.resolve(from, name)
		if problem == ProblemImports || name == "" || inside && r.absent(path) {
			continue
		}
		d, ok := Document{Path: filepath.ToSlash(path)}, true
		info, err := r.stat(path)
		switch {
		case (!inside || err == nil && info.IsDir()) && !looksLikePath(name):
			return // such as @scope, which names no file
		case !inside:
			d.Problem = ProblemUnopened
		case sensitive.Secret(path):
			d.Problem = ProblemSecret
		default:
			d, ok = r.load(path)
		}
		if ok {
			d.From = filepath.ToSlash(from)
			r.add(path, d, depth)
		}
		return
	}
	if looksLikePath(bare) {
		path, _ := r.resolve(from, bare)
		r.add(path, Document{Path: filepath.ToSlash(path), From: filepath.ToSlash(from), Problem: problem}, depth)
	}
}

// resolve returns the path of an import, relative to the top of a project or
// absolute for the user's own, and whether it lies where a document may import
// from: in the project, or in the user's home folder or beside the user's document.
func (r *reader) resolve(from, name string) (path string, inside bool) {
	home, err := os.UserHomeDir()
	if below, ok := strings.CutPrefix(name, "~/"); ok && err == nil {
		name = filepath.Join(home, below)
	}
	if r.user {
		if path = name; !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(from), name)
			if real, err := filepath.EvalSymlinks(from); err == nil && r.absent(path) {
				return filepath.Join(filepath.Dir(real), name), true // beside what the link leads to
			}
		}
		return path, within(home, path) || within(filepath.Dir(from), path)
	}
	if filepath.IsAbs(name) {
		if path, err = filepath.Rel(r.top, name); err != nil || !filepath.IsLocal(path) {
			return name, false
		}
		return path, true
	}
	path = filepath.Join(filepath.Dir(from), filepath.FromSlash(name))
	return path, filepath.IsLocal(path)
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}

func (r *reader) absent(path string) bool {
	_, err := r.stat(path)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// looksLikePath reports whether a name after "@" can only be meant as a file.
func looksLikePath(name string) bool {
	for _, begin := range []string{"./", "../", "~/", "/"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".md", ".mdx", ".mdc", ".markdown", ".txt", ".rst":
		return true
	}
	return false
}
