package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// architectures lists those whose system calls the filter knows by this
// program's own numbers.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32 marks system calls of amd64's second ABI.
const x32 = 0x4000_0000

// socketFilter returns a file with the rules for a confined command: which
// sockets it may open. A socket in a read-only folder still accepts
// connections, and its owner could be asked to write; those of a virtual
// machine belong to no namespace. Pairs of connected sockets always work.
func socketFilter(p confine.Profile) (*os.File, error) {
	rules, err := socketRules(p)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	err = binary.Write(write, binary.NativeEndian, rules) // far less than a pipe holds
	if closed := write.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = read.Close()
		return nil, err
	}
	return read, nil
}

// socketRules returns the rules as instructions of the kernel's filter machine.
// A pair of datagram sockets is refused with the sockets of this machine,
// because each can send to any address. The kernel's keys are refused too: they
// belong to the user and not to a namespace.
func socketRules(p confine.Profile) (rules []unix.SockFilter, err error) {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("%w: this processor is not supported", ErrNoConfinement)
	}
	families := []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	if p.UnixSockets {
		families = append(families, unix.AF_UNIX)
	}
	// Offsets in the kernel's description of a call: its number, the
	// architecture, the lower halves of the first two arguments.
	const number, architecture, first, second = 0, 4, 16, 24
	do := func(code uint16, k uint32) { rules = append(rules, unix.SockFilter{Code: code, K: k}) }
	load := func(offset uint32) { do(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	branch := func(how uint16, k uint32, yes, no uint8) {
		rules = append(rules, unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no})
	}
	refuse := func() { do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM)) }
	allow := func() { do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW) }
	refuseIf := func(how uint16, k uint32) { branch(how, k, 0, 1); refuse() }

	load(architecture)
	branch(unix.BPF_JEQ, arch, 1, 0)
	refuse()
	load(number)
	if arch == unix.AUDIT_ARCH_X86_64 {
		refuseIf(unix.BPF_JGE, x32)
	}
	for _, call := range []uint32{unix.SYS_IO_URING_SETUP /* it opens sockets too */, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL} {
		refuseIf(unix.BPF_JEQ, call)
	}
	if !p.UnixSockets {
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
	for _, family := range families {
		branch(unix.BPF_JEQ, family, 0, 1)
		allow()
	}
	refuse()
	return rules, nil
}
