package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrNoConfinement is returned where a read-only command was asked for and
// the machine has nothing to keep it so.
var ErrNoConfinement = errors.New("commands cannot be kept from changing files here: bubblewrap is missing or not allowed to work")

// CanConfine reports whether [Spec.ReadOnly] works on this machine. The first
// call tries it out, after [Hold]s.
func CanConfine(ctx context.Context) bool {
	return starts.wait(ctx) == nil && bubblewrap() != ""
}

// bubblewrap returns the program if it works. The system's own is preferred:
// on some distributions only that one may make namespaces.
var bubblewrap = sync.OnceValue(func() string {
	for _, path := range []string{"/usr/bin/bwrap", LookPath("bwrap")} {
		if path != "" && works(path) {
			return path
		}
	}
	return ""
})

func works(path string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	filter, err := socketFilter()
	if err != nil {
		return false
	}
	defer filter.Close()
	cmd := exec.CommandContext(ctx, path, append(slices.Clone(confinement), "--", "/bin/sh", "-c", "exit 0")...)
	cmd.Env = Filter{Inherit: InheritCore}.Apply(Environ())
	cmd.ExtraFiles = []*os.File{filter}
	cmd.SysProcAttr = ownSession()
	closeDescriptorsOnExec()
	return cmd.Run() == nil
}

// confinement is what bubblewrap does to a read-only command: it sees every
// file and can change none, has private folders for what is temporary, no
// network, no capability, no process to signal but its own, and no socket to
// ask another program by; see [socketFilter], which is descriptor 3. Those of the
// system's services in /run and /tmp are out of sight besides.
var confinement = []string{
	"--seccomp", "3",
	"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
	"--tmpfs", "/run", "--ro-bind-try", "/run/current-system", "/run/current-system",
	"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
}

// confined wraps a command. Its working directory stays in sight where it
// lies in a folder that the confinement hides.
func confined(dir string, argv []string) ([]string, error) {
	program := bubblewrap()
	if program == "" {
		return nil, ErrNoConfinement
	}
	wrapped := append([]string{program}, confinement...)
	if strings.HasPrefix(dir, "/tmp/") || strings.HasPrefix(dir, "/run/") {
		wrapped = append(wrapped, "--ro-bind", dir, dir)
	}
	if dir != "" {
		wrapped = append(wrapped, "--chdir", dir)
	}
	return append(append(wrapped, "--"), argv...), nil
}
