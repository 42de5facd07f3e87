//go:build unix

package skills

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/backend"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// What was removed is listed where it can be restored, and goes back as it was. Nothing that
// stands there by now is replaced, and nothing is put where a link leads.
func TestRestore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".claude/skills/one/SKILL.md", md("one", "x"))
	f.write(".claude/skills/one/scripts/run.sh", "echo")
	f.write("~/.claude/commands/deep/two.md", "Two.")
	if removed := f.list().Removed; len(removed) > 0 {
		t.Errorf("before: %+v", removed)
	}
	for _, file := range []string{".claude/skills/one/SKILL.md", "~/.claude/commands/deep/two.md"} {
		if _, err := f.Remove(t.Context(), SkillRef{f.row(file).ID}); err != nil {
			t.Fatal(err)
		}
	}
	for bin, from := range map[string]string{"1-elsewhere": "/etc/x", "1-relative": "x", "1-root": f.path(".claude/skills"), "1-empty": f.path(".claude/skills/gone")} {
		dir := filepath.Join(f.home, "trash", "skills", bin)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "from.txt"), []byte(from+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	removed := f.list().Removed
	want := []SkillRemoved{{Name: "two", From: "~/.claude/commands/deep/two.md"}, {Name: "one", From: ".claude/skills/one"}}
	if diff := gocmp.Diff(want, removed, cmpopts.IgnoreFields(SkillRemoved{}, "ID", "At")); diff != "" || removed[0].At == 0 {
		t.Fatal(diff)
	}
	two, one := removed[0].ID, removed[1].ID
	restore := func(id string, want backend.ProblemID) {
		t.Helper()
		if _, err := f.Restore(t.Context(), SkillRef{id}); problem(err) != want {
			t.Errorf("%s: %v", id, err)
		}
	}
	restore("1-elsewhere", backend.ProblemSkillUntrashed)
	restore("..", backend.ProblemSkillUntrashed)

	f.write(".claude/skills/one/SKILL.md", md("one", "newer"))
	restore(one, backend.ProblemSkillBack)
	if got := f.read(".claude/skills/one/SKILL.md"); got != md("one", "newer") {
		t.Error(got)
	}
	if err := os.RemoveAll(f.path(".claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), f.path(".claude")); err != nil {
		t.Fatal(err)
	}
	restore(one, backend.ProblemSkillElsewhere)
	if err := os.Remove(f.path(".claude")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(f.path("~/.claude/commands/deep")); err != nil {
		t.Fatal(err)
	}
	restore(one, "")
	restore(two, "")
	restore(two, backend.ProblemSkillUntrashed)
	if got := f.read(".claude/skills/one/scripts/run.sh") + f.read("~/.claude/commands/deep/two.md"); got != "echoTwo." {
		t.Errorf("%q", got)
	}
	list := f.list()
	if len(list.Removed) > 0 || f.row(".claude/skills/one/SKILL.md").Name != "one" {
		t.Errorf("after: %+v", list.Removed)
	}
}

// What cannot be removed from where it was is kept in the trash if only that has all of it:
// a folder on another file system is copied there.
func TestTrashKeepsWhatIsPartlyRemoved(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may remove everything")
	}
	base, err := os.MkdirTemp("/dev/shm", "skills")
	if err != nil {
		t.Skip("there is no other file system")
	}
	shelf := filepath.Join(base, "shelf")
	t.Cleanup(func() {
		_ = os.Chmod(shelf, 0o700)
		_ = os.RemoveAll(base)
	})
	f := newFixture(t)
	if err := os.MkdirAll(filepath.Join(shelf, "one"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shelf, "one", "SKILL.md"), []byte("One."), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shelf, 0o500); err != nil {
		t.Fatal(err)
	}
	if err := f.toTrash(filepath.Join(shelf, "one")); err == nil {
		t.Error("a folder was removed from one that may not change")
	}
	kept, err := filepath.Glob(filepath.Join(f.home, "trash", "skills", "*", "one", "SKILL.md"))
	_, left := os.Stat(filepath.Join(shelf, "one", "SKILL.md"))
	if len(kept) == 0 && left != nil {
		t.Errorf("the skill is nowhere any more: %v, %v", err, left)
	}
}
