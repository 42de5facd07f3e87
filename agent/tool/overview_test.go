package tool

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// LOOP-31: several files are read at once, each completely or not at all, and
// may then be edited.
func TestReadMany(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"a.md": "A", "docs/b.md": "B\n", "docs/c.txt": "C\n", "docs/big.md": strings.Repeat("x", maxManyChars),
		"docs/binary.md": "\x00\x01", "docs/skip.md": "S\n",
	})
	r := b.succeed("ReadMany", args{"paths": []string{"docs/*.md", "a.md", "./a.md"}, "exclude": []string{"skip*"}})
	want := `--- a.md ---
A
--- docs/b.md ---
B
[Left out: docs/big.md has 40000 bytes, more than there is room for.]
[Left out: docs/binary.md is a binary md file of 2 bytes, not text.]`
	if diff := cmp.Diff(want, r.Output); diff != "" {
		t.Error(diff)
	}
	b.succeed("Edit", args{"file_path": "docs/b.md", "old_string": "B", "new_string": "b"})
	b.refuse("Edit", args{"file_path": "docs/big.md", "old_string": "x", "new_string": "b"}, "has not been read")
	b.refuse("ReadMany", args{"paths": []string{"none/*"}}, "")
	b.refuse("ReadMany", args{"paths": []string{"docs/binary.md"}}, "binary")
	b.refuse("ReadMany", args{"paths": []string{"a.md"}, "exclude": []string{"**/*.md"}}, "No file matches")
}

// LOOP-31: a directory is listed, directories first, to the requested depth.
func TestListDir(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"b": "12", "a/x/deep": "1", "a/y": "", ".hidden": "123"})
	tests := []struct {
		in   args
		want string
	}{
		{args{}, "a/\n.hidden (3 bytes)\nb (2 bytes)\n"},
		{args{"path": "a", "depth": 2}, "x/\nx/deep (1 byte)\ny (0 bytes)\n"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, b.succeed("ListDir", tt.in).Output); diff != "" {
			t.Errorf("%v: %s", tt.in, diff)
		}
	}
	if err := os.Mkdir(b.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.succeed("ListDir", args{"path": "empty"}); r.Output != "[The directory is empty.]" {
		t.Error(r.Output)
	}
	b.refuse("ListDir", args{"path": "b"}, "not a directory")
	b.refuse("ListDir", args{"path": "gone"}, "does not exist")
}

// closedOff is an environment with a directory that cannot be read.
type closedOff struct{ env.Environment }

func (closedOff) ListDirectory(context.Context, string, int) ([]env.Entry, error) {
	return []env.Entry{{Path: "a", Dir: true, Unreadable: true}, {Path: "b", Size: 1}}, nil
}

// LOOP-31: a directory that could not be listed is named.
func TestListDirNamesUnreadableDirectories(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	list := listDir{env: closedOff{local}}
	r := list.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{"depth":2}`)})
	if want := "a/ (cannot be read)\nb (1 byte)\n"; r.Output != want {
		t.Errorf("%q, want %q", r.Output, want)
	}
}
