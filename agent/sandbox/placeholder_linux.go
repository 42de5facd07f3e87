package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A placeholder is an empty folder in place of a file that must not be created
// while a command runs: only what exists can be protected by a mount. Git does
// not see an empty folder. The time of its last change marks it as ours, so that
// one whose program was killed is removed by the next command. Everyone who
// needs it holds a shared lock, and whoever gets the lock alone removes it.

// placeholderTime is long past, and no round figure.
var placeholderTime = time.Unix(499_137_661, 0)

// placeholders is held while some are made or removed, so that of two commands
// that end together one is the last, and nobody sees one without its mark.
var placeholders sync.Mutex

// placeholder makes a folder, or shares that of another command. Release
// removes it when nobody needs it any more. The caller holds placeholders.
func placeholder(path string) (release func(), err error) {
	for range 100 { // another program may remove it at the same time
		err = os.Mkdir(path, 0o555)
		if err == nil {
			err = os.Chtimes(path, placeholderTime, placeholderTime)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(dir.Fd()), unix.LOCK_SH); err != nil {
			return nil, errors.Join(err, dir.Close())
		}
		if same(dir, path) {
			return func() { removePlaceholder(dir, path) }, nil
		}
		_ = dir.Close()
	}
	return nil, fs.ErrExist
}

// isPlaceholder reports whether info is of a folder of ours.
func isPlaceholder(info fs.FileInfo) bool {
	return info.IsDir() && info.ModTime().Equal(placeholderTime)
}

func same(dir *os.File, path string) bool {
	opened, err := dir.Stat()
	named, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(opened, named)
}

// removePlaceholder lets go of a placeholder and removes it if nobody else
// needs it. A folder that is not empty stays.
func removePlaceholder(dir *os.File, path string) {
	placeholders.Lock()
	defer placeholders.Unlock()
	defer dir.Close()
	if unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && same(dir, path) {
		_ = unix.Rmdir(path)
	}
}
