package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What was only read leaves the process and comes back from the file; what the process
// has changed stays.
func TestUnchangedPagesLeave(t *testing.T) {
	size := 4 * os.Getpagesize()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		changed byte
		access  int
		leaves  bool
	}{{0, unix.PROT_READ, true}, {1, unix.PROT_READ, false}, {0, unix.PROT_READ | unix.PROT_WRITE, false}} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		mapped, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if tt.changed != 0 {
			mapped[0] = tt.changed
		}
		if err := unix.Mprotect(mapped, tt.access); err != nil {
			t.Fatal(err)
		}
		if mapped[size-1] != 0 {
			t.Fatal("the file is not mapped")
		}
		at := uintptr(unsafe.Pointer(unsafe.SliceData(mapped)))
		if resident(t, at) == "0" {
			t.Fatal("nothing of the file is in the process")
		}
		if err := leave(at); err != nil {
			t.Error(err)
		}
		if left := resident(t, at) == "0"; left != tt.leaves {
			t.Errorf("changed to %d, access %d: left is %v, want %v", tt.changed, tt.access, left, tt.leaves)
		}
		if mapped[0] != tt.changed {
			t.Errorf("the first byte is %d, want %d", mapped[0], tt.changed)
		}
		if err := unix.Munmap(mapped); err != nil {
			t.Fatal(err)
		}
	}
}

// resident returns how many kB of the mapping that begins at the address are in the
// process.
func resident(t *testing.T, at uintptr) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(fmt.Sprintf(`(?ms)^%08x-.*?^Rss: +(\d+) kB`, at)).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no mapping begins at %x", at)
	}
	return string(found[1])
}
