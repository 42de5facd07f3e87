package journal

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that is swapped for a link between a look at it and its opening is not
// entered, although the link leads to another directory of the folder.
func TestSwappedDirectoriesAreNotEntered(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"d", "other"} {
		if err := os.Mkdir(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("other", at("link")); err != nil {
		t.Fatal(err)
	}
	if err := unix.Renameat2(unix.AT_FDCWD, at("d"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE); err != nil {
		t.Skip("this file system does not exchange names")
	}
	other, err := os.Stat(at("other"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, at("d"), unix.AT_FDCWD, at("link"), unix.RENAME_EXCHANGE)
			}
		}
	}()
	for range 2000 {
		below, err := enter(root, "d")
		if err != nil {
			continue
		}
		if info, err := below.Stat("."); err != nil || os.SameFile(info, other) {
			t.Errorf("the link was followed (%v)", err)
		}
		_ = below.Close()
	}
	close(stop)
	<-done
}
