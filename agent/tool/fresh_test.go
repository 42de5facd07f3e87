package tool

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// OAS-215: Read always gives what a file has now, however it was changed: no copy of it is kept
// that a write, a command or another program could leave behind. The time of its last change
// stays the same here, and so does its size, by which a copy would be known.
func TestReadIsFresh(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "text 0"})
	at := time.Unix(1_700_000_000, 0)
	for n, change := range []func(now string){
		func(now string) { b.succeed("Write", args{"file_path": "a.txt", "content": now}) },
		func(now string) {
			b.succeed("Edit", args{"file_path": "a.txt", "old_string": "text 1", "new_string": now})
		},
		func(now string) { b.succeed("Bash", args{"command": "printf '" + now + "' > a.txt"}) },
		func(now string) { b.put("a.txt", now) },
		func(now string) { // as editors save
			b.put("b.txt", now)
			if err := os.Rename(b.path("b.txt"), b.path("a.txt")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		if err := os.Chtimes(b.path("a.txt"), at, at); err != nil {
			t.Fatal(err)
		}
		b.succeed("Read", args{"file_path": "a.txt"})
		now := fmt.Sprint("text ", n+1)
		change(now)
		if err := os.Chtimes(b.path("a.txt"), at, at); err != nil {
			t.Fatal(err)
		}
		if got := b.succeed("Read", args{"file_path": "a.txt"}); !strings.Contains(got.Output, now) {
			t.Errorf("after change %d: %q", n, got.Output)
		}
	}
}
