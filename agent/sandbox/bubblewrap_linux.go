package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// means returns the best way to confine commands here.
func means(weaker bool) enforcer {
	if l := wholeLauncher(); l.found.Works() {
		return l
	}
	b := wholeBubblewrap()
	if b.found.Works() {
		return b
	}
	if weaker {
		if b := weakerBubblewrap(); b.found.Works() {
			return b
		}
	}
	if l := findLandlock(b.found); l.found.Works() {
		return l
	}
	return none{b.found}
}

// bubblewrap confines with the program of that name: a command has its own
// namespaces, in which it sees the files of its profile and nothing else that
// runs.
type bubblewrap struct {
	program string
	weaker  bool
	found   confine.Level
}

// search looks for a means until it works: bubblewrap may be installed while this
// program runs, or have failed once on a machine with too little memory.
type search[E enforcer] struct {
	mu    sync.Mutex
	last  time.Time // when it looked; zero for never
	found E
}

// searchEvery is how often a search is repeated that found nothing.
const searchEvery = time.Minute

// result returns what was found. Whoever asks while it looks waits.
func (s *search[E]) result(find func() E) E {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() || !s.found.level().Works() && time.Since(s.last) >= searchEvery {
		s.found, s.last = find(), time.Now()
	}
	return s.found
}

var wholeSearch, weakerSearch search[bubblewrap]

func wholeBubblewrap() bubblewrap {
	return wholeSearch.result(func() bubblewrap { return findBubblewrap(false, "/usr/bin/bwrap", LookPath("bwrap")) })
}

func weakerBubblewrap() bubblewrap {
	return weakerSearch.result(func() bubblewrap { return findBubblewrap(true, "/usr/bin/bwrap", LookPath("bwrap")) })
}

// findBubblewrap tries the program at some paths. The system's own comes first,
// because some distributions let only that one create namespaces.
func findBubblewrap(weaker bool, paths ...string) bubblewrap {
	b := bubblewrap{weaker: weaker, found: confine.Level{Lack: confine.LackMissing}}
	for _, path := range slices.Compact(paths) {
		if _, err := os.Stat(path); path == "" || err != nil {
			continue
		}
		b.program = path
		if err := try(b, path, mostTrying); err != nil {
			b.found = confine.Level{Lack: confine.LackRefused, Detail: err.Error()}
			continue
		}
		b.found = confine.Level{By: confine.Bubblewrap, Writes: true, Reads: true, Network: true, Sockets: true, Processes: !weaker}
		if weaker {
			b.found.Lack = confine.LackWeaker
		}
		return b
	}
	return b
}

// mostTrying is how long a bubblewrap may take to run the probe.
const mostTrying = 5 * time.Second

// probe tells whether it runs where it should: in a namespace of processes of its
// own, which begins to count anew, below a root that cannot be changed.
const probe = "[ $$ -lt 10 ] && [ ! -w / ] && echo confined"

// try runs the probe. What is installed under the name of bubblewrap may be a
// script that hangs, prints without an end, succeeds without running anything, or
// runs it unconfined.
func try(by enforcer, program string, most time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	j, err := by.jail(Spec{Confine: &confine.Profile{}, Dir: "/"}, []string{"/bin/sh", "-c", probe})
	if err != nil {
		return err
	}
	defer j.release()
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Env = Filter{Inherit: InheritCore}.Apply(Environ())
	cmd.SysProcAttr = ownSession()
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = grace
	printed := newCapture(500, nil)
	cmd.Stdout, cmd.Stderr = printed, printed
	j.enter(cmd)
	closeDescriptorsOnExec()
	err = cmd.Start()
	if err == nil {
		refused := j.entered()
		if err = cmd.Wait(); refused != nil {
			err = refused
		}
	}
	switch said := strings.TrimSpace(printed.take()); {
	case ctx.Err() != nil:
		return fmt.Errorf("try %s: it did not end: %w: %s", program, ctx.Err(), said)
	case err != nil:
		return fmt.Errorf("try %s: %w: %s", program, err, said)
	case said != "confined":
		return fmt.Errorf("try %s: it did not confine a command: %s", program, said)
	}
	return nil
}

func (b bubblewrap) level() confine.Level { return b.found }

// jail implements [enforcer].
func (b bubblewrap) jail(spec Spec, argv []string) (_ *jail, err error) {
	p := *spec.Confine
	if p.Network == confine.NetworkProxy && p.Proxy == nil {
		p.Network = confine.NetworkNone
	}
	m, err := plan(p, spec.Dir, guarded(p))
	j := &jail{env: append([]string{"TMPDIR=/tmp"}, p.Env...), undo: m.undo}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	if err != nil {
		return nil, err
	}
	args := []string{
		b.program, "--seccomp", "3", "--info-fd", "4", "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL",
	}
	if !p.Nested && !b.weaker {
		args = append(args, "--disable-userns")
	}
	switch p.Network {
	case confine.NetworkFull:
		args = append(args, "--share-net")
	case confine.NetworkProxy:
		args = append(args, "--block-fd", "5")
		j.env = append(j.env, p.Proxy.Environ(gatewayAddress, false)...)
	}
	if spec.TTY {
		argv, err = controlling(argv)
	} else {
		args = append(args, "--new-session")
	}
	if err != nil {
		return nil, err
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev")
	if b.weaker {
		args = append(args, "--ro-bind", "/proc", "/proc")
	} else {
		args = append(args, "--proc", "/proc")
		if os.Geteuid() == 0 { // an administrator writes there without any right that can be given up
			for _, path := range machineSettings {
				args = append(args, "--ro-bind-try", path, path)
			}
		}
	}
	j.argv = slices.Concat(args, m.arguments(), []string{"--"}, argv)
	return j, j.open(m)
}

// arguments returns the plan in bubblewrap's words.
func (m *mounts) arguments() (args []string) {
	for _, step := range m.steps {
		switch step.kind {
		case emptyFolder:
			args = append(args, "--perms", fmt.Sprintf("%04o", step.mode), "--tmpfs", step.path)
		case changeableBind:
			args = append(args, "--bind", step.source, step.path)
		case readableBind:
			args = append(args, "--ro-bind", step.source, step.path)
		}
	}
	if m.dir != "" {
		args = append(args, "--chdir", m.dir)
	}
	return args
}

// machineSettings are what changes the whole machine in /proc.
var machineSettings = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/fs", "/proc/acpi", "/proc/scsi", "/proc/driver", "/proc/asound", "/proc/mtrr"}

// controlling makes the terminal that is argv's standard input its own, so that
// Ctrl-C reaches argv and not bubblewrap.
func controlling(argv []string) ([]string, error) {
	setsid := LookPath("setsid")
	if setsid == "" {
		return nil, fmt.Errorf("%w: a confined command on a terminal needs the program setsid", ErrNoConfinement)
	}
	return append([]string{setsid, "--ctty"}, argv...), nil
}

// open makes the descriptors of bubblewrap: 3 has the rules for system calls, 4
// takes the number of the namespace's first process, and 5, if there is a proxy,
// says when the command may begin.
func (j *jail) open(m *mounts) error {
	rules, err := socketRules(m.profile)
	if err != nil {
		return err
	}
	filter, hold, err := filterFile(rules, m.guarded)
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() { _ = errors.Join(filter.Close(), hold.close()) })
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() { _ = errors.Join(read.Close(), write.Close()) })
	j.files = []*os.File{filter, write}
	var way *gateway
	if m.profile.Network == confine.NetworkProxy {
		if way, err = newGateway(m.profile.Proxy); err != nil {
			return err
		}
		j.files = append(j.files, way.held)
		j.undo = append(j.undo, way.close)
	}
	var space namespace
	j.began = func() error {
		_ = errors.Join(filter.Close(), write.Close())
		var info struct {
			First int `json:"child-pid"`
		}
		if json.NewDecoder(read).Decode(&info) != nil {
			return nil // bubblewrap says what is wrong
		}
		if err := space.enter(info.First); err != nil {
			return err
		}
		if way != nil {
			if err := way.open(space.first()); err != nil {
				return err
			}
		}
		err := hold.release(func() error { return m.inspect(space.first()) })
		if err != nil {
			space.kill() // before the pipe is closed, which would let the command begin
		}
		return err
	}
	j.leader = func() int { return leaderBelow(space.first()) }
	j.undo = append(j.undo, space.empty)
	return nil
}
