package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// launcher confines as bubblewrap does, with a small program of ours that is a
// part of this one: launcher/launcher.c. It is several times faster, because it
// makes each mount with a few calls and reads no table of mounts, and it follows
// no link, so that nothing has to be inspected afterwards. Bubblewrap takes its
// place where it does not work: on a kernel that is older than 5.12, in a build
// without it, and where the system lets only certain programs make namespaces.
type launcher struct {
	program string
	found   confine.Level
}

var launcherSearch search[launcher]

func wholeLauncher() launcher { return launcherSearch.result(findLauncher) }

// findLauncher tries the launcher.
func findLauncher() launcher {
	program, err := launcherProgram()
	l := launcher{program: program}
	if err == nil {
		err = try(l, "the launcher", mostTrying)
	}
	if err != nil {
		l.found = confine.Level{Lack: confine.LackRefused, Detail: err.Error()}
		return l
	}
	l.found = confine.Level{By: confine.Namespaces, Writes: true, Reads: true, Network: true, Sockets: true, Processes: true}
	return l
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
	m, err := plan(p, dir, true)
	j := &jail{argv: append([]string{l.program}, argv...), env: append([]string{"TMPDIR=/tmp", "PWD=" + m.dir}, p.Env...), undo: m.undo}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	if err != nil {
		return nil, err
	}
	var flags uint32
	var way *gateway
	switch p.Network {
	case confine.NetworkFull:
		flags |= planSharesNetwork
	case confine.NetworkProxy:
		way = &gateway{proxy: p.Proxy}
		j.env = append(j.env, p.Proxy.Environ(gatewayAddress, false)...)
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
	return j, j.talk(m, text, way)
}

// talk makes the descriptors of the launcher: 3 has the plan, and over 4 it talks
// with this program.
func (j *jail) talk(m *mounts, text []byte, way *gateway) error {
	written, err := sealedFile("atelier-plan", text, unix.MFD_NOEXEC_SEAL)
	if err != nil {
		return err
	}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return errors.Join(fmt.Errorf("make a way to the launcher: %w", err), written.Close())
	}
	_ = unix.SetNonblock(ends[0], true) // so that a wait for it can be interrupted
	ours, theirs := os.NewFile(uintptr(ends[0]), "launcher"), os.NewFile(uintptr(ends[1]), "launcher")
	j.undo = append(j.undo, func() { _ = errors.Join(written.Close(), ours.Close(), theirs.Close()) })
	if way != nil {
		j.undo = append(j.undo, way.close)
	}
	j.files = []*os.File{written, theirs}
	var space namespace
	j.began = func() error {
		_ = errors.Join(written.Close(), theirs.Close())
		return m.attend(ours, &space, way)
	}
	j.leader = func() int { return leaderBelow(space.first()) }
	j.undo = append(j.undo, space.empty)
	return nil
}

// attend follows the launcher until the command runs.
func (m *mounts) attend(conn *os.File, space *namespace, way *gateway) error {
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
	if way != nil {
		if err := way.serve(space.first()); err != nil {
			space.kill()
			return err
		}
	}
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
