//go:build unix

package applypatch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
)

func TestOwnersAreKept(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	root := tree(t, files)
	if err := errors.Join(root.Chown("updated", 1234, 4321), root.Chown("moved", 1234, 4321)); err != nil {
		t.Fatal(err)
	}
	if _, err := applypatch.Apply(root, every); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"updated", "elsewhere/moved"} {
		info, err := root.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 4321 {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
	}
}

// A pipe is refused without waiting for a process at its other end.
func TestPipesAreRefused(t *testing.T) { // K-39
	t.Parallel()
	root := tree(t, nil)
	if err := syscall.Mkfifo(filepath.Join(root.Name(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"*** Update File: pipe\n@@\n-x\n+y\n", "*** Add File: pipe\n+y\n", "*** Delete File: pipe\n"} {
		_, err := applypatch.Apply(root, "*** Begin Patch\n"+text+"*** End Patch\n")
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if info, err := root.Lstat("pipe"); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}
}
