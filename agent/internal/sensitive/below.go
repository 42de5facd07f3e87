package sensitive

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxBelow limits how many names [Below] looks at.
const maxBelow = 50_000

var (
	errTooMany     = errors.New("too many files")
	errBroughtBack = errors.New("an ignore file brings files back")
)

// Below returns the files below a folder that may hold secrets, which a search would
// print. It reports false if there is too much to look at. The folder of the version
// control is skipped, because it does not hold text.
func Below(root string, hidden bool) (paths []string, ok bool) {
	hidden = hidden || bringsBackAbove(root)
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxBelow {
			return errTooMany
		}
		if err != nil {
			return nil // an unreadable file is not printed either
		}
		name := d.Name()
		if !hidden && !d.IsDir() && slices.Contains(ignoreFiles, name) && bringsBack(path) {
			return errBroughtBack
		}
		switch {
		case path == root:
		case d.IsDir() && (name == ".git" || !hidden && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.IsDir() && (hidden || !strings.HasPrefix(name, ".")) && (Secret(path[len(root):]) || HasToken(path)):
			paths = append(paths, path)
		}
		return nil
	})
	if errors.Is(err, errBroughtBack) { // it may bring back any hidden file
		return Below(root, true)
	}
	return paths, err == nil
}

// ignoreFiles say what a search leaves out. A line of them that begins with "!"
// brings files back, also hidden ones.
var ignoreFiles = []string{".gitignore", ".ignore", ".rgignore"}

const maxIgnoreFile = 1 << 20

// bringsBack reports whether an ignore file has such a line, or cannot be read.
func bringsBack(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if info.Size() > maxIgnoreFile {
		return true
	}
	text, err := os.ReadFile(path)
	return err != nil || bytes.HasPrefix(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("!")) || bytes.Contains(text, []byte("\n!"))
}

// bringsBackAbove reports whether an ignore file of a folder above, up to that of the
// repository, brings files back.
func bringsBackAbove(root string) bool {
	for dir := root; ; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(ignoreFiles, func(name string) bool { return bringsBack(filepath.Join(dir, name)) }) {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return false
		}
	}
}

// MayMatch reports whether the pattern of a search may match the name of a hidden
// file that holds secrets: it is not one for names without a dot in front, nor for
// names of a harmless ending, such as *.go and *.{ts,tsx}.
func MayMatch(pattern string) bool {
	last := strings.ToLower(pattern[strings.LastIndexByte(pattern, '/')+1:])
	if !strings.ContainsAny(last, "*?[{") {
		return last == "" || last[0] == '.'
	}
	name, endings, ok := strings.Cut(last, ".{")
	if ok && strings.HasSuffix(endings, "}") {
		last = strings.TrimSuffix(endings, "}")
	} else if at := strings.LastIndexByte(last, '.'); at >= 0 {
		name, last = last[:at], last[at+1:]
	} else {
		return last[0] == '*' || last[0] == '?' || last[0] == '[' || last[0] == '{' || last[0] == '.'
	}
	return strings.HasPrefix(name, ".") || slices.ContainsFunc(strings.Split(last, ","), func(ending string) bool {
		return ending == "" || strings.ContainsAny(ending, "*?[]{}") || Secret(".env."+ending) || Secret("x."+ending)
	})
}
