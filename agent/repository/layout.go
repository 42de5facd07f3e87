package repository

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
		if r, here, ok := at(tree); here || tree == filepath.Dir(tree) {
			return r, ok
		}
	}
}

// at returns the repository whose working tree has its top in a folder. Here says that git
// would look no further, and ok that the repository belongs to the folder.
func at(tree string) (r Repository, here, ok bool) {
	path := filepath.Join(tree, ".git")
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return r, false, false
	case info.IsDir() && isRepository(path):
		return Repository{tree, path, path}, true, !exists(filepath.Join(path, "commondir"))
	case info.Mode().IsRegular():
		if dir, ok := moduleDir(tree); ok {
			return Repository{tree, dir, dir}, true, isRepository(dir) && !exists(filepath.Join(dir, "commondir"))
		}
		dir, ok := linkedDir(tree)
		common := filepath.Dir(filepath.Dir(dir))
		return Repository{tree, dir, common}, true, ok && isRepository(common)
	}
	return r, true, false
}

// Of returns the repositories that a line changes: this one, if the line changes it, and
// those of its submodules in which git commands of the line run.
func (r Repository) Of(line Line) (all []Repository) {
	linked, _ := r.links()
	for _, dir := range line.dirs {
		of := r
		for tree := dir; within(r.tree, tree) && tree != r.tree; tree = filepath.Dir(tree) {
			rel, _ := filepath.Rel(r.tree, tree)
			inner, here, ok := at(tree)
			if here && ok && inner.common != r.common && (inner.dir != filepath.Join(tree, ".git") || slices.Contains(linked, rel)) {
				of = inner
			}
			if here {
				break
			}
		}
		if !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	if len(all) == 0 {
		return []Repository{r}
	}
	return all[:min(len(all), mostModules)]
}

// mostModules limits how many submodules a line changes.
const mostModules = 20

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
