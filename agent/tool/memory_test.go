package tool

import (
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/env"
)

// K-42: a file whose text a simple command printed counts as read; one that has
// changed since does not.
func TestPrintingCountsAsReading(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command args
		counts  bool
	}{
		"cat":              {args{"command": "cat f"}, true},
		"cat that runs on": {args{"command": "cat f", "yield_time_ms": 30000}, true},
		"head":             {args{"command": "head -n 1 f"}, true},
		"elsewhere":        {args{"command": "cat f", "workdir": "sub"}, false},
		"a count":          {args{"command": "wc f"}, false},
		"a failure":        {args{"command": "cat f gone"}, false},
		"a redirection":    {args{"command": "cat f >g"}, false},
		"a script":         {args{"command": "cat f; true > h"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const unread, stale = "f exists and has not been read", "f has changed on disk"
			b := newBench(t, map[string]string{"f": "one\ntwo\n", "sub/f": "other\n"})
			b.run("Bash", tt.command)
			if !tt.counts {
				b.refuse("Write", args{"file_path": "f", "content": "x"}, unread)
				return
			}
			b.succeed("Edit", args{"file_path": "f", "old_string": "one", "new_string": "1"})
			b.succeed("Bash", tt.command)
			b.put("f", "by somebody else\n")
			b.refuse("Write", args{"file_path": "f", "content": "x"}, stale)
			b.succeed("Bash", tt.command)
			b.succeed("Write", args{"file_path": "f", "content": "x"})
		})
	}
}

// K-42: codex's fixtures 010 and 011: a patch adds over a file, and moves onto
// a file, that a command printed.
func TestPatchOverPrintedFiles(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, map[string]string{"f": "one\n", "g": "two\n", "old": "from\n"})
	b.succeed("Bash", args{"command": "cat f"})
	b.succeed("ApplyPatch", patch("*** Add File: f", "+x"))
	b.succeed("Bash", args{"command": "cat g"})
	b.succeed("ApplyPatch", patch("*** Update File: old", "*** Move to: g", "-from", "+new"))
	if f, g := b.content("f"), b.content("g"); f != "x\n" || g != "new\n" {
		t.Errorf("%q, %q", f, g)
	}
}

// K-42: printed text does not count as read if the file changed while the
// command ran, because nobody knows which text it was.
func TestPrintingOfAChangingFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": "one\n"})
	e, err := env.NewLocal(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	path, memory := filepath.Join(b.dir, "f"), NewMemory("", nil)
	printed := memory.before(t.Context(), e, []string{path})
	b.put("f", "two\n")
	memory.after(t.Context(), e, printed)
	if memory.current(path, "f", []byte("one\n")) == nil || memory.current(path, "f", []byte("two\n")) == nil {
		t.Error("the file counts as read")
	}
}
