//go:build unix

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// The size of an invisible terminal: the usual height, so that programs that
// draw whole screens draw little, and wide enough for most command lines,
// because a shell redraws longer ones in parts.
const (
	terminalRows    = 24
	terminalColumns = 160
)

// openTerminal returns the two ends of a new terminal: ours, whose reads and
// writes can be interrupted, and the command's.
func openTerminal(seat Seat) (ours, theirs *os.File, err error) {
	if seat == (Seat{}) {
		seat = Seat{Rows: terminalRows, Columns: terminalColumns}
	}
	blocking, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer blocking.Close()
	err = resizeTerminal(theirs, seat)
	if err == nil {
		ours, err = interruptible(blocking)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("set up a terminal: %w", errors.Join(err, theirs.Close()))
	}
	return ours, theirs, nil
}

func resizeTerminal(f *os.File, to Seat) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	control := raw.Control(func(fd uintptr) {
		err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: to.Rows, Col: to.Columns})
	})
	return errors.Join(control, err)
}

// interruptible returns another file of the same terminal that Close and
// deadlines interrupt; the file of package pty blocks.
func interruptible(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// ownTerminal gives a child its own session, controlled by the terminal that is
// its standard input.
func ownTerminal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true}
}
