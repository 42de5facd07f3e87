package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox"
)

// Links remembers the repositories that an index has, until the index changes. Its zero
// value remembers none. It is safe for concurrent use.
type Links struct {
	mu    sync.Mutex
	index string
	info  os.FileInfo
	paths []string
}

// of returns the paths of the repositories in an index, relative to the working tree.
func (l *Links) of(ctx context.Context, r Repository) []string {
	index := filepath.Join(r.dir, "index")
	info, err := os.Stat(index)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	known := l.index == index && l.info != nil && os.SameFile(l.info, info) && l.info.ModTime().Equal(info.ModTime()) && l.info.Size() == info.Size()
	paths := l.paths
	l.mu.Unlock()
	if known {
		return paths
	}
	out, err := r.git(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil
	}
	paths = nil
	for entry := range strings.SplitSeq(out, "\x00") {
		if rest, ok := strings.CutPrefix(entry, "160000 "); ok {
			_, path, _ := strings.Cut(rest, "\t")
			paths = append(paths, path)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index, l.info, l.paths = index, info, paths
	return paths
}

// patience is how long git may take, and mostIndex how much it may print, in bytes.
const (
	patience  = 20 * time.Second
	mostIndex = 64 << 20
)

// git runs git on the repository without anything that the repository could have it run.
func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	fixed := []string{"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--git-dir=" + r.dir, "--work-tree=" + r.tree}
	end, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append(fixed, args...), Dir: r.tree, Timeout: patience, Limit: mostIndex, Whole: true,
		Env: append(sandbox.Filter{}.Apply(sandbox.Environ()), "GIT_OPTIONAL_LOCKS=0"),
	})
	if err == nil && end.ExitCode != 0 {
		err = fmt.Errorf("git %s: exit code %d: %s", args[0], end.ExitCode, strings.TrimSpace(end.Stderr))
	}
	return end.Stdout, err
}
