// Package regular reads regular files within a limit. A pipe or a device is refused at once: opening
// one as a file waits for whoever is at its other end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrUnfit is returned for what is no regular file, or larger than the limit.
var ErrUnfit = errors.New("not a regular file within the limit")

// Flags are those to open a file with that may be a pipe. [Content] reads it.
const Flags = os.O_RDONLY | syscall.O_NONBLOCK

// Read returns the content of a file of at most so many bytes. The error is [ErrUnfit] or one of
// the system.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, Flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Content(f, most)
}

// Content is [Read] for a file that was opened with [Flags].
func Content(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s: %w of %d bytes", f.Name(), ErrUnfit, most)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most { // it grew, or is of a file system that does not know sizes
		err = fmt.Errorf("%s: %w of %d bytes", f.Name(), ErrUnfit, most)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
