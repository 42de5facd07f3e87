package sandbox

import (
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// modeCall is a call that sets the mode of a file. Mode, and flags of a call for which
// the mode counts only if it makes a file, are the numbers of their arguments.
type modeCall struct {
	number      uint32
	mode, flags int
}

// modeCalls are those of all processors, and olderModeCalls those that only some have.
var (
	modeCalls = []modeCall{
		{unix.SYS_FCHMOD, 1, 0}, {unix.SYS_FCHMODAT, 2, 0}, {unix.SYS_FCHMODAT2, 2, 0}, {unix.SYS_MKNODAT, 2, 0}, {unix.SYS_OPENAT, 3, 2},
	}
	olderModeCalls = map[string][]modeCall{"amd64": {{90 /* chmod */, 1, 0}, {133 /* mknod */, 1, 0}, {85 /* creat */, 1, 0}, {2 /* open */, 2, 1}}}
)

// refuseSetuid refuses files that run with the rights of their owner or group: one
// that a command of an administrator leaves in the project would make everybody an
// administrator.
func (calls) refuseSetuid(load func(uint32), branch func(uint16, uint32, uint8, uint8), refuseIf func(uint16, uint32), allow func()) {
	const arguments, size = 16, 8 // where they are in the kernel's description of a call
	for _, c := range slices.Concat(modeCalls, olderModeCalls[runtime.GOARCH]) {
		if c.flags == 0 {
			branch(unix.BPF_JEQ, c.number, 0, 4)
		} else {
			branch(unix.BPF_JEQ, c.number, 0, 7)
			load(uint32(arguments + c.flags*size))
			branch(unix.BPF_JSET, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY, 1, 0)
			allow()
		}
		load(uint32(arguments + c.mode*size))
		refuseIf(unix.BPF_JSET, unix.S_ISUID|unix.S_ISGID)
		allow()
	}
}
