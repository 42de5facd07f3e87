package env

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed creates a file without a name in a directory, so that nothing is
// left there if this program is killed. Not every file system supports that.
func openUnnamed(root *os.Root, dir string) (*os.File, error) {
	return root.OpenFile(dir, os.O_WRONLY|unix.O_TMPFILE, 0o666)
}

// nameUnnamed gives such a file a new name in the directory.
func nameUnnamed(root *os.Root, dir, name string, f *os.File) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	from := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	return unix.Linkat(unix.AT_FDCWD, from, int(d.Fd()), name, unix.AT_SYMLINK_FOLLOW)
}
