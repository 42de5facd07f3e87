package sandbox

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// architectures lists those whose system calls the filter knows by this
// program's own numbers.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32 marks system calls of amd64's second ABI.
const x32 = 0x4000_0000

// socketRules returns the rules for a command that has its own namespaces: which
// sockets it may open. Those of a virtual machine belong to no namespace. Pairs of
// connected sockets always work.
func socketRules(p confine.Profile) ([]unix.SockFilter, error) {
	c := calls{families: []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}, otherwise: unix.EPERM}
	if p.Sockets != confine.SocketsNone {
		c.families = append(c.families, unix.AF_UNIX)
	}
	return c.rules()
}

// hostRules returns the rules for a command that shares the network of this
// machine, and whose file tree nothing but its rights protects. A command that
// may change nothing changes no modes and times either, which no other rule
// covers.
func hostRules(p confine.Profile) ([]unix.SockFilter, error) {
	c := calls{families: []uint32{unix.AF_NETLINK}, otherwise: unix.ENETUNREACH}
	if p.Network == confine.NetworkFull {
		c = calls{families: []uint32{unix.AF_NETLINK, unix.AF_INET, unix.AF_INET6}, otherwise: unix.EPERM}
	}
	if len(p.Writable) == 0 {
		c.refused = slices.Concat(changesOfFiles, olderChangesOfFiles[runtime.GOARCH])
	}
	c.refused = append(c.refused, sharedMemory...)
	c.users = !p.Nested
	return c.rules()
}

// changesOfFiles are the calls that change a file without writing to it, and
// olderChangesOfFiles those that only some processors have.
var (
	changesOfFiles = []uint32{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}
	olderChangesOfFiles = map[string][]uint32{"amd64": {
		90 /* chmod */, 92 /* chown */, 94 /* lchown */, 132 /* utime */, 235 /* utimes */, 261, /* futimesat */
	}}
)

// sharedMemory are the calls for memory and messages that all programs of a user
// share, such as the windows of a display. Other means keep them apart where a
// command has its own namespaces.
var sharedMemory = []uint32{unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_MSGGET, unix.SYS_MSGRCV, unix.SYS_MSGSND}

// calls says which system calls a command may make.
type calls struct {
	families  []uint32      // of sockets
	otherwise syscall.Errno // what a socket of another family fails with
	refused   []uint32
	users     bool // refuses to create namespaces of users
}

// rules returns the calls as instructions of the kernel's filter machine.
// Without sockets of this machine a pair of datagram sockets is refused as well,
// because each can send to any address. The kernel's keys are refused too: they
// belong to the user and not to a namespace. Programs in the kernel and faults
// handled by a program help to attack it, and no build needs them.
func (c calls) rules() (rules []unix.SockFilter, err error) {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("%w: this processor is not supported", ErrNoConfinement)
	}
	// Offsets in the kernel's description of a call: its number, the
	// architecture, the lower halves of the first two arguments.
	const number, architecture, first, second = 0, 4, 16, 24
	do := func(code uint16, k uint32) { rules = append(rules, unix.SockFilter{Code: code, K: k}) }
	load := func(offset uint32) { do(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	branch := func(how uint16, k uint32, yes, no uint8) {
		rules = append(rules, unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no})
	}
	fail := func(errno syscall.Errno) { do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno)) }
	refuse := func() { fail(unix.EPERM) }
	allow := func() { do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW) }
	refuseIf := func(how uint16, k uint32) { branch(how, k, 0, 1); refuse() }

	load(architecture)
	branch(unix.BPF_JEQ, arch, 1, 0)
	refuse()
	load(number)
	if arch == unix.AUDIT_ARCH_X86_64 {
		refuseIf(unix.BPF_JGE, x32)
	}
	always := []uint32{
		unix.SYS_IO_URING_SETUP /* it opens sockets too */, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	}
	for _, call := range slices.Concat(always, c.refused) {
		refuseIf(unix.BPF_JEQ, call)
	}
	c.refuseSetuid(load, branch, refuseIf, allow)
	branch(unix.BPF_JEQ, unix.SYS_OPENAT2, 0, 1)
	fail(unix.ENOSYS) // its mode cannot be seen; programs then call openat
	if c.users {
		for _, call := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
			branch(unix.BPF_JEQ, call, 0, 4)
			load(first)
			refuseIf(unix.BPF_JSET, unix.CLONE_NEWUSER)
			allow()
		}
		branch(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1)
		fail(unix.ENOSYS) // its flags cannot be seen; programs then call clone
	}
	if !slices.Contains(c.families, unix.AF_UNIX) {
		branch(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 7)
		load(second)
		do(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf) // without flags
		refuseIf(unix.BPF_JEQ, unix.SOCK_DGRAM)
		refuseIf(unix.BPF_JEQ, unix.SOCK_RAW)
		allow()
	}
	branch(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0)
	allow()
	load(first)
	for _, family := range c.families {
		branch(unix.BPF_JEQ, family, 0, 1)
		allow()
	}
	// Sockets of this machine are refused, others cannot be reached.
	refuseIf(unix.BPF_JEQ, unix.AF_UNIX)
	fail(c.otherwise)
	return rules, nil
}
