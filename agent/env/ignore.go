package env

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// This file reads the rules for files that a search skips, like ripgrep:
// .rgignore, .ignore and, in a git repository, .gitignore of a directory and
// its parents, and the repository's info/exclude. A user's global excludes are
// not read, so that the result depends on the project alone.

const (
	// maxIgnoreFile is the size in bytes of the largest ignore file that is read.
	maxIgnoreFile = 256 << 10
	// maxBraces limits the groups of alternatives in a line, because they
	// multiply the ways in which it can match.
	maxBraces = 2
)

// rule is a line of an ignore file.
type rule struct {
	pattern string // relative to the directory that the file is for
	negated bool   // matching files are not ignored
	onlyDir bool
}

// readRule reads a line; it reports false if the line has no rule.
func readRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	if !strings.HasSuffix(line, `\ `) {
		line = strings.TrimRight(line, " \t\r")
	}
	anchored := false
	if strings.HasPrefix(line, `\!`) || strings.HasPrefix(line, `\#`) {
		line = line[1:]
	} else {
		line, r.negated = strings.CutPrefix(line, "!")
		line, anchored = strings.CutPrefix(line, "/")
	}
	line, r.onlyDir = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	if !anchored && !strings.Contains(line, "/") {
		line = "**/" + line
	}
	if strings.HasSuffix(line, "/**") {
		line += "/*" // matches the content of the directory, not the directory itself
	}
	r.pattern = line
	return r, doublestar.ValidatePattern(line)
}

// verdict is what the rules decide about a path.
type verdict int

const (
	silent verdict = iota
	ignored
	included
)

// judge returns the verdict of the last rule that matches a path.
func judge(rules []rule, rel string, dir bool) verdict {
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		if r.onlyDir && !dir || !doublestar.MatchUnvalidated(r.pattern, rel) {
			continue
		}
		if r.negated {
			return included
		}
		return ignored
	}
	return silent
}

// The kinds of rules, in order of precedence. Those of git stop at the
// repository's own directory.
const (
	ofRipgrep = iota
	ofSearches
	ofGit
	ofClone
	ruleKinds
)

var ignoreFiles = [ruleKinds]string{".rgignore", ".ignore", ".gitignore", ".git/info/exclude"}

// ignores has the rules that hold in a directory.
type ignores struct {
	above      *ignores
	dir        string // absolute, with slashes and a trailing slash
	rules      [ruleKinds][]rule
	repository bool // a git repository begins here
	tracked    bool // it does here or above
}

// readIgnores returns the rules for a directory below an open root, given the
// rules of its parent.
func readIgnores(root *os.Root, name, dir string, above *ignores) *ignores {
	i := &ignores{above: above, dir: strings.TrimSuffix(slash(dir), "/") + "/"}
	_, err := root.Stat(filepath.Join(name, ".git"))
	i.repository = err == nil
	i.tracked = i.repository || above != nil && above.tracked
	for kind, file := range ignoreFiles {
		i.rules[kind] = readRules(place{root: root, name: filepath.Join(name, filepath.FromSlash(file))})
	}
	return i
}

// ignoresAbove returns the rules of the parents of an absolute directory
// without links; nil if there are no parents.
func ignoresAbove(dir string) *ignores {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	above := ignoresAbove(parent)
	root, err := os.OpenRoot(parent)
	if err != nil {
		return above
	}
	defer root.Close()
	return readIgnores(root, ".", parent, above)
}

// readRules reads an ignore file. A file that is unreadable or too large has no
// rules.
func readRules(p place) (rules []rule) {
	f, info, err := p.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil || info.Size() > maxIgnoreFile {
		return nil
	}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if r, ok := readRule(strings.TrimSuffix(line, "\n")); ok && strings.Count(r.pattern, "{") <= maxBraces {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignores reports whether a path, absolute and with slashes, is ignored.
func (i *ignores) ignores(abs string, dir bool) bool {
	var said [ruleKinds]verdict
	outside := false // of the repository
	for in := i; in != nil; in = in.above {
		rel := strings.TrimPrefix(abs, in.dir)
		for kind, rules := range in.rules {
			ofRepository := kind == ofGit || kind == ofClone
			if said[kind] == silent && (!ofRepository || i.tracked && !outside) {
				said[kind] = judge(rules, rel, dir)
			}
		}
		outside = outside || in.repository
	}
	for _, v := range said {
		if v != silent {
			return v == ignored
		}
	}
	return false
}

// sieve decides what a search skips.
type sieve struct {
	ignores *ignores
	globs   []rule // the requested files; negated ones are excluded
	base    string // the base of globs, absolute, with a trailing slash
}

// passes reports whether a file is searched or a directory entered. A glob
// includes even ignored files.
func (s *sieve) passes(abs string, dir bool) bool {
	if path.Base(abs) == ".git" {
		return false
	}
	switch judge(s.globs, strings.TrimPrefix(abs, s.base), dir) {
	case ignored: // inverted: an ignore file would ignore it, a glob includes it
		return true
	case included:
		return false
	}
	if !dir && len(s.globs) > 0 && !s.globs[0].negated {
		return false
	}
	return !s.ignores.ignores(abs, dir)
}

// enter reads the rules of a directory before it is searched.
func (s *sieve) enter(root *os.Root, name, abs string) {
	s.ignores = readIgnores(root, name, abs, s.ignores)
}

// leave drops the rules of directories that do not contain a path.
func (s *sieve) leave(abs string) {
	for s.ignores != nil && !strings.HasPrefix(abs, s.ignores.dir) {
		s.ignores = s.ignores.above
	}
}
