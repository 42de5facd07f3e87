package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Plain reports whether git finds, in dir, a repository whose working tree is in the
// project, and whose own configuration names no program to run and refers to no other
// place. Anything unknown is not plain.
//
// Git also reads the configurations of the user and the system. They are trusted, and so
// are the programs that they name.
func Plain(project, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.ContainsFunc(elsewhere, func(name string) bool { return os.Getenv(name) != "" }) {
		return false
	}
	for ; ; real = filepath.Dir(real) {
		if rel, err := filepath.Rel(project, real); err != nil || !filepath.IsLocal(rel) || isBare(real) {
			return false
		}
		path := filepath.Join(real, ".git")
		info, err := os.Lstat(path)
		switch {
		case os.IsNotExist(err):
			continue
		case err != nil || exists(filepath.Join(real, ".gitmodules")):
			return false
		case info.IsDir():
			return isPlain(path)
		case info.Mode().IsRegular():
			dir, ok := linkedDir(real)
			return ok && !exists(filepath.Join(dir, "config.worktree")) && isPlain(filepath.Dir(filepath.Dir(dir)))
		}
		return false
	}
}

// elsewhere are the variables that point git to another repository.
var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"}

// isBare reports whether git could take the folder itself for a repository.
func isBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects"))
}

// linkedDir returns the git folder of a linked working tree, whose .git is a file that
// names it. It reports false unless that folder names the tree in turn, as git writes it:
// any file could name the repository of someone else.
func linkedDir(tree string) (string, bool) {
	content, _ := text(filepath.Join(tree, ".git"))
	named, ok := strings.CutPrefix(content, "gitdir: ")
	if !ok || !filepath.IsAbs(named) {
		return "", false
	}
	dir, err := filepath.EvalSymlinks(named)
	if err != nil || filepath.Base(filepath.Dir(dir)) != "worktrees" {
		return "", false
	}
	back, _ := text(filepath.Join(dir, "gitdir"))
	common, _ := text(filepath.Join(dir, "commondir"))
	real, err := filepath.EvalSymlinks(filepath.Dir(back))
	return dir, err == nil && real == tree && common == "../.."
}

// moduleDir returns the git folder of a submodule, whose .git is a file that names it. It
// reports false unless the configuration there names the tree in turn, which no file of the
// project can do for the repository of someone else.
func moduleDir(tree string) (string, bool) {
	content, _ := text(filepath.Join(tree, ".git"))
	named, ok := strings.CutPrefix(content, "gitdir: ")
	if !ok {
		return "", false
	}
	dir, err := filepath.EvalSymlinks(absolute(tree, named))
	if err != nil || !strings.Contains(dir, "/modules/") {
		return "", false
	}
	config, _ := text(filepath.Join(dir, "config"))
	back := ""
	for _, s := range parse(config) {
		if s[0] == "core.worktree" {
			back = s[1]
		}
	}
	real, err := filepath.EvalSymlinks(absolute(dir, back))
	return dir, err == nil && back != "" && real == tree
}

// absolute returns a path that is relative to a folder unless it is absolute.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// isPlain reports whether a git folder leads nowhere else and has a plain configuration.
func isPlain(git string) bool {
	for _, name := range []string{"commondir", "config.worktree", "objects/info/alternates"} {
		if exists(filepath.Join(git, name)) {
			return false
		}
	}
	config, ok := text(filepath.Join(git, "config"))
	return ok && plainSettings(config)
}

var (
	configSection = regexp.MustCompile(`^\[([a-z]+)(?: "[^"\\]*")?\]$`)
	configSetting = regexp.MustCompile(`^([a-z][a-z0-9-]*)(?:\s*=.*)?$`)
)

// plainSettingNames lists what a repository's configuration may contain. None
// of these settings names a program, a file or another repository to read; a
// read-only command does not visit the addresses of remotes.
var plainSettingNames = map[string][]string{
	"core":        {"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "quotepath", "longpaths", "hookspath"},
	"remote":      {"url", "pushurl", "fetch", "tagopt", "prune", "gh-resolved"},
	"branch":      {"remote", "merge", "rebase", "pushremote", "description", "gh-merge-base", "vscode-merge-base", "autosetuprebase", "autosetupmerge"},
	"user":        {"name", "email", "signingkey", "useconfigonly"},
	"commit":      {"gpgsign"},
	"tag":         {"gpgsign"},
	"gpg":         {"format"},
	"pull":        {"rebase", "ff"},
	"push":        {"default", "autosetupremote", "followtags"},
	"fetch":       {"prune", "prunetags"},
	"init":        {"defaultbranch"},
	"merge":       {"ff", "conflictstyle"},
	"rebase":      {"autostash", "autosquash"},
	"rerere":      {"enabled"},
	"gc":          {"auto", "autodetach"},
	"color":       {"ui"},
	"advice":      {"detachedhead", "addignoredfile", "addembeddedrepo"},
	"lfs":         {"repositoryformatversion"},
	"maintenance": {"auto", "strategy"},
}

// plainSettings reads a configuration line by line. It accepts only the form in
// which git itself writes one.
func plainSettings(text string) bool {
	section := []string(nil)
	for line := range strings.Lines(text) {
		line = strings.ToLower(strings.TrimSpace(line))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := configSection.FindStringSubmatch(line); m != nil {
			if section = plainSettingNames[m[1]]; section == nil {
				return false
			}
			continue
		}
		m := configSetting.FindStringSubmatch(line)
		if m == nil || strings.HasSuffix(line, `\`) || !slices.Contains(section, m[1]) {
			return false
		}
	}
	return true
}
