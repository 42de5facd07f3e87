//go:build unix

package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// OAS-402: a command without a path is looked up in PATH and nowhere else; one with a path
// is relative to the server's folder.
func TestProgramsAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server", "bin/server"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]bool{
		"sh": true, "no-such-program": false, "./server": true, "bin/server": true, "./bin/../server": true, filepath.Join(dir, "bin/server"): true,
		"server": false, "./none": false, "/none/server": false, "bin/none": false, "": false,
	} {
		if err := findProgram(command, dir); (err == nil) != want {
			t.Errorf("%q: %v", command, err)
		}
	}
}

// OAS-402: messages are lines, which may end in CR LF.
func TestLinesOfMessages(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string][]string{
		"{}\n[]\n": {"{}", "[]"}, "{}\r\n[]\r\n": {"{}", "[]"}, "{}\r\n[]\n": {"{}", "[]"}, "\r\n\n{}\n": {"{}"}, "{\"a\":\"\\r\"}\r\n": {`{"a":"\r"}`},
	} {
		var got []string
		s := &splitter{most: 100, line: func(line []byte) { got = append(got, string(line)) }, flood: func() {}}
		s.write([]byte(stream))
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", stream, got)
		}
	}
}
