package applypatch_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
)

// A changed file keeps its extended attributes, and a moved file takes them
// along.
func TestExtendedAttributesAreKept(t *testing.T) { // R-EDIT
	t.Parallel()
	root := tree(t, files)
	at := func(name string) string { return filepath.Join(root.Name(), name) }
	for _, name := range []string{"updated", "moved"} {
		if err := syscall.Setxattr(at(name), "user.note", []byte(name), 0); err != nil {
			t.Skip("the file system has no extended attributes: ", err)
		}
	}
	if _, err := applypatch.Apply(root, every); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"updated": "updated", "elsewhere/moved": "moved"} {
		value := make([]byte, 100)
		n, err := syscall.Getxattr(at(name), "user.note", value)
		if err != nil || string(value[:n]) != want {
			t.Errorf("%s has %q, %v", name, value[:max(n, 0)], err)
		}
	}
}
