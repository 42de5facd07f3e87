package trust

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OAS-808: a skill that runs something is pinned by all of its files, whether or not its
// lines name them: a change of any of them, of a mode or of a link is asked about again.
func TestSkillsArePinned(t *testing.T) {
	t.Parallel()
	const (
		main   = ".claude/skills/deploy/SKILL.md"
		tool   = ".claude/skills/deploy/scripts/tool.py"
		hidden = ".claude/skills/deploy/.env"
		named  = "bin/list"
		other  = ".claude/skills/other/SKILL.md"
	)
	for name, tt := range map[string]struct {
		change func(w *world) error
		want   State
	}{
		"nothing":             {func(*world) error { return nil }, StateTrusted},
		"another skill":       {func(w *world) error { w.write(other, "2"); return nil }, StateTrusted},
		"its main file":       {func(w *world) error { w.write(main, "2"); return nil }, StateChanged},
		"a script":            {func(w *world) error { w.write(tool, "2"); return nil }, StateChanged},
		"a hidden file":       {func(w *world) error { w.write(hidden, "2"); return nil }, StateChanged},
		"a new file":          {func(w *world) error { w.write(".claude/skills/deploy/new", "1"); return nil }, StateChanged},
		"a file that is gone": {func(w *world) error { return os.Remove(w.path(tool)) }, StateChanged},
		"a mode":              {func(w *world) error { return os.Chmod(w.path(tool), 0o755) }, StateChanged},
		"what its line names": {func(w *world) error { w.write(named, "2"); return nil }, StateChanged},
		"a link": {func(w *world) error {
			w.write(".claude/skills/deploy/scripts/same.py", "1")
			return errors.Join(os.Rename(w.path(".claude/skills/deploy/scripts/same.py"), w.path("same.py")), os.Remove(w.path(tool)), os.Symlink("../../../../same.py", w.path(tool)))
		}, StateChanged},
	} {
		w := newWorld(t)
		for _, file := range []string{main, tool, hidden, named, other} {
			w.write(file, "1")
		}
		w.stands(Item{Kind: KindSkill, Title: "/deploy", Definition: "{}", Command: Command{Line: "bin/list", With: []string{".claude/skills/deploy"}}})
		shown := w.show()
		if want := []string{hidden, main, tool, named}; !cmp.Equal(want, shown.Files) || len(shown.Texts) != len(want)+1 {
			t.Fatalf("%q, %d texts", shown.Files, len(shown.Texts))
		}
		w.accept()
		if err := tt.change(w); err != nil {
			t.Fatal(err)
		}
		w.wants(tt.want)
		differs := slices.ContainsFunc(w.show().Texts, func(x Text) bool { return x.Diff != "" })
		if name != "a mode" && name != "a link" && differs != (tt.want == StateChanged) {
			t.Errorf("%s: differs: %t", name, differs)
		}
	}
}

// An item is judged as its owner holds it, not by what stands in its place by now.
func TestCheckThis(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("x.md", "1")
	item := Item{Kind: KindSkill, ID: "x", Title: "/x", Definition: "runs a", Command: Command{With: []string{"x.md"}}}
	w.stands(item)
	w.accept()
	held := item
	held.Definition = "runs b"
	for _, tt := range []struct {
		item Item
		want State
	}{{item, StateTrusted}, {held, StateChanged}, {Item{Kind: KindSkill, ID: "y"}, StateUnknown}} {
		if got, err := w.CheckThis(t.Context(), tt.item, ""); err != nil || got != tt.want {
			t.Errorf("%s %s: %s, %v", tt.item.ID, tt.item.Definition, got, err)
		}
	}
	if got := item.Command.String(); got != "x.md" {
		t.Error(got)
	}
}
