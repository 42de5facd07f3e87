package env

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// plainRepository reports whether git finds, in dir, a repository whose working
// tree is in the project, and whose own configuration names no program to run
// and refers to no other place. Anything unknown is not plain.
//
// Git also reads the configurations of the user and the system. They are
// trusted, and so are the programs that they name.
func plainRepository(project, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.ContainsFunc(elsewhere, func(name string) bool { return os.Getenv(name) != "" }) {
		return false
	}
	for ; ; real = filepath.Dir(real) {
		if rel, err := filepath.Rel(project, real); err != nil || !filepath.IsLocal(rel) || bare(real) {
			return false
		}
		info, err := os.Lstat(filepath.Join(real, ".git"))
		switch {
		case os.IsNotExist(err):
			continue
		case err != nil || exists(filepath.Join(real, ".gitmodules")):
			return false
		case info.IsDir():
			return plainConfiguration(filepath.Join(real, ".git"))
		case info.Mode().IsRegular():
			return plainWorktree(real)
		}
		return false
	}
}

// elsewhere are the variables that point git to another repository.
var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_INDEX_FILE"}

// bare reports whether git could take the folder itself for a repository.
func bare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}

// plainWorktree checks a folder whose .git is a file that names the real one.
// The real one belongs to the project only if it names the folder in turn, as
// git writes it for a worktree.
func plainWorktree(dir string) bool {
	named, ok := strings.CutPrefix(textOf(filepath.Join(dir, ".git")), "gitdir: ")
	if !ok || !filepath.IsAbs(named) || filepath.Base(filepath.Dir(named)) != "worktrees" {
		return false
	}
	back, err := filepath.EvalSymlinks(filepath.Dir(textOf(filepath.Join(named, "gitdir"))))
	if err != nil || back != dir || textOf(filepath.Join(named, "commondir")) != "../.." || exists(filepath.Join(named, "config.worktree")) {
		return false
	}
	return plainConfiguration(filepath.Dir(filepath.Dir(named)))
}

func plainConfiguration(git string) bool {
	path := filepath.Join(git, "config")
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	for _, name := range []string{"commondir", "config.worktree", "objects/info/alternates"} {
		if exists(filepath.Join(git, name)) {
			return false
		}
	}
	return plainSettings(textOf(path))
}

// maxConfiguration is far more than the size of a configuration.
const maxConfiguration = 64 << 10

// textOf returns the trimmed text of a small file; empty if it is not one.
func textOf(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return ""
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfiguration+1))
	if err != nil || len(data) > maxConfiguration {
		return ""
	}
	return strings.TrimSpace(string(data))
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
