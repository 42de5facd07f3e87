package repository

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
)

// Repository is the repository that a folder belongs to.
type Repository struct {
	tree   string // the top of the working tree
	dir    string // its git folder, with HEAD and the index
	common string // the folder with what all working trees share: the same but for a second working tree
}

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
			return second(tree)
		case err == nil || tree == filepath.Dir(tree):
			return Repository{}, false
		}
	}
}

// second returns the repository of a second working tree. It belongs to the repository
// only if that names the tree in turn, as git writes it.
func second(tree string) (Repository, bool) {
	named, ok := strings.CutPrefix(text(filepath.Join(tree, ".git")), "gitdir: ")
	if !ok || !filepath.IsAbs(named) {
		return Repository{}, false
	}
	dir, err := filepath.EvalSymlinks(named)
	back, err2 := filepath.EvalSymlinks(filepath.Dir(text(filepath.Join(named, "gitdir"))))
	common := filepath.Dir(filepath.Dir(dir))
	if err != nil || err2 != nil || back != tree || filepath.Base(filepath.Dir(dir)) != "worktrees" ||
		text(filepath.Join(dir, "commondir")) != "../.." || !isRepository(common) {
		return Repository{}, false
	}
	return Repository{tree, dir, common}, true
}

func isRepository(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// exists reports whether there is a file. What stands for one while a command runs is none.
func exists(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !sandbox.IsPlaceholder(info)
}

// maxText limits how much of a file is read, in bytes.
const maxText = 1 << 20

// text returns a file without spaces around it; empty if it is no file that can be read.
func text(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	b, _ := io.ReadAll(io.LimitReader(file, maxText))
	return strings.TrimSpace(string(b))
}

// settings returns the names of a configuration's settings in small letters, as
// "section.name", with their values. Includes are settings like others.
func settings(path string) [][2]string { return parse(text(path)) }

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

// harmless are the settings of a repository that run nothing and lead nowhere else.
var harmless = strings.Fields(`
	core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks core.autocrlf core.eol
	remote.url remote.fetch branch.remote branch.merge branch.rebase branch.description user.name user.email init.defaultbranch submodule.url submodule.active`)

// isHarmless reports whether the configuration of a repository that a command made has
// nothing that runs programs.
func isHarmless(config string) bool {
	return !slices.ContainsFunc(settings(config), func(s [2]string) bool {
		return !slices.Contains(harmless, s[0]) || strings.HasSuffix(s[0], "url") && strings.Contains(s[1], "::")
	})
}
