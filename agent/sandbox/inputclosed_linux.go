package sandbox

import "golang.org/x/sys/unix"

// InputClosed waits until nobody reads the standard input of a running command that has
// one ([Spec.Input]), and reports true then. It reports false once the input was closed
// on this side. If the command ends, it returns as well, with either. On other systems
// it reports false at once.
func (p *Process) InputClosed() bool {
	pipe, err := p.keys.opened.SyscallConn()
	if err != nil {
		return false
	}
	closed := false
	// Nothing can be read from this end, so that the wait ends with the readers.
	err = pipe.Read(func(fd uintptr) (done bool) {
		events := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(events, 0)
		closed = err == nil && n > 0 && events[0].Revents&unix.POLLERR != 0
		return closed
	})
	return err == nil && closed
}
