package rule

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/gitindex"
	"atelier.dev/atelier/agent/permission/boundary"
)

// Git prints files from its repository, which no path of a line names: those of
// today, which its index lists, and all that were ever committed.

// mayBePrinted reports whether a step is a command of git that may print a file
// which a pattern means.
func (p pattern) mayBePrinted(s command.Step, at place) bool {
	printed, ok := s.Prints()
	if !ok {
		return false
	}
	for _, dir := range printed.Dirs {
		if p.isPrinted(printed, dir, at) {
			return true
		}
	}
	return false
}

// isPrinted reports whether a pattern may mean one of the files that a command
// prints: those below its paths, or all.
func (p pattern) isPrinted(printed command.Printed, dir string, at place) bool {
	today, args := printed.Today, printed.Args
	var paths []string
	marked := slices.Index(args, "--")
	for i, arg := range args {
		path := boundary.Resolve(filepath.Join(dir, arg))
		switch _, err := os.Lstat(path); {
		case i == marked:
		case marked >= 0 && i > marked, err == nil && !strings.HasPrefix(arg, "-"):
			if strings.HasPrefix(arg, ":") || strings.ContainsAny(arg, `*?[\$`) { // it is more than a path
				path = at.project
			}
			paths = append(paths, path)
		case strings.HasPrefix(arg, "-"):
			today = today && !strings.HasPrefix(arg, "--merge-base")
		default: // a version, or a word to look for
			today = today && !(strings.ContainsAny(arg, ":^~@") || isVersion(dir, arg))
		}
	}
	if today {
		return p.isTracked(dir, paths, at)
	}
	return len(paths) == 0 || slices.ContainsFunc(paths, func(path string) bool { return p.mayHaveHad(path, at) })
}

// isVersion reports whether a word may name a version in the repository of a
// folder: a branch, a tag or the beginning of a number.
func isVersion(dir, word string) bool {
	repository, ok := gitFolder(dir)
	if !ok || strings.Contains(word, "..") || word == "HEAD" || strings.HasSuffix(word, "_HEAD") {
		return true
	}
	if len(word) >= 4 && strings.Trim(strings.ToLower(word), "0123456789abcdef") == "" {
		return true
	}
	if common, err := gitindex.Read(filepath.Join(repository, "commondir")); err == nil { // of another work tree
		repository = filepath.Join(repository, strings.TrimSpace(string(common)))
	}
	for _, place := range []string{"refs", "refs/heads", "refs/tags", "refs/remotes"} {
		if _, err := os.Lstat(filepath.Join(repository, place, filepath.FromSlash(word))); err == nil {
			return true
		}
	}
	packed, err := gitindex.Read(filepath.Join(repository, "packed-refs"))
	return strings.Contains(string(packed), "/"+word+"\n") || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// mayHaveHad reports whether a path may ever have led to something that a pattern
// means: it is a file of its form, or a folder in which there may have been one.
func (p pattern) mayHaveHad(real string, at place) bool {
	if p.matches(real, at, true) {
		return true
	}
	if info, err := os.Lstat(real); err == nil && !info.IsDir() {
		return false
	}
	fixed, _ := p.fixed(at)
	if fixed == "" {
		fixed = p.root(at)
	}
	fixed = boundary.Resolve(fixed)
	return fixed == "" || isBelow(fixed, real) || isBelow(real, fixed)
}

// isTracked reports whether the index of a folder's repository has a file that a
// pattern means, below one of some paths if there are any. An index that cannot
// be read may have one.
func (p pattern) isTracked(dir string, paths []string, at place) bool {
	root, names, ok := tracked(dir)
	if !ok {
		return true
	}
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		asked := len(paths) == 0 || slices.ContainsFunc(paths, func(above string) bool { return isBelow(above, path) })
		if asked && (p.matches(path, at, true) || strings.HasSuffix(name, "/") && p.mayHaveHad(path, at)) { // a folder stands for all in it
			return true
		}
	}
	return false
}
