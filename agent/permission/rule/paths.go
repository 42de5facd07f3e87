package rule

import (
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/permission/boundary"
)

// pattern is the pattern of paths in a rule.
type pattern struct {
	base  base
	names []string // with "**" for any number of folders
	// floating says that the pattern may begin at any depth below its base.
	floating bool
}

type base int

const (
	ofProject base = iota
	ofHome
	ofRoot
)

// pattern returns the pattern of a rule about paths. It follows .gitignore: a
// pattern with a slash in it begins at its base, any other is a name at any depth,
// and whatever is below a match is meant as well.
func (r Rule) pattern() (p pattern, ok bool) {
	if k := r.kind(); r.Selector == "" || k != kindRead && k != kindWrite {
		return p, false
	}
	text := filepath.ToSlash(r.Selector)
	switch {
	case strings.HasPrefix(text, "//"):
		p.base, text = ofRoot, text[2:]
	case text == "~", strings.HasPrefix(text, "~/"):
		p.base, text = ofHome, strings.TrimPrefix(text[1:], "/")
	case strings.HasPrefix(text, "/"):
		text = text[1:]
	case strings.HasPrefix(text, "./"):
		text = text[2:]
	default:
		p.floating = !strings.Contains(strings.TrimSuffix(text, "/"), "/")
	}
	for name := range strings.SplitSeq(text, "/") {
		if name != "" && name != "." {
			p.names = append(p.names, name)
		}
	}
	return p, true
}

func (p pattern) check() error {
	deep := 0
	for _, name := range p.names {
		if name == ".." {
			return fault(FaultParent)
		}
		if name == "**" {
			deep++
		}
		if _, err := path.Match(name, ""); err != nil {
			return fault(FaultPattern)
		}
	}
	if deep > maxDeep {
		return fault(FaultStars, strconv.Itoa(maxDeep))
	}
	return nil
}

// maxDeep limits the "**" of a pattern, each of which is tried at every depth.
const maxDeep = 3

// place is where a rule's paths begin.
type place struct{ project, home string }

func (p pattern) root(at place) string {
	switch p.base {
	case ofHome:
		return at.home
	case ofRoot:
		return "/"
	}
	return at.project
}

// matches reports whether a path, absolute and without links, is of the form of a
// pattern or below one that is.
func (p pattern) matches(real string, at place, fold bool) bool {
	names, ok := p.below(real, at)
	if !ok {
		return false
	}
	want := p.names
	if fold {
		names, want = lower(names), lower(want)
	}
	if p.floating {
		for i := range names {
			if namesMatch(want, names[i:]) {
				return true
			}
		}
		return false
	}
	return namesMatch(want, names)
}

// maxWalked is how many files are looked at below a folder. With more there may be
// one that a pattern means.
const maxWalked = 20_000

// mayHaveBelow reports whether a pattern may mean something below a path that is a
// folder: what its names before the first "*" lead to, or a file that is there.
func (p pattern) mayHaveBelow(real string, at place) bool {
	if p.isAbove(real, at) {
		return true
	}
	if root := p.root(at); root == "" || !isBelow(root, real) && !isBelow(real, root) {
		return false
	}
	found, walked := false, 0
	_ = filepath.WalkDir(real, func(path string, _ fs.DirEntry, err error) error {
		walked++
		if found = err == nil && path != real && p.matches(path, at, true) || walked > maxWalked; found {
			return fs.SkipAll
		}
		return nil // what cannot be read is not searched either
	})
	return found
}

// isAbove reports whether a path is a folder above what a pattern surely means: the
// names before its first "*".
func (p pattern) isAbove(real string, at place) bool {
	fixed, _ := p.fixed(at)
	if fixed == "" {
		return false
	}
	rel, err := filepath.Rel(real, boundary.Resolve(fixed))
	return err == nil && filepath.IsLocal(rel)
}

// fixed returns the path before a pattern's first "*", and whether the pattern
// means everything below it.
func (p pattern) fixed(at place) (path string, whole bool) {
	fixed := []string{p.root(at)}
	for _, name := range p.names {
		if strings.ContainsAny(name, `*?[\`) {
			break
		}
		fixed = append(fixed, name)
	}
	if len(fixed) == 1 || p.floating || fixed[0] == "" {
		return "", false
	}
	rest := p.names[len(fixed)-1:]
	return filepath.Join(fixed...), len(rest) == 0 || len(rest) == 1 && (rest[0] == "**" || rest[0] == "*")
}

// reacher returns a checker of lines that may reach what a rule about reading
// means, although no step names it: by a pattern, a link or a program's own
// commands. It is nil for a rule that means some files of a
// folder only, for which there is finder.
func (p pattern) reacher(at place) *boundary.Checker {
	path, whole := p.fixed(at)
	if !whole {
		return nil
	}
	return boundary.New(boundary.Settings{DeniedPaths: []string{path}}, at.project, at.home)
}

// maxFiles limits how many files of a pattern are looked for in a line.
const maxFiles = 1000

// finder returns a checker like that of reacher for a rule that means some files
// of a folder: those that are there now. It is nil if there are none. Patterns in a
// line lead to nothing else. Folders of other people's code are not searched.
func (p pattern) finder(at place) *boundary.Checker {
	from, _ := p.fixed(at)
	if from == "" && p.base == ofProject {
		from = at.project
	}
	if from == "" {
		return nil
	}
	var files []string
	walked := 0
	_ = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if walked++; walked > maxWalked || len(files) == maxFiles {
			return fs.SkipAll
		}
		switch {
		case err == nil && p.matches(path, at, true):
			files = append(files, path)
			if d.IsDir() {
				return fs.SkipDir
			}
		case d != nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		}
		return nil // what cannot be read is not searched either
	})
	if len(files) == 0 {
		return nil
	}
	return boundary.New(boundary.Settings{DeniedPaths: files}, at.project, at.home)
}

// below returns the names of a path below the pattern's base.
func (p pattern) below(real string, at place) ([]string, bool) {
	root := p.root(at)
	if root == "" {
		return nil, false
	}
	if p.base == ofRoot {
		real = strings.TrimPrefix(real, filepath.VolumeName(real))
	}
	rel, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, false
	}
	if rel == "." {
		return nil, true
	}
	return strings.Split(filepath.ToSlash(rel), "/"), true
}

func lower(names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, strings.ToLower(name))
	}
	return out
}

// namesMatch reports whether names begin with those of a pattern. "**" stands for
// any number of names, and at the end for at least one.
func namesMatch(want, names []string) bool {
	for i, w := range want {
		if w == "**" {
			for i+1 < len(want) && want[i+1] == "**" {
				i++
			}
			if i+1 == len(want) {
				return len(names) > 0
			}
			for from := range names {
				if namesMatch(want[i+1:], names[from:]) {
					return true
				}
			}
			return false
		}
		if len(names) == 0 {
			return false
		}
		if ok, err := path.Match(w, names[0]); err != nil || !ok {
			return false
		}
		names = names[1:]
	}
	return true
}

// escapePath returns a path's name as a pattern for this name.
func escapePath(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
