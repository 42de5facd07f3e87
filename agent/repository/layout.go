package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/regular"
)

// Repository is the repository that a folder belongs to.
type Repository struct {
	tree   string // the top of the working tree
	dir    string // its git folder, with HEAD and the index
	common string // the folder with what all working trees share: the same but for a second working tree
}

// Dir returns the folder that has HEAD and the index.
func (r Repository) Dir() string { return r.dir }

// Tree returns the top of the working tree.
func (r Repository) Tree() string { return r.tree }

// Find returns the repository of a folder, which is absolute and without links. It
// reports false if there is none, and if the files of the project name one that does not
// belong to it: then nothing of it is written.
func Find(folder string) (Repository, bool) {
	for tree := folder; ; tree = filepath.Dir(tree) {
		path := filepath.Join(tree, ".git")
		info, err := os.Lstat(path)
		switch {
		case err == nil && info.IsDir() && isRepository(path):
			return Repository{tree, path, path}, !exists(filepath.Join(path, "commondir"))
		case err == nil && info.Mode().IsRegular():
			dir, ok := linkedDir(tree)
			common := filepath.Dir(filepath.Dir(dir))
			return Repository{tree, dir, common}, ok && isRepository(common)
		case err == nil || tree == filepath.Dir(tree):
			return Repository{}, false
		}
	}
}

func isRepository(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// exists reports whether a path names something. A placeholder of a command that is
// running counts as nothing.
func exists(path string) bool {
	info, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || !sandbox.IsPlaceholder(info))
}

// maxText limits how much of a file is read, in bytes.
const maxText = 64 << 10

// text returns the trimmed content of a regular file. It reports false for a file that
// cannot be read or is larger than maxText.
func text(path string) (string, bool) { return readText(path, maxText) }

func readText(path string, limit int64) (string, bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	b, err := regular.Read(path, limit)
	return strings.TrimSpace(string(b)), err == nil
}

// parse returns the names of a configuration's settings in small letters, as
// "section.name", with their values. Includes are settings like others.
func parse(config string) (all [][2]string) {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line[1:], "]")
			section, line = strings.ToLower(strings.Fields(head + " .")[0]), strings.TrimSpace(rest)
			if at := strings.IndexByte(section, '.'); at > 0 {
				section = section[:at]
			}
		}
		if line == "" || strings.ContainsAny(line[:1], "#;") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		all = append(all, [2]string{section + "." + strings.ToLower(strings.TrimSpace(name)), strings.Trim(strings.TrimSpace(value), `"`)})
	}
	return all
}
