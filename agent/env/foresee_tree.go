package env

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// maxTree limits how many names are looked at below a folder of which names are
// handed over.
const maxTree = 50_000

var errTooMany = errors.New("too many files")

// handedOver returns the files below a folder that may hold secrets. It reports
// false if one of the names below it cannot be given to a program as a name that
// only stands for a file of the project: a link leads elsewhere or to a secret,
// or the name, which begins with that of the folder, is not [handable].
func (l *Local) handedOver(root string, h command.Handed) (paths []string, ok bool) {
	if !handable(h.Tree, h) {
		return nil, false
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxTree {
			return errTooMany
		}
		if err != nil {
			return nil
		}
		if ok, _ := filepath.Match(h.Name, d.Name()); h.Name != "" && !ok && !d.IsDir() {
			return nil
		}
		if path != root && !handable(d.Name(), h) {
			return errNotPlain
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink != 0:
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				return nil // there is nothing to read
			}
			if rel, inside := l.within(real); !inside || sensitive.Secret("/"+rel) {
				return errNotPlain
			}
		case !d.IsDir() && sensitive.Secret(path[len(root):]):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err == nil
}

// handable reports whether a name is neither taken for an option nor taken apart on
// its way. grep replaces lines of bytes that are not text with a sentence.
func handable(name string, h command.Handed) bool {
	return !(h.Bare && strings.HasPrefix(name, "-")) && !(h.Plain && (strings.ContainsAny(name, " \t\n\r\v\f\"'\\") || !utf8.ValidString(name)))
}

// indexHandsOver reports whether all names in the index of git are [handable] and
// inside the project: they are listed even where there are no such files.
func indexHandsOver(dir string, h command.Handed) bool {
	_, names, ok := tracked(dir)
	return ok && !slices.ContainsFunc(names, func(name string) bool {
		return !filepath.IsLocal(filepath.FromSlash(name)) || slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return !handable(part, h) })
	})
}

var errNotPlain = errors.New("a name that may be something else")

// escape returns a pattern that matches only the given path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
