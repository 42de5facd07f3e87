package command

import (
	"io"
	"os"
	"syscall"
)

// maxScript limits how much of a script is read, in bytes.
const maxScript = 32 << 10

// readScript returns the text of a regular file that a line runs. It reports false
// for one that cannot be read or is too long.
func readScript(path string) (string, bool) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return "", false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	return string(b), err == nil && len(b) <= maxScript
}
