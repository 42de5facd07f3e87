//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in a file's place is not waited for.
func TestPipe(t *testing.T) {
	t.Parallel()
	project, user := folders(t)
	r := NewReader(project, user)
	f := r.Files()[2]
	if err := os.MkdirAll(filepath.Dir(f.Path()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(f.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := r.Read(f); !got.There || got.Err == nil {
		t.Errorf("%+v", got)
	}
}
