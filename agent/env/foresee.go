package env

import (
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/repository"
	"atelier.dev/atelier/agent/sandbox"
)

// Foreseer is implemented by environments that can tell what a command line
// reads before it runs.
type Foreseer interface {
	// Foresee returns the absolute paths of the files and folders that a line
	// reads when it runs in dir. It reports false unless the line does nothing
	// else. With the variables of [Harmless], running the line does nothing
	// else either.
	Foresee(ctx context.Context, line, dir string) (Foreseen, bool)
}

// Foreseen is what a read-only command line will read.
type Foreseen struct {
	// Reads has all files and folders, but of the configurations of git only those that
	// hold a password which is printed. Files has those whose text is printed in
	// whole or in part, with nothing but line numbers added, if the line
	// succeeds.
	Reads, Files []string
}

// foresee asks the environment inside a wrapper.
func foresee(ctx context.Context, e Environment, line, dir string) (Foreseen, bool) {
	f, ok := e.(Foreseer)
	if !ok {
		return Foreseen{}, false
	}
	return f.Foresee(ctx, line, dir)
}

// Harmless are additional variables for a read-only command line. They switch
// off what programs run, write or fetch on their own.
var Harmless = []string{
	"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_TRACE*", "TAR_OPTIONS", "UNZIP", "UNZIPOPT", "ZIPINFO", "ZIPINFOOPT", "GZIP", "XZ_OPT", "XZ_DEFAULTS", "GH_REPO", "GH_DEBUG",
	"RIPGREP_CONFIG_PATH=", "GREP_OPTIONS=", "GOTOOLCHAIN=local",
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
	"GIT_CONFIG_PARAMETERS='core.fsmonitor=false' 'core.hooksPath=/dev/null' 'log.showSignature=false' " +
		"'safe.bareRepository=explicit' 'diff.ignoreSubmodules=all'",
}

// maxExpanded limits how many names the patterns of a line may match, and
// maxWildcards how many elements of a pattern may have a wildcard, because each
// multiplies the folders to look in.
const (
	maxExpanded  = 1000
	maxWildcards = 2
)

// Foresee implements [Foreseer] for bash.
func (l *Local) Foresee(ctx context.Context, line, dir string) (Foreseen, bool) {
	if runtime.GOOS == "windows" {
		return Foreseen{}, false
	}
	r, ok := command.Read(line)
	if !ok {
		return Foreseen{}, false
	}
	dir = join(join(l.dir, dir), r.Dir)
	for _, program := range r.Programs {
		if !l.trusts(program) {
			return Foreseen{}, false
		}
	}
	for _, program := range r.Perhaps {
		if sandbox.ShellFinds(program) != "" && !l.trusts(program) {
			return Foreseen{}, false
		}
	}
	if r.Git && !repository.Plain(l.real, dir) {
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
		secrets, ok := sensitive.Below(join(dir, tree), r.Hidden)
		if !ok {
			return Foreseen{}, false
		}
		f.Reads = append(f.Reads, secrets...)
	}
	for _, handed := range r.Handed {
		secrets, ok := l.handedOver(join(dir, handed.Tree), handed)
		if !ok {
			return Foreseen{}, false
		}
		if handed.Index && !indexHandsOver(dir, handed) {
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
	if r.Remotes {
		f.Reads = append(f.Reads, remotesWithPasswords(dir)...)
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

// trusts reports whether bash finds a program in a place that no project
// controls. A shim does not count, because the files of a project choose what
// it runs.
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

// expand returns the files that patterns match. It reports false if there are
// too many, or if one could be taken for an option. Hidden files are included,
// although bash may leave them out.
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
