package sandbox

import (
	"encoding/binary"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// architectures lists those whose system calls the filter knows by this
// program's own numbers.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// x32 marks system calls of amd64's second ABI.
const x32 = 0x4000_0000

// socketFilter returns a file with the rules for a confined command: the
// command cannot open a socket that leads to another program of this machine. A
// socket in a read-only folder still accepts connections, and its owner could
// be asked to write. Pairs of connected sockets still work.
func socketFilter() (*os.File, error) {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil, ErrNoConfinement
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	err = binary.Write(write, binary.NativeEndian, socketRules(arch)) // far less than a pipe holds
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
// A pair of datagram sockets is refused too, because each can send to any
// address.
func socketRules(arch uint32) (rules []unix.SockFilter) {
	// Offsets in the kernel's description of a call: its number, the
	// architecture, the lower halves of the first two arguments.
	const number, architecture, first, second = 0, 4, 16, 24
	// Where the parts of the rules begin.
	const socket, pair, refuse, allow = 7, 9, 13, 14
	do := func(code uint16, k uint32) { rules = append(rules, unix.SockFilter{Code: code, K: k}) }
	load := func(offset uint32) { do(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	branch := func(how uint16, k uint32, yes, no int) {
		after := len(rules) + 1
		rules = append(rules, unix.SockFilter{
			Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: uint8(yes - after), Jf: uint8(no - after),
		})
	}
	load(architecture)
	branch(unix.BPF_JEQ, arch, 2, refuse)
	load(number)
	branch(unix.BPF_JGE, x32, refuse, 4)
	branch(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, refuse, 5) // it opens sockets too
	branch(unix.BPF_JEQ, unix.SYS_SOCKET, socket, 6)
	branch(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, pair, allow)
	load(first)
	branch(unix.BPF_JEQ, unix.AF_UNIX, refuse, allow)
	load(second)
	do(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf) // without flags
	branch(unix.BPF_JEQ, unix.SOCK_DGRAM, refuse, 12)
	branch(unix.BPF_JEQ, unix.SOCK_RAW, refuse, allow)
	do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
	do(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW)
	return rules
}
