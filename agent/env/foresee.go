package env

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/internal/shell"
	"atelier.dev/atelier/agent/sandbox"
)

// Foreseer is implemented by environments that can tell what a command line
// reads before it runs.
type Foreseer interface {
	// Foresee returns the files and folders that a line reads when it is run in
	// dir, absolute; false unless all that it does is to read them. Run with
	// the variables of [Harmless] it does not do more either.
	Foresee(ctx context.Context, line, dir string) (Foreseen, bool)
}

// Foreseen is what a line that only reads will read.
type Foreseen struct {
	// Reads are all files and folders, Files those of them whose text is printed,
	// whole or some lines of it, with line numbers at most; it is printed if
	// the line succeeds.
	Reads, Files []string
}

// foresee asks an environment that a wrapper has around it.
func foresee(ctx context.Context, e Environment, line, dir string) (Foreseen, bool) {
	f, ok := e.(Foreseer)
	if !ok {
		return Foreseen{}, false
	}
	return f.Foresee(ctx, line, dir)
}

// Harmless are the variables, besides the usual ones, for a line that only
// reads: they switch off what programs run or fetch on their own.
var Harmless = []string{
	"RIPGREP_CONFIG_PATH=", "GREP_OPTIONS=", "GOTOOLCHAIN=local",
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
	"GIT_CONFIG_PARAMETERS='core.fsmonitor=false' 'core.hooksPath=/dev/null' 'log.showSignature=false' " +
		"'safe.bareRepository=explicit' 'diff.ignoreSubmodules=all'",
}

// maxExpanded is how many names the patterns of a line may stand for, and
// maxWildcards how many elements of one may have a wildcard: each multiplies the
// folders to look in.
const (
	maxExpanded  = 1000
	maxWildcards = 2
)

// Foresee implements [Foreseer] for bash.
func (l *Local) Foresee(ctx context.Context, line, dir string) (Foreseen, bool) {
	if runtime.GOOS == "windows" {
		return Foreseen{}, false
	}
	r, ok := shell.Read(line)
	if !ok {
		return Foreseen{}, false
	}
	dir = join(join(l.dir, dir), r.Dir)
	for _, program := range r.Programs {
		if !l.trusts(program) {
			return Foreseen{}, false
		}
	}
	if r.Git && !plainRepository(l.real, dir) {
		return Foreseen{}, false
	}
	f := Foreseen{Reads: []string{dir}}
	for _, path := range r.Paths {
		f.Reads = append(f.Reads, join(dir, path))
	}
	for _, path := range r.Files {
		f.Files = append(f.Files, join(dir, path))
	}
	names, ok := expand(dir, r.Patterns)
	if !ok {
		return Foreseen{}, false
	}
	f.Reads = append(f.Reads, names...)
	for _, tree := range r.Trees {
		secrets, ok := secretsIn(join(dir, tree), r.Hidden)
		if !ok {
			return Foreseen{}, false
		}
		f.Reads = append(f.Reads, secrets...)
	}
	if r.Tracked {
		secrets, ok := trackedSecrets(dir)
		if !ok {
			return Foreseen{}, false
		}
		f.Reads = append(f.Reads, secrets...)
	}
	for _, name := range r.Present {
		if !exists(join(dir, name)) {
			return Foreseen{}, false
		}
	}
	for _, listing := range r.Listings {
		secrets, ok := l.committedSecrets(ctx, dir, listing)
		if !ok {
			return Foreseen{}, false
		}
		f.Reads = append(f.Reads, secrets...)
	}
	slices.Sort(f.Reads)
	f.Reads = slices.Compact(f.Reads)
	return f, true
}

// join is filepath.Join for a second path that may be absolute.
func join(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// trusts reports whether bash finds a program where no project has put it. A
// shim does not count: the files of a project choose what it runs.
func (l *Local) trusts(program string) bool {
	path := sandbox.ShellFinds(program)
	if path == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	for _, p := range []string{path, real} {
		if _, inside := l.within(p); inside || slices.ContainsFunc(strings.Split(p, "/"), isShim) {
			return false
		}
	}
	return true
}

func isShim(dir string) bool { return dir == "shims" || dir == ".volta" }

// expand returns the files that patterns stand for; false where they are too
// many, or one could be taken for an option. What begins with a dot is among
// them, though bash may leave it out.
func expand(dir string, patterns []string) (paths []string, ok bool) {
	for _, pattern := range patterns {
		if !filepath.IsAbs(pattern) {
			pattern = escape(dir) + "/" + pattern
		}
		if wide(pattern) > maxWildcards {
			return nil, false
		}
		names, err := filepath.Glob(pattern)
		if err != nil || len(paths)+len(names) > maxExpanded {
			return nil, false
		}
		for _, name := range names {
			if rel, err := filepath.Rel(dir, name); err != nil || strings.HasPrefix(rel, "-") {
				return nil, false
			}
			paths = append(paths, name)
		}
	}
	return paths, true
}

// wide counts the elements of a pattern that have a wildcard.
func wide(pattern string) (n int) {
	for element := range strings.SplitSeq(pattern, "/") {
		if strings.ContainsAny(strings.NewReplacer(`\\`, "", `\*`, "", `\?`, "").Replace(element), "*?") {
			n++
		}
	}
	return n
}

// maxTree is how many names are looked at below a folder that is searched.
const maxTree = 50_000

// secretsIn returns the files below a folder that may hold secrets, which a
// search would print; false where there is too much to look at. Version
// control's own folder is passed over: what it holds is not text.
func secretsIn(root string, hidden bool) (paths []string, ok bool) {
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > maxTree {
			return errTooMany
		}
		if err != nil {
			return nil // what cannot be read is not printed either
		}
		name := d.Name()
		switch {
		case path == root:
		case d.IsDir() && (name == ".git" || !hidden && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.IsDir() && (hidden || !strings.HasPrefix(name, ".")) && sensitive.Secret(path[len(root):]):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err == nil
}

var errTooMany = errors.New("too many files")

// escape makes a pattern of a path that means nothing but itself.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
