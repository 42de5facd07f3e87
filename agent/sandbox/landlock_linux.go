package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"unsafe"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// landlock confines with the kernel alone, where the launcher may not make
// namespaces: a thread gives up rights, starts the command, which inherits
// what is left, and ends. Commands see the processes of the machine, and share
// its network and its file tree. What this cannot give, [landlock.jail] refuses
// and [confine.Level] says.
type landlock struct {
	version int // of the kernel's interface
	// signals says that the kernel keeps commands from ending other programs, and
	// threads of this program from being cut off with them.
	signals bool
	found   confine.Level
}

// The versions of the kernel's interface that matter here.
const (
	landlockTruncate = 3 // files cannot be emptied either; nothing older is used
	landlockNetwork  = 4
	landlockDevices  = 5
	landlockScopes   = 6
)

// landlockSignalsMended is the bit for a kernel in which threads of a program
// that are confined differently still reach each other. Go needs that.
const landlockSignalsMended = 1 << 1

// findLandlock asks the kernel. The level repeats why the launcher is not used.
func findLandlock(instead confine.Level) landlock {
	version, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		version = 0
	}
	errata, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	if errno != 0 {
		errata = 0
	}
	return landlockOf(int(version), int(errata), instead)
}

// landlockOf returns what a kernel of a version can do.
func landlockOf(version, errata int, instead confine.Level) landlock {
	l := landlock{version: version, signals: version >= landlockScopes && errata&landlockSignalsMended != 0, found: instead}
	if _, known := architectures[runtime.GOARCH]; version < landlockTruncate || !known {
		return l
	}
	l.found = confine.Level{By: confine.Landlock, Writes: true, Reads: true, Network: true, Sockets: true, Lack: confine.LackMounts, Detail: instead.Reason()}
	if !l.signals {
		l.found.Lack = confine.LackSignals
	}
	return l
}

func (l landlock) level() confine.Level { return l.found }

// jail implements [enforcer].
func (l landlock) jail(spec Spec, argv []string) (_ *jail, err error) {
	p := spec.Confine.WithoutLayers()
	if p.Network == confine.NetworkProxy && p.Proxy == nil {
		p.Network = confine.NetworkNone
	}
	switch {
	case p.Network == confine.NetworkProxy:
		return nil, fmt.Errorf("%w: without namespaces of their own they reach every host or none, and the settings allow some; remove allowedDomains, or have the system allow namespaces", ErrNoConfinement)
	case p.Sockets == confine.SocketsAll:
		return nil, fmt.Errorf("%w: without namespaces no socket can be kept from them, and the settings allow all; remove allowAllUnixSockets, or have the system allow namespaces", ErrNoConfinement)
	}
	j := &jail{argv: argv}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	if p.Temp == "" {
		if p.Temp, err = os.MkdirTemp("", "atelier-"); err != nil {
			return nil, fmt.Errorf("make the command's folder for temporary files: %w", err)
		}
		temp := p.Temp
		j.undo = append(j.undo, func() { _ = os.RemoveAll(temp) })
	}
	if p.Temp, err = filepath.EvalSymlinks(p.Temp); err != nil {
		return nil, fmt.Errorf("the folder for temporary files cannot be found: %w", err)
	}
	where, err := territoryOf(p, spec.Dir)
	if err != nil {
		return nil, err
	}
	rules, err := l.ruleset(p, where)
	if err != nil {
		return nil, errors.Join(ErrNoConfinement, err)
	}
	var closed sync.Once
	release := func() { closed.Do(func() { _ = unix.Close(rules) }) }
	j.undo = append(j.undo, release)
	calls, err := hostRules(p)
	if err != nil {
		return nil, err
	}
	j.env = append([]string{"TMPDIR=" + p.Temp, "TMPPREFIX=" + filepath.Join(p.Temp, "zsh")}, p.Env...)
	p.Frozen = where.frozen()
	j.profile = &p
	j.adjust = func(cmd *exec.Cmd) {
		if spec.TTY {
			cmd.SysProcAttr = ownTerminal()
		}
	}
	j.start = func(cmd *exec.Cmd) error {
		defer release()
		return onOwnThread(func() error {
			if err := restrictThread(rules, calls); err != nil {
				return errors.Join(ErrNoConfinement, err)
			}
			return cmd.Start()
		})
	}
	return j, nil
}

// The rights on a folder, and those of them that apply to a file.
const (
	landlockRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockWrite = landlockRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
	landlockDevice = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	landlockFile   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// ruleset returns the kernel's rules for a profile: a descriptor, which the
// caller closes.
func (l landlock) ruleset(p confine.Profile, where territory) (rules int, err error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: landlockWrite | landlockDevice}
	if l.version >= landlockDevices {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if l.version >= landlockNetwork && p.Network == confine.NetworkNone {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if l.version >= landlockScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	if l.signals {
		attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
	}
	size := unsafe.Offsetof(attr.Quiet_access_fs)
	if l.version < landlockScopes {
		size = unsafe.Offsetof(attr.Scoped)
	}
	if l.version < landlockNetwork {
		size = unsafe.Offsetof(attr.Handled_access_net)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("make rules for the kernel: %w", errno)
	}
	err = where.grant(func(path string, a access) error { return allowBeneath(int(fd), attr.Handled_access_fs, path, a) })
	if err != nil {
		return -1, errors.Join(err, unix.Close(int(fd)))
	}
	return int(fd), nil
}

// allowBeneath allows something in a folder, or with a file, if it exists.
func allowBeneath(rules int, handled uint64, path string, a access) error {
	// A command that still runs may have put a link into the way meanwhile.
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil //nolint:nilerr // it is gone, or nobody of this user reaches it
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	allowed := map[access]uint64{
		listed: unix.LANDLOCK_ACCESS_FS_READ_DIR, readable: landlockRead, changeable: landlockWrite | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	}[a]
	switch info.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
		allowed &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	default:
		allowed &= landlockFile
	}
	if allowed == 0 { // a file of which only the name is seen
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: allowed & handled, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("make a rule for %s: %w", path, errno)
	}
	return nil
}

// onOwnThread calls f on a thread that ends with it, so that f may change what a
// thread keeps for good. The program's first thread does not end, and is not
// taken.
func onOwnThread(f func() error) error {
	done := make(chan error)
	go func() { // ends with f, and as it does not unlock its thread, that ends too
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		done <- f()
	}()
	return <-done
}

// restrictThread takes from this thread, and from what it starts, every right
// that the rules do not give.
func restrictThread(rules int, calls []unix.SockFilter) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(rules), 0, 0); errno != 0 {
		return fmt.Errorf("apply the rules for files: %w", errno)
	}
	program := unix.SockFprog{Len: uint16(len(calls)), Filter: &calls[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("apply the rules for system calls: %w", err)
	}
	return nil
}
