package confine

import (
	"path/filepath"
	"strconv"
	"strings"
)

// Mounts are the mounts of this machine.
type Mounts []mounted

// mounted is a mount: what is at a root of a device's file system is seen at a path.
type mounted struct{ device, root, path string }

// Add reads a line of the kernel's list.
func (table *Mounts) Add(line string) {
	const device, root, path, fields = 2, 3, 4, 6
	if f := strings.Fields(line); len(f) >= fields {
		*table = append(*table, mounted{f[device], unescape(f[root]), unescape(f[path])})
	}
}

// Others returns where else a path is seen, because its file system is mounted
// several times.
func (table Mounts) Others(path string) (others []string) {
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
