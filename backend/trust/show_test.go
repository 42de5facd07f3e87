package trust

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is shown is what stands there: contents at first, differences later.
func TestShow(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.write(".claude/hooks/data", "\x00\xff")
	shown := w.show()
	want := []Text{
		{Text: script},
		{Path: script, Text: "#!/bin/sh\necho one\n"},
		{Path: ".claude/hooks/data", Omitted: OmittedBinary},
		{Path: ".claude/hooks/lib/util.sh", Text: "util\n"},
	}
	if diff := cmp.Diff(want, shown.Texts); diff != "" {
		t.Error(diff)
	}
	w.accept()
	w.write(script, "#!/bin/sh\necho two\n")
	w.write(".claude/hooks/lib/new.sh", strings.Repeat("long", maxContents))
	if err := os.Remove(w.path(".claude/hooks/lib/util.sh")); err != nil {
		t.Fatal(err)
	}
	want = []Text{
		{Text: script},
		{Path: script, Text: "#!/bin/sh\necho two\n", Diff: "@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo one\n+echo two\n"},
		{Path: ".claude/hooks/data", Omitted: OmittedBinary},
		{Path: ".claude/hooks/lib/new.sh", Omitted: OmittedLong},
		{Path: ".claude/hooks/lib/util.sh", Diff: "@@ -1 +0,0 @@\n-util\n", Omitted: OmittedMissing},
	}
	if diff := cmp.Diff(want, w.show().Texts); diff != "" {
		t.Error(diff)
	}
}

// Names and contents that a terminal or a page would not show as they are get a
// note, and never break a line of one.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tools/a\x1b[2J.sh", "tools/a\nb.sh", "tools/\u202egnp.sh", "tools/a\u200bb.sh", "tools/a\u3164b.sh"} {
		w := newWorld(t)
		w.write(name, "echo")
		status := w.stands(Item{Command: Command{Line: "sh", Args: []string{name}}, Title: name})
		if len(status.Files) != 1 || len(status.Notes) == 0 {
			t.Fatalf("%q: %+v", name, status)
		}
		for _, n := range status.Notes {
			if n.ID != NoteHidden || strings.Contains(n.Message, "\n") {
				t.Errorf("%q: %+v", name, n)
			}
		}
		w.accept()
	}
	w := newWorld(t)
	w.write("x.sh", "echo \u202e")
	if notes := w.stands(Item{Command: Command{Line: "./x.sh"}}).Notes; len(notes) != 1 || notes[0].ID != NoteHidden {
		t.Errorf("%+v", notes)
	}
}
