package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// openInput returns the two ends of a command's standard input. It is a named
// pipe, because only a named pipe supports write deadlines. The pipe accepts
// one connection, which is ours.
func openInput() (theirs, ours *os.File, err error) {
	name := `\\.\pipe\atelier-` + rand.Text()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, nil, fmt.Errorf("name pipe: %w", err)
	}
	const access = windows.PIPE_ACCESS_OUTBOUND | windows.FILE_FLAG_FIRST_PIPE_INSTANCE | windows.FILE_FLAG_OVERLAPPED
	const size = 64 << 10
	handle, err := windows.CreateNamedPipe(path, access, windows.PIPE_REJECT_REMOTE_CLIENTS, 1, size, size, 0, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("create pipe: %w", err)
	}
	ours = os.NewFile(uintptr(handle), name)
	if theirs, err = os.Open(name); err != nil {
		return nil, nil, fmt.Errorf("open pipe: %w", errors.Join(err, ours.Close()))
	}
	return theirs, ours, nil
}
