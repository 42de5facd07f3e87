package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A placeholder is an empty folder, or a file, in place of a file that must not be
// created while a command runs: only what exists can be protected by a mount. Git does
// not see an empty folder. The time of its last change marks it as ours, so that
// one whose program was killed is removed by the next command. Everyone who
// needs it holds a shared lock, and whoever gets the lock alone removes it.

// placeholderTime is long past, and no round figure.
var placeholderTime = time.Unix(499_137_661, 0)

// placeholders is held while some are made or removed, so that of two commands
// that end together one is the last, and nobody sees one without its mark.
var placeholders sync.Mutex

// putFolder makes an empty folder with the mark.
func putFolder(path string) error {
	if err := os.Mkdir(path, 0o555); err != nil {
		return err
	}
	return os.Chtimes(path, placeholderTime, placeholderTime)
}

// putFile returns a function that makes a file with a text and the mark. It appears whole.
func putFile(text string) func(path string) error {
	return func(path string) error {
		file, err := os.CreateTemp(filepath.Dir(path), ".atelier-")
		if err != nil {
			return err
		}
		defer os.Remove(file.Name())
		_, err = file.WriteString(text)
		if err = errors.Join(err, file.Chmod(0o444), file.Close()); err != nil {
			return err
		}
		if err := os.Chtimes(file.Name(), placeholderTime, placeholderTime); err != nil {
			return err
		}
		return os.Link(file.Name(), path)
	}
}

// placeholder puts one at a path, or shares that of another command. Release removes
// it when nobody needs it any more. The caller holds placeholders.
func placeholder(path string, put func(path string) error) (release func(), err error) {
	for range 100 { // another program may remove it at the same time
		err = put(path)
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		dir, err := os.OpenFile(path, unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
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

// IsPlaceholder reports whether a file only stands where a confined command must not
// make one.
func IsPlaceholder(info fs.FileInfo) bool {
	return (info.IsDir() || info.Mode().IsRegular()) && info.ModTime().Equal(placeholderTime)
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
		if unix.Rmdir(path) == unix.ENOTDIR {
			_ = unix.Unlink(path)
		}
	}
}
