package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// loginTimeout limits the start-up files of the login shell.
const loginTimeout = 5 * time.Second

// loginPath is the PATH of children; nil means this program's own. The
// program's environment is not changed, because C code may read it at any time.
var loginPath atomic.Pointer[string]

func searchPath() string {
	if login := loginPath.Load(); login != nil {
		return *login
	}
	return os.Getenv("PATH")
}

// UseLoginPath gives later children the PATH that the user has in a terminal,
// if this program was started elsewhere, such as by a desktop launcher with a
// short PATH. It asks the login shell, after every [Hold] is released like
// [Run], and takes only the PATH from it. On an error the PATH stays.
func UseLoginPath(ctx context.Context) error {
	if term := os.Getenv("TERM"); term != "" && term != "dumb" {
		return nil // from a terminal, perhaps with an activated environment
	}
	path, err := askLoginShell(ctx, os.Getenv("SHELL"))
	if err != nil {
		return fmt.Errorf("read PATH of the login shell: %w", err)
	}
	path = joinPaths(path, os.Getenv("PATH"))
	loginPath.Store(&path)
	return nil
}

// askLoginShell returns the unchanged PATH after all start-up files, including
// those for interactive shells, where most people set it.
func askLoginShell(ctx context.Context, shell string) (string, error) {
	if !filepath.IsAbs(shell) {
		return "", errors.New("SHELL names none")
	}
	fence := rand.Text()
	r, err := Run(ctx, Spec{
		Argv: []string{shell, "-l", "-i", "-c", "echo " + fence + "; printenv PATH; echo " + fence},
		Env:  Filter{}.Apply(Environ()), Timeout: loginTimeout, Limit: 256 << 10,
	})
	if err != nil {
		return "", err
	}
	if path, ok := fenced(r.Stdout, fence); ok {
		return path, nil
	}
	return "", fmt.Errorf("%s did not print it (exit code %d, timed out: %t)", shell, r.ExitCode, r.TimedOut)
}

// fenced returns the line between two lines equal to fence, whatever start-up
// files print around them.
func fenced(output, fence string) (string, bool) {
	_, rest, _ := strings.Cut(output, fence+"\n")
	path, _, ok := strings.Cut(rest, "\n"+fence)
	return path, ok && path != "" && !strings.ContainsRune(path, '\n')
}

// joinPaths joins the folders of search paths in order. Only absolute ones
// count, so that no program in a project runs by accident.
func joinPaths(paths ...string) string {
	var dirs []string
	for _, path := range paths {
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) && !strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' }) {
				dirs = append(dirs, dir)
			}
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
