package sandbox

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// mounted is a mount of this machine: what is at a root of a device's file system
// is seen at a path.
type mounted struct{ device, root, path string }

// mountTable returns the mounts of this machine.
func mountTable() (table []mounted) {
	const device, root, path, fields = 2, 3, 4, 6
	kernelLines("/proc/self/mountinfo", func(line string) {
		if f := strings.Fields(line); len(f) >= fields {
			table = append(table, mounted{f[device], unescape(f[root]), unescape(f[path])})
		}
	})
	return table
}

// otherPlaces returns where else a path is seen, because its file system is mounted
// several times.
func otherPlaces(table []mounted, path string) (others []string) {
	var own *mounted
	for i, m := range table {
		if within(m.path, path) && (own == nil || len(m.path) >= len(own.path)) {
			own = &table[i]
		}
	}
	if own == nil {
		return nil
	}
	rel, err := filepath.Rel(own.path, path)
	if err != nil {
		return nil
	}
	inside := filepath.Join(own.root, rel)
	for i, m := range table {
		if m.device != own.device || &table[i] == own || !within(m.root, inside) {
			continue
		}
		if rel, err := filepath.Rel(m.root, inside); err == nil && filepath.Join(m.path, rel) != path {
			others = append(others, filepath.Join(m.path, rel))
		}
	}
	return others
}

// unescape undoes how the kernel writes paths: "\040" is a blank.
func unescape(path string) string {
	if !strings.Contains(path, `\`) {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '\\' && i+3 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}
