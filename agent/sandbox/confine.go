package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// ErrNoConfinement is returned for a [Spec] with Confine if the machine cannot
// enforce it. The command has not run: nothing is ever run less confined than
// asked for.
var ErrNoConfinement = errors.New("commands cannot be confined here")

// Confinement says how much of a [confine.Profile] is enforced on this machine.
// The first call tries it, after every [Hold] is released.
func Confinement(ctx context.Context, weaker bool) confine.Level {
	if starts.wait(ctx) != nil {
		return confine.Level{}
	}
	return means(weaker).level()
}

// CanConfine reports whether [Spec.Confine] works on this machine.
func CanConfine(ctx context.Context) bool { return Confinement(ctx, false).Works() }

// enforcer is one of the system's means to confine commands. Each system has
// its own function means, which returns the best one that works. It is asked
// often and remembers what it found.
type enforcer interface {
	level() confine.Level
	// jail prepares to run spec's command, whose program is argv, under
	// spec.Confine. The jail releases what jail allocated, even if the command
	// does not start.
	jail(spec Spec, argv []string) (*jail, error)
}

// planChanged is why a command did not start: something at a path was replaced, as an
// editor does that saves a file, between the plan and the moment when it was carried out.
// A new plan may hold.
type planChanged struct{ path string }

func (p *planChanged) Error() string {
	return fmt.Sprintf("%v: another command changed %s while this one was being confined; try again, or stop the other one", ErrNoConfinement, p.path)
}

func (*planChanged) Unwrap() error { return ErrNoConfinement }

// jail is a command as it is started by an [enforcer].
type jail struct {
	argv []string
	env  []string // replaces variables of the command's environment
	// files are inherited from descriptor 3 on.
	files []*os.File
	// start starts the command where its rights are reduced; nil if it starts as
	// any other.
	start func(*exec.Cmd) error
	// profile is what the command runs under if that is not the profile asked for
	// word for word; else nil.
	profile *confine.Profile
	// network is the command's; nil if it shares that of this machine.
	network *privateNetwork
	// adjust changes what is left to change of a command that is about to start;
	// it may be nil.
	adjust func(*exec.Cmd)
	// began is called once the command runs; it may be nil. After an error the
	// command is ended.
	began func() error
	// leader returns the leader of the command's process group, or 0 if it is not
	// known; it may be nil.
	leader func() int
	// undo has what puts things back when the command is over, in reverse order.
	undo []func()
}

// enter gives a command about to start what the jail has for it.
func (j *jail) enter(cmd *exec.Cmd) {
	if j == nil {
		return
	}
	cmd.ExtraFiles = j.files
	if j.adjust != nil {
		j.adjust(cmd)
	}
}

// entered is called once the command runs.
func (j *jail) entered() error {
	if j == nil || j.began == nil {
		return nil
	}
	return j.began()
}

// lead returns the leader of the command's process group, given the process
// that was started.
func (j *jail) lead(started *os.Process) *os.Process {
	if j == nil || j.leader == nil {
		return started
	}
	if pid := j.leader(); pid > 0 {
		return &os.Process{Pid: pid}
	}
	return started
}

// unshared are the variables that lead to programs outside, which a confined
// command does not reach, and to folders for temporary files, which it does not
// see.
var unshared = setOf(`XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY SSH_AUTH_SOCK SSH_AGENT_PID
	GPG_AGENT_INFO DOCKER_HOST PULSE_SERVER TMUX STY TMPDIR TMP TEMP`)

// confinedEnviron returns the environment of a confined command: environ, or
// that of the zero [Filter] if it is nil, without what leads outside, and with
// the replacements of its jail.
func confinedEnviron(environ, replaced []string) []string {
	if environ == nil {
		environ = Filter{}.Apply(Environ())
	}
	names := map[string]bool{}
	for _, entry := range replaced {
		name, _, _ := strings.Cut(entry, "=")
		names[name] = true
	}
	out := make([]string, 0, len(environ)+len(replaced))
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); !unshared[name] && !names[name] {
			out = append(out, entry)
		}
	}
	return append(out, replaced...)
}

// releasing is held for reading while jails of ended commands put things back,
// for a few milliseconds. [Shutdown] waits for them.
var releasing sync.RWMutex

// leave releases the jail of a command that has ended, without waiting.
func (j *jail) leave() {
	if j == nil {
		return
	}
	releasing.RLock()
	go func() { // ends soon, because every wait in it is limited
		defer releasing.RUnlock()
		j.release()
	}()
}

// settle waits until no jail is being released.
func settle() {
	releasing.Lock()
	defer releasing.Unlock()
}

// release puts back what the jail changed, once nothing runs in it any more.
func (j *jail) release() {
	if j == nil {
		return
	}
	for i := len(j.undo) - 1; i >= 0; i-- {
		j.undo[i]()
	}
	j.undo = nil
}

// none is the enforcer of a machine that has no means.
type none struct{ found confine.Level }

func (n none) level() confine.Level { return n.found }

func (n none) jail(Spec, []string) (*jail, error) {
	return nil, fmt.Errorf("%w: %s", ErrNoConfinement, n.found.Reason())
}
