package env

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Exchange gives two files of one directory each other's name, in one step. It fails
// where the file system cannot do that.
func (l *Local) Exchange(one, other string) error {
	return l.at(one, func(p place) error {
		dir, err := p.root.Open(filepath.Dir(p.name))
		if err != nil {
			return err
		}
		defer dir.Close()
		fd := int(dir.Fd())
		return unix.Renameat2(fd, filepath.Base(p.name), fd, filepath.Base(other), unix.RENAME_EXCHANGE)
	})
}
