package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent/internal/gitguard"
	"atelier.dev/atelier/agent/sandbox"
)

// askTime limits a question to git.
const askTime = 20 * time.Second

// maxOutput limits what git may print, in bytes: the list of all files of a repository.
const maxOutput = 64 << 20

// git runs git in a folder of a repository that may be hostile; see [gitguard].
type git struct {
	program, dir string
	limit        time.Duration // of each run
	off          []string      // arguments that switch off the repository's programs
	top          string        // of the working tree
	prefix       string        // the folder below the top; empty if it is the top
	common       string        // git's own folder, which all worktrees share
}

// configured are settings by which a repository could run programs, or change what
// is read from git's output.
var configured = []string{
	"-c", "safe.bareRepository=explicit", "-c", "status.showUntrackedFiles=normal", "-c", "submodule.recurse=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.editor=false", "-c", "core.sshCommand=false", "-c", "core.askPass=false",
	"-c", "credential.helper=", "-c", "rerere.enabled=false",
}

// elsewhere are the variables that lead git to another repository. A program
// inherits them if git started it.
var elsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE",
}

// open finds the repository of a folder, and its programs.
func open(ctx context.Context, dir string) (*git, error) {
	g := &git{program: sandbox.LookPath("git"), dir: dir, limit: askTime}
	if g.program == "" {
		return nil, errors.New("git is not installed: install it" + instead)
	}
	found, err := g.run(ctx, "rev-parse", "--is-inside-work-tree", "--show-toplevel", "--git-common-dir")
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	lines := strings.Split(found, "\n")
	if err != nil || len(lines) != 3 || lines[0] != "true" {
		return nil, errors.Join(fmt.Errorf("%s is not a folder with files in a git repository: make it one and commit (git init)"+instead, dir), err)
	}
	if g.top, err = filepath.EvalSymlinks(filepath.FromSlash(lines[1])); err != nil {
		return nil, fmt.Errorf("find the top of the repository: %w", err)
	}
	g.common = filepath.FromSlash(lines[2])
	if !filepath.IsAbs(g.common) {
		g.common = filepath.Join(dir, g.common)
	}
	if g.common, err = filepath.EvalSymlinks(g.common); err != nil {
		return nil, fmt.Errorf("find git's folder: %w", err)
	}
	if g.prefix, err = filepath.Rel(g.top, dir); err != nil || !filepath.IsLocal(g.prefix) {
		return nil, fmt.Errorf("git says that the files of %s are in %s, which is not possible"+instead, dir, g.top)
	}
	if g.prefix == "." {
		g.prefix = ""
	}
	return g, g.disarm(ctx)
}

// disarm finds the filters and hooks that are configured, so that they do not run.
func (g *git) disarm(ctx context.Context) error {
	list, err := g.run(ctx, gitguard.ListPrograms()...)
	if err != nil {
		return err
	}
	programs, ok := gitguard.Find(list)
	if !ok {
		return errors.New("git does not list the repository's filters and hooks, which could run programs" + instead)
	}
	g.off = programs.Off()
	return nil
}

// run runs git and returns its output without the newline at the end.
func (g *git) run(ctx context.Context, args ...string) (string, error) {
	environ := slices.DeleteFunc(sandbox.Filter{}.Apply(sandbox.Environ()), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(elsewhere, strings.ToUpper(name))
	})
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: slices.Concat([]string{g.program}, gitguard.Arguments(), configured, g.off, args),
		Dir:  g.dir, Env: append(environ, gitguard.Variables()...), Timeout: g.limit, Limit: maxOutput,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("run git %s: %w", args[0], err)
	case ctx.Err() != nil:
		return "", fmt.Errorf("run git %s: %w", args[0], context.Cause(ctx))
	case r.TimedOut:
		return "", fmt.Errorf("git %s took longer than %s", args[0], g.limit)
	case r.ExitCode != 0 || r.Dropped > 0:
		return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(r.Stderr))
	}
	return strings.TrimSuffix(r.Stdout, "\n"), nil
}
