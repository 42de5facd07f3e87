package project

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox"
)

const (
	// gitTimeout ends each command: a session does not wait longer for facts
	// that it can do without.
	gitTimeout = 3 * time.Second
	// maxCommits and maxSubject bound what is told of the history.
	maxCommits = 5
	maxSubject = 100
)

// Snapshot is the state of a repository at a moment (LOOP-46).
type Snapshot struct {
	Branch string
	// Counted says that the two counts are known.
	Counted             bool
	Modified, Untracked int
	Commits             []string // short hash and subject, newest first
}

// Snap looks at the repository that a folder lies in; false outside of one.
// What git does not say in time is left out.
func Snap(ctx context.Context, folder string) (Snapshot, bool) {
	snap := Snapshot{Branch: Branch(folder)}
	if snap.Branch == "" {
		return snap, false
	}
	g := git{program: sandbox.LookPath("git"), folder: folder}
	if g.program == "" || !g.disarm(ctx) {
		return snap, true
	}
	var both sync.WaitGroup
	both.Go(func() {
		snap.Counted = g.run(ctx, snap.count(), "status", "--porcelain=v2", "--untracked-files=normal", "--ignore-submodules=all")
	})
	both.Go(func() {
		var log strings.Builder
		if g.run(ctx, func(s string) { log.WriteString(s) }, "log", "--no-show-signature", "--no-decorate", "--no-color", "--format=%h %s", "-n5") {
			snap.Commits = subjects(log.String())
		}
	})
	both.Wait()
	return snap, true
}

// count returns what counts the lines of a status as they come.
func (s *Snapshot) count() func(string) {
	begin := true
	return func(text string) {
		for _, c := range []byte(text) {
			if begin {
				switch c {
				case '1', '2', 'u':
					s.Modified++
				case '?':
					s.Untracked++
				}
			}
			begin = c == '\n'
		}
	}
}

func subjects(log string) []string {
	var out []string
	for line := range strings.Lines(log) {
		r := []rune(strings.TrimSpace(line))
		if len(r) > maxSubject {
			r = append(r[:maxSubject], '…')
		}
		if len(r) > 0 && len(out) < maxCommits {
			out = append(out, string(r))
		}
	}
	return out
}

// A filter may have any name, also one with an equals sign, where -c would end
// the name. --config-env ends it at the last one, takes the value from a
// variable, and is refused by a git that does not know it: then none is run.
const (
	nothingVariable = "ATELIER_GIT_NOTHING"
	falseVariable   = "ATELIER_GIT_FALSE"
)

// git runs git on a repository that may be hostile: its configuration can name
// programs to run, so everything of the kind is switched off.
type git struct {
	program, folder string
	filters         []string // arguments that switch the repository's filters off
}

// disarm finds the filters that the repository brings along; false where git
// does not say, or where one's name came through as something else.
func (g *git) disarm(ctx context.Context) bool {
	var list strings.Builder
	if !g.run(ctx, func(s string) { list.WriteString(s) }, "config", "--list", "--show-scope", "--name-only", "-z") {
		return false
	}
	fields := strings.Split(list.String(), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		name, isFilter := strings.CutPrefix(fields[i+1], "filter.")
		dot := strings.LastIndexByte(name, '.')
		if scope := fields[i]; !isFilter || dot < 0 || scope != "local" && scope != "worktree" {
			continue
		}
		if strings.ContainsRune(name, utf8.RuneError) { // it is no UTF-8: what it was is not known
			return false
		}
		for _, setting := range []string{"clean=" + nothingVariable, "smudge=" + nothingVariable, "process=" + nothingVariable, "required=" + falseVariable} {
			g.filters = append(g.filters, "--config-env", "filter."+name[:dot]+"."+setting)
		}
	}
	return true
}

// run passes on what a command of git prints; false where it fails.
func (g *git) run(ctx context.Context, output func(string), args ...string) bool {
	argv := slices.Concat(
		[]string{g.program, "--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"},
		g.filters, args)
	environ := append(sandbox.Filter{}.Apply(sandbox.Environ()),
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		nothingVariable+"=", falseVariable+"=false")
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Dir: g.folder, Env: environ, Timeout: gitTimeout, Output: output})
	return err == nil && r.ExitCode == 0 && !r.TimedOut && !r.Interrupted
}
