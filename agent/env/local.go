package env

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
)

// Local is this machine, seen from a working directory (LOOP-35, LOOP-120).
//
// Files below the working directory are opened beneath it, so that no
// symbolic link leads out, not even one that is swapped in meanwhile (K-39).
// Files elsewhere are opened by their absolute path: whether a tool may do
// that, the permission gate has decided before.
type Local struct {
	// Filter makes the environment of commands. Set it before first use.
	Filter sandbox.Filter

	dir  string // absolute, as the user names it
	real string // dir without symbolic links
	// ripgrep is the program to search with; empty means our own search.
	ripgrep string
}

var _ Environment = (*Local)(nil)

// NewLocal returns the local environment with the given working directory.
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
	return &Local{dir: abs, real: real, ripgrep: sandbox.LookPath("rg")}, nil
}

// Initialize implements [Host]. A Local is ready once it exists.
func (l *Local) Initialize(context.Context) error { return nil }

// Cleanup implements [Host]. A Local holds nothing.
func (l *Local) Cleanup(context.Context) error { return nil }

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

// Exec implements [Commands] with bash, without any of its start-up files,
// or cmd.exe on Windows.
func (l *Local) Exec(ctx context.Context, c Command) (CommandResult, error) {
	dir := c.Dir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(l.dir, dir)
	}
	argv := []string{"/bin/bash", "--norc", "--noprofile", "-c", c.Line}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd.exe", "/c", c.Line}
	}
	environ := slices.DeleteFunc(l.Filter.Apply(os.Environ()), func(entry string) bool {
		return strings.HasPrefix(entry, "BASH_ENV=") // a start-up file too
	})
	return sandbox.Run(ctx, sandbox.Spec{
		Argv: argv, Dir: dir, Env: append(append(environ, "PWD="+dir), c.Env...),
		Timeout: c.Timeout, Merge: c.Merge, Output: c.Output,
	})
}
