package project

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/internal/gitguard"
	"atelier.dev/atelier/agent/sandbox"
)

const (
	// gitTimeout limits each command: a session does not wait longer for
	// optional facts.
	gitTimeout = 3 * time.Second
	// maxCommits and maxSubject limit the history that is reported.
	maxCommits = 5
	maxSubject = 100
)

// Snapshot is the state of a repository at one moment (LOOP-46).
type Snapshot struct {
	Branch string // as [Branch] returns it
	// Counted says that the two counts are known.
	Counted             bool
	Modified, Untracked int
	Commits             []string // short hash and subject, newest first
}

// Snap returns the state of the repository that contains a folder; it reports
// false if there is none. Facts that git does not report in time are left out.
func Snap(ctx context.Context, folder string) (Snapshot, bool) {
	snap := Snapshot{Branch: Branch(folder)}
	if _, _, ok := repository(folder); !ok {
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

// count returns a function that counts the lines of a status as they come.
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

// git runs git on a repository that may be hostile; see [gitguard].
type git struct {
	program, folder string
	off             []string // arguments that switch off the repository's programs
}

// disarm finds the filters and hooks that are configured. It reports false if
// git does not list them, or if a name was garbled.
func (g *git) disarm(ctx context.Context) bool {
	var list strings.Builder
	if !g.run(ctx, func(s string) { list.WriteString(s) }, gitguard.ListPrograms()...) {
		return false
	}
	programs, ok := gitguard.Find(list.String())
	g.off = programs.Off()
	return ok
}

// run passes on the output of a git command; it reports false if the command
// fails.
func (g *git) run(ctx context.Context, output func(string), args ...string) bool {
	argv := slices.Concat([]string{g.program}, gitguard.Arguments(), g.off, args)
	environ := append(sandbox.Filter{}.Apply(sandbox.Environ()), gitguard.Variables()...)
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Dir: g.folder, Env: environ, Timeout: gitTimeout, Output: output})
	return err == nil && r.ExitCode == 0 && !r.TimedOut && !r.Interrupted
}
