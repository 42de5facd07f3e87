package env

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
)

// Local is this machine, seen from a working directory (LOOP-35, LOOP-120).
//
// Files in the working directory are opened below it, so that no symbolic link
// leads out, not even one that is swapped in during the call (K-39). Other
// files are opened by their absolute path, because the permission gate has
// already decided whether a tool may do that.
type Local struct {
	// Filter filters the environment of commands. SpillDir is the folder for
	// output that exceeds the memory limit; if it is empty, that output is
	// dropped. Set both before first use.
	Filter   sandbox.Filter
	SpillDir string
	// Confine returns how commands are confined, or false if they are not. It is
	// asked for every command; nil means that no command is. Set it before first
	// use.
	Confine func(ctx context.Context) (Confining, bool)

	dir  string // absolute, as the user named it
	real string // dir without symbolic links
	// ripgrep is the path of the ripgrep program; empty means our own search.
	ripgrep string
	started *started
	secrets *secretFiles
}

var _ Environment = (*Local)(nil)

// NewLocal returns the local environment with the given working directory, which
// is the process's own if dir is empty.
func NewLocal(dir string) (*Local, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", explain(dir, err))
	}
	if _, err := os.ReadDir(real); err != nil {
		return nil, fmt.Errorf("open folder: %w", explain(dir, err))
	}
	return &Local{dir: abs, real: real, ripgrep: sandbox.LookPath("rg"), started: newStarted(), secrets: &secretFiles{}}, nil
}

// Initialize implements [Host]. A Local needs no preparation.
func (l *Local) Initialize(context.Context) error { return nil }

// WorkingDirectory implements [Host].
func (l *Local) WorkingDirectory() string { return l.dir }

// Platform implements [Host].
func (l *Local) Platform() string { return runtime.GOOS }

// OSVersion implements [Host]: the distribution and the kernel on Linux, the
// platform elsewhere.
func (l *Local) OSVersion() string {
	name := runtime.GOOS
	release, _ := os.ReadFile("/etc/os-release")
	for line := range strings.Lines(string(release)) {
		if pretty, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
			name = strings.Trim(strings.TrimSpace(pretty), `"`)
		}
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		name += ", kernel " + strings.TrimSpace(string(kernel))
	}
	return name
}
