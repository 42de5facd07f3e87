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

// ErrNoConfinement is returned for a read-only command if the machine cannot
// confine it.
var ErrNoConfinement = errors.New("commands cannot be kept from changing files here: bubblewrap is missing or not allowed to work")

// CanConfine reports whether [Spec.ReadOnly] works on this machine. The first
// call tries it, after every [Hold] is released.
func CanConfine(ctx context.Context) bool {
	return starts.wait(ctx) == nil && bubblewrap() != ""
}

// bubblewrap returns the path of the program if it works. The system's own is
// preferred, because some distributions let only that one create namespaces.
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

// confinement has bubblewrap's arguments for a read-only command. The command
// sees every file and cannot change any. It has private folders for temporary
// files, no network, no capabilities, no other processes to signal, and no
// socket to reach another program; see [socketFilter], which is descriptor 3.
// The system's sockets in /run and /tmp are hidden as well.
var confinement = []string{
	"--seccomp", "3",
	"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
	"--tmpfs", "/run", "--ro-bind-try", "/run/current-system", "/run/current-system",
	"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
}

// confined wraps a command. Its working directory stays visible even if it is
// in a folder that the confinement hides.
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
