package tool

import (
	"strings"
	"testing"
)

// Bad input: a file of one line of 10 MB, with bytes that are no text in it, is searched, read and
// edited within the limits of results, and nothing of it is lost.
func TestALineOfTenMegabytes(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 5<<20) + " needle " + strings.Repeat("y", 5<<20)
	b := newBench(t, map[string]string{"huge.min.js": line, "odd.txt": "one\n\xff\xfe\xfdneedle\n"})
	found := b.succeed("Grep", args{"pattern": "needle", "output_mode": "content"})
	if len(found.Output) > 10_000 || !strings.Contains(found.Output, "huge.min.js") || !strings.Contains(found.Output, "odd.txt") {
		t.Errorf("Grep: %d bytes: %.300s", len(found.Output), found.Output)
	}
	read := b.run("Read", args{"file_path": "huge.min.js"})
	if len(read.Output) > 300_000 || read.Output == "" {
		t.Errorf("Read: %d bytes, %v: %.300s", len(read.Output), read.IsError, read.Output)
	}
	edited := b.run("Edit", args{"file_path": "huge.min.js", "old_string": " needle ", "new_string": " pin "})
	want := line
	if !edited.IsError {
		want = strings.Replace(line, " needle ", " pin ", 1)
	}
	if b.content("huge.min.js") != want || len(edited.Output) > 10_000 {
		t.Errorf("Edit: %.300s", edited.Output)
	}
}
