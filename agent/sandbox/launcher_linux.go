package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// launcher confines with namespaces: a command sees the files of its profile and
// nothing else that runs. A small program of ours that is a part of this one,
// launcher/launcher.c, makes them. docs/decisions/0001-confinement.md says why it
// is not bubblewrap.
type launcher struct {
	program string
	weaker  bool // works where nobody may mount /proc, as in a container
	found   confine.Level
}

var wholeSearch, weakerSearch search

func wholeLauncher() launcher {
	return wholeSearch.result(func() launcher { return findLauncher(false) })
}
func weakerLauncher() launcher {
	return weakerSearch.result(func() launcher { return findLauncher(true) })
}

// findLauncher tries the launcher.
func findLauncher(weaker bool) launcher {
	program, err := launcherProgram()
	l := launcher{program: program, weaker: weaker}
	if len(launcherBinary) == 0 {
		l.found = confine.Level{Lack: confine.LackMissing, Detail: err.Error()}
		return l
	}
	if err == nil {
		err = try(l)
	}
	if err != nil {
		l.found = confine.Level{Lack: confine.LackRefused, Detail: err.Error()}
		return l
	}
	l.found = confine.Level{By: confine.Namespaces, Writes: true, Reads: true, Network: true, Sockets: true, Processes: !weaker}
	if weaker {
		l.found.Lack = confine.LackWeaker
	}
	return l
}

// means returns the best way to confine commands here.
func means(weaker bool) enforcer {
	l := wholeLauncher()
	if l.found.Works() {
		return l
	}
	if weaker {
		if l := weakerLauncher(); l.found.Works() {
			return l
		}
	}
	if l := findLandlock(l.found); l.found.Works() {
		return l
	}
	return none{l.found}
}

// search looks for the launcher until it works: it may have failed once on a
// machine with too little memory, or before its user let it make namespaces.
type search struct {
	mu    sync.Mutex
	last  time.Time // when it looked; zero for never
	found launcher
}

// searchEvery is how often a search is repeated that found nothing.
const searchEvery = time.Minute

// result returns what was found. Whoever asks while it looks waits.
func (s *search) result(find func() launcher) launcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.IsZero() || !s.found.found.Works() && time.Since(s.last) >= searchEvery {
		s.found, s.last = find(), time.Now()
	}
	return s.found
}

// probe tells whether it runs where it should: in a namespace of processes of its
// own, which begins to count anew, below a root that cannot be changed.
const probe = "[ $$ -lt 10 ] && [ ! -w / ] && echo confined"

// mostTrying is how long the launcher may take to run the probe.
const mostTrying = 5 * time.Second

// try runs the probe.
func try(l launcher) error {
	ctx, cancel := context.WithTimeout(context.Background(), mostTrying)
	defer cancel()
	r, err := Run(ctx, Spec{
		by: l, Argv: []string{"/bin/sh", "-c", probe}, Dir: "/", Confine: &confine.Profile{}, Merge: true, Limit: 500,
		Env: Filter{Inherit: InheritCore}.Apply(Environ()),
	})
	switch said := strings.TrimSpace(r.Stdout); {
	case err != nil:
		return fmt.Errorf("try the launcher: %w", err)
	case r.ExitCode != 0 || said != "confined":
		return fmt.Errorf("try the launcher: exit code %d: %s", r.ExitCode, said)
	}
	return nil
}

// launcherProgram puts the launcher where it can be executed: in a file without a
// name that nobody can change, which lives as long as this program.
var launcherProgram = sync.OnceValues(func() (path string, err error) {
	if len(launcherBinary) == 0 {
		return "", errors.New("this build has no launcher")
	}
	file, err := sealedFile("atelier-launcher", launcherBinary, unix.MFD_EXEC)
	if err != nil {
		return "", err
	}
	defer file.Close()
	// A child's first descriptors are replaced before it executes the file.
	const high = 100
	fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, high)
	if err != nil {
		return "", fmt.Errorf("keep the launcher open: %w", err)
	}
	return "/proc/self/fd/" + strconv.Itoa(fd), nil
})

// sealedFile returns a file in memory that cannot be changed any more.
func sealedFile(name string, content []byte, flags int) (_ *os.File, err error) {
	flags |= unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.3, where all such files can be executed
		fd, err = unix.MemfdCreate(name, flags&^unix.MFD_EXEC)
	}
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() {
		if err != nil {
			_ = file.Close()
		}
	}()
	if _, err := file.Write(content); err != nil {
		return nil, fmt.Errorf("write a file in memory: %w", err)
	}
	if _, err := unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		return nil, fmt.Errorf("seal a file in memory: %w", err)
	}
	return file, nil
}

func (l launcher) level() confine.Level { return l.found }

// jail implements [enforcer].
func (l launcher) jail(spec Spec, argv []string) (_ *jail, err error) {
	if !filepath.IsAbs(argv[0]) && filepath.Base(argv[0]) == argv[0] {
		return nil, exec.ErrNotFound
	}
	p := *spec.Confine
	if p.Network == confine.NetworkProxy && p.Proxy == nil {
		p.Network = confine.NetworkNone
	}
	dir := spec.Dir
	if dir == "" {
		if dir, err = os.Getwd(); err != nil || isPrivate(dir) {
			dir = "/"
		}
	}
	m, err := plan(p, dir)
	j := &jail{argv: append([]string{l.program, "run"}, argv...), env: slices.Concat([]string{"TMPDIR=/tmp", "PWD=" + m.dir}, p.Env, m.env), undo: m.undo}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	if err != nil {
		return nil, err
	}
	var flags uint32
	var joined []*os.File
	if p.Network == confine.NetworkFull {
		flags |= planSharesNetwork
	} else if joined, err = j.connect(l, spec.Scope.net, p); err != nil {
		return nil, err
	}
	if l.weaker {
		flags |= planWeaker
	}
	if spec.TTY {
		flags |= planTerminal
	}
	if p.Nested {
		flags |= planNested
	}
	rules, err := socketRules(p)
	if err != nil {
		return nil, err
	}
	text, err := m.encode(flags, rules)
	if err != nil {
		return nil, err
	}
	return j, j.talk(m, text, joined)
}

// connect returns the descriptors with which the launcher joins the network of a
// command, and lets the command's proxy answer there. A command whose scope has no
// network gets one of its own.
func (j *jail) connect(l launcher, n *privateNetwork, p confine.Profile) ([]*os.File, error) {
	if n == nil {
		n = new(privateNetwork)
		j.undo = append(j.undo, n.close)
	}
	j.network = n
	joined, err := n.join(l)
	if err != nil || p.Proxy == nil {
		return joined, err
	}
	listener, err := n.listen(l)
	if err != nil {
		return nil, err
	}
	j.env = append(j.env, p.Proxy.Environ(listener.Addr().String(), false)...)
	served := make(chan struct{})
	go func() { // ends with the listener
		defer close(served)
		defer listener.Close() // a proxy that gives up leaves no way out
		p.Proxy.Serve(listener)
	}()
	j.undo = append(j.undo, func() {
		_ = listener.Close()
		<-served
	})
	return joined, nil
}

// talk makes the descriptors of the launcher: over 3 it talks with this program, 4
// has the plan, and with the others it joins a network.
func (j *jail) talk(m *mounts, text []byte, joined []*os.File) error {
	written, err := sealedFile("atelier-plan", text, unix.MFD_NOEXEC_SEAL)
	if err != nil {
		return err
	}
	ours, theirs, err := socketPair()
	if err != nil {
		return errors.Join(err, written.Close())
	}
	j.undo = append(j.undo, func() { _ = errors.Join(written.Close(), ours.Close(), theirs.Close()) })
	j.files = append([]*os.File{theirs, written}, joined...)
	var space namespace
	j.began = func() error {
		_ = errors.Join(written.Close(), theirs.Close())
		return m.attend(ours, &space)
	}
	j.leader = func() int { return leaderBelow(space.first()) }
	j.undo = append(j.undo, space.empty)
	return nil
}

// attend follows the launcher until the command runs.
func (m *mounts) attend(conn *os.File, space *namespace) error {
	first, err := receive(conn)
	if err != nil {
		return m.explain(first, err)
	}
	if first.Stage != stageFirst { // the first process failed before the other one told its number
		return m.explain(first, nil)
	}
	if err := space.enter(int(first.Value)); err != nil {
		return err
	}
	sacrifice(space.first()) // it may have been started before this program said so of its parent
	if _, err := conn.Write([]byte{1}); err != nil && !errors.Is(err, unix.EPIPE) {
		space.kill()
		return fmt.Errorf("let the command begin: %w", err)
	}
	last, err := receive(conn)
	if errors.Is(err, io.EOF) { // the command runs
		return nil
	}
	return m.explain(last, err)
}

// message is what the launcher says.
type message struct {
	Stage uint32
	Value int32
	Step  uint32
}

// The stages that matter here of those in launcher.c.
const (
	stageFirst  = 0
	stageSource = 5
	stageTarget = 9
	stageFolder = 11
	stageRun    = 12
)

// stages says what the launcher was doing when it failed.
var stages = []string{
	"start", "read the plan", "make namespaces", "set up the users", "set up the network", "find what it may see", "set up /dev", "set up /proc",
	"make the file system read-only", "mount what it may see", "give up rights", "change to its folder", "execute it",
}

// receive returns the next message. It fails with [io.EOF] when nobody of the
// launcher has the socket any more.
func receive(conn *os.File) (m message, err error) {
	buf := make([]byte, binary.Size(m))
	n, err := conn.Read(buf)
	if errors.Is(err, unix.ECONNRESET) { // it ended without reading what was sent, and may have said why
		var again error
		if n, again = conn.Read(buf); again == nil {
			err = nil
		}
	}
	if err != nil {
		return m, err
	}
	if _, err := binary.Decode(buf[:n], binary.NativeEndian, &m); err != nil {
		return m, fmt.Errorf("understand the launcher: %w", err)
	}
	return m, nil
}

// explain returns why a command does not run.
func (m *mounts) explain(said message, err error) error {
	if err != nil {
		return fmt.Errorf("follow the start of a confined command: %w", err)
	}
	if int(said.Stage) >= len(stages) {
		return errors.New("the launcher said something that it cannot say")
	}
	errno := unix.Errno(said.Value)
	what := stages[said.Stage]
	switch said.Stage {
	case stageRun, stageFolder:
		return fmt.Errorf("%s: %w", what, errno)
	case stageSource, stageTarget:
		if int(said.Step) >= len(m.steps) {
			break
		}
		step := m.steps[said.Step]
		if step.rank != base && (errno == unix.ESTALE || errno == unix.ELOOP || errno == unix.ENOENT || errno == unix.ENOTDIR) {
			return step.changed()
		}
		what += " at " + step.path
	}
	return fmt.Errorf("%w: the launcher could not %s: %w", ErrNoConfinement, what, errno)
}

// changed is why a command is not confined whose plan does not hold any more.
func (s mount) changed() error { return &planChanged{s.path} }
