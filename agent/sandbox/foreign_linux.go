package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostLines limits how many lines are read of what the kernel lists.
const mostLines = 20_000

// kernelLines calls use with each line of a list of the kernel. One that cannot be
// read is empty.
func kernelLines(path string, use func(line string)) {
	file, err := os.Open(path)
	if err != nil {
		return
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, mostLines*256))
	for range mostLines {
		if !lines.Scan() {
			return
		}
		use(lines.Text())
	}
}

// foreignSockets returns the paths of the sockets that programs outside have opened.
// A confined command could connect to them, because a mount that is read-only does
// not keep it from that, and no rule of the kernel's does.
func foreignSockets() (paths []string) {
	kernelLines("/proc/net/unix", func(line string) {
		// Seven columns have no slash, and a path may have blanks.
		if at := strings.IndexByte(line, '/'); at > 0 && line[at-1] == ' ' {
			paths = append(paths, filepath.Clean(line[at:]))
		}
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}
