// Package ignore reads the rules for files that searches and the journal skip, like
// ripgrep: .rgignore, .ignore and, in a git repository, .gitignore of a directory and
// its parents, and the repository's info/exclude. A user's global excludes are not
// read, so that the result depends on the project alone.
package ignore

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	// maxFile is the size in bytes of the largest ignore file that is read.
	maxFile = 256 << 10
	// MaxBraces limits the groups of alternatives in a line, because they
	// multiply the ways in which it can match.
	MaxBraces = 2
)

// Rule is a line of an ignore file.
type Rule struct {
	Pattern string // relative to the directory that the file is for
	Negated bool   // matching files are not ignored
	OnlyDir bool
}

// ReadRule reads a line; it reports false if the line has no rule.
func ReadRule(line string) (r Rule, ok bool) {
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
		line, r.Negated = strings.CutPrefix(line, "!")
		line, anchored = strings.CutPrefix(line, "/")
	}
	line, r.OnlyDir = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	if !anchored && !strings.Contains(line, "/") {
		line = "**/" + line
	}
	if strings.HasSuffix(line, "/**") {
		line += "/*" // matches the content of the directory, not the directory itself
	}
	r.Pattern = line
	return r, doublestar.ValidatePattern(line)
}

// Verdict is what rules decide about a path.
type Verdict int

// The verdicts.
const (
	Silent Verdict = iota
	Ignored
	Included
)

// Judge returns the verdict of the last rule that matches a path.
func Judge(rules []Rule, rel string, dir bool) Verdict {
	for i := len(rules) - 1; i >= 0; i-- {
		r := rules[i]
		if r.OnlyDir && !dir || !doublestar.MatchUnvalidated(r.Pattern, rel) {
			continue
		}
		if r.Negated {
			return Included
		}
		return Ignored
	}
	return Silent
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

// Files are the names that make rules in a directory. One that has none of them has
// the rules of its parent.
var Files = []string{".rgignore", ".ignore", ".gitignore", ".git"}

// Rules are the rules that hold in a directory. Nil has none.
type Rules struct {
	above      *Rules
	dir        string // absolute, with slashes and a trailing slash
	rules      [ruleKinds][]Rule
	repository bool // a git repository begins here
	tracked    bool // it does here or above
}

// Read returns the rules for a directory below an open root, given the rules of its
// parent.
func Read(root *os.Root, name, dir string, above *Rules) *Rules {
	i := &Rules{above: above, dir: strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/"}
	_, err := root.Stat(filepath.Join(name, ".git"))
	i.repository = err == nil
	i.tracked = i.repository || above != nil && above.tracked
	for kind, file := range ignoreFiles {
		i.rules[kind] = readRules(root, filepath.Join(name, filepath.FromSlash(file)))
	}
	return i
}

// Above returns the rules of the parents of an absolute directory without links;
// nil if there are no parents.
func Above(dir string) *Rules {
	parent := filepath.Dir(dir)
	if parent == dir {
		return nil
	}
	above := Above(parent)
	root, err := os.OpenRoot(parent)
	if err != nil {
		return above
	}
	defer root.Close()
	return Read(root, ".", parent, above)
}

// readRules reads an ignore file. A file that is unreadable or too large has no
// rules.
func readRules(root *os.Root, name string) (rules []Rule) {
	// Open without blocking, and look at what was opened: it may be a pipe.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if r, ok := ReadRule(strings.TrimSuffix(line, "\n")); ok && strings.Count(r.Pattern, "{") <= MaxBraces {
			rules = append(rules, r)
		}
	}
	return rules
}

// Ignores reports whether a path below the directory, absolute and with slashes, is
// ignored.
func (i *Rules) Ignores(abs string, dir bool) bool {
	var said [ruleKinds]Verdict
	outside := false // of the repository
	for in := i; in != nil; in = in.above {
		rel := strings.TrimPrefix(abs, in.dir)
		for kind, rules := range in.rules {
			ofRepository := kind == ofGit || kind == ofClone
			if said[kind] == Silent && (!ofRepository || i.tracked && !outside) {
				said[kind] = Judge(rules, rel, dir)
			}
		}
		outside = outside || in.repository
	}
	for _, v := range said {
		if v != Silent {
			return v == Ignored
		}
	}
	return false
}

// Leave returns the rules for a path, without those of directories that do not
// contain it.
func (i *Rules) Leave(abs string) *Rules {
	for i != nil && !strings.HasPrefix(abs, i.dir) {
		i = i.above
	}
	return i
}
