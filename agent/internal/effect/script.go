package effect

import (
	"io"
	"os"
)

// maxScript limits how much of a script is read, in bytes.
const maxScript = 32 << 10

// ReadScript returns the text of a regular file that a line runs. It reports false
// for one that cannot be read or is too long.
func ReadScript(path string) (string, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	file, err := os.Open(path)
	if err != nil {
		return "", false
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxScript+1))
	return string(b), err == nil && len(b) <= maxScript
}
