//go:build unix

package skills

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

func (f *fixture) read(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

// A text is saved over what the user saw, as a whole and with its mode, and not over what
// somebody else wrote meanwhile.
func TestSave(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const file = ".claude/skills/one/SKILL.md"
	f.write(file, md("one", "before"))
	if err := os.Chmod(f.path(file), 0o600); err != nil {
		t.Fatal(err)
	}
	id := f.row(file).ID
	shown, err := f.Show(t.Context(), SkillRef{id})
	if err != nil {
		t.Fatal(err)
	}
	in := SkillSaveRequest{ID: id, Version: shown.Version, Text: md("one", "after")}
	if ref, err := f.Save(t.Context(), in); err != nil || ref.ID != id {
		t.Fatal(ref, err)
	}
	info, err := os.Stat(f.path(file))
	if err != nil || info.Mode().Perm() != 0o600 || f.read(file) != in.Text {
		t.Errorf("%v, %v", info, err)
	}
	if x, _ := skill.Find(f.Library(t.Context(), f.folder), "one"); x.Body != "after\n" {
		t.Errorf("%q", x.Body)
	}
	in.Text = md("one", "once more")
	for _, version := range []string{shown.Version, ""} {
		in.Version = version
		if _, err := f.Save(t.Context(), in); problem(err) != backend.ProblemSkillEdited || f.read(file) != md("one", "after") {
			t.Error(err)
		}
	}
	in.Text = strings.Repeat("x", skill.MaxFile+1)
	if _, err := f.Save(t.Context(), in); problem(err) != backend.ProblemSkillLarge {
		t.Error(err)
	}
	if _, err := f.Save(t.Context(), SkillSaveRequest{ID: f.row("commit").ID, Text: "x"}); problem(err) != backend.ProblemSkillBuiltIn {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(f.path(file)))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Nothing is written, shown or removed through a link that leads out of the project, also
// one that took a skill's place after it was read. The user's own links may lead anywhere.
func TestLinksThatLeadOut(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/elsewhere/one/SKILL.md", md("one", "secret"))
	f.write(".claude/skills/one/SKILL.md", md("one", "own"))
	row := f.row(".claude/skills/one/SKILL.md")
	shown, err := f.Show(t.Context(), SkillRef{row.ID})
	if err != nil {
		t.Fatal(err)
	}
	// The library goes on with what was read until the watcher tells; this is in between.
	if err := errors.Join(os.Rename(f.path(".claude/skills"), f.path("aside")), os.Symlink(f.path("~/elsewhere"), f.path(".claude/skills"))); err != nil {
		t.Fatal(err)
	}
	if x, err := f.Show(t.Context(), SkillRef{row.ID}); strings.Contains(x.Text, "secret") {
		t.Errorf("%v", err)
	}
	if _, err := f.Save(t.Context(), SkillSaveRequest{ID: row.ID, Version: shown.Version, Text: "x"}); err == nil {
		t.Error("it was saved")
	}
	if _, err := f.Remove(t.Context(), SkillRef{row.ID}); err == nil {
		t.Error("it was removed")
	}
	if err := errors.Join(os.MkdirAll(f.path(".agent"), 0o755), os.Symlink(f.path("~/elsewhere"), f.path(".agent/skills"))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(t.Context(), SkillSaveRequest{Kind: skill.KindSkill, Scope: agent.ScopeProject, Name: "new", Text: "x"}); err == nil {
		t.Error("it was made")
	}
	if got := f.read("~/elsewhere/one/SKILL.md"); got != md("one", "secret") {
		t.Error(got)
	}
	if entries, err := os.ReadDir(f.path("~/elsewhere")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := errors.Join(os.MkdirAll(f.path("~/.agent"), 0o755), os.Symlink(f.path("~/elsewhere"), f.path("~/.agent/skills"))); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(t.Context(), SkillSaveRequest{Kind: skill.KindSkill, Scope: agent.ScopeUser, Name: "new", Text: md("new", "x")}); err != nil {
		t.Error(err)
	}
	if got := f.read("~/elsewhere/new/SKILL.md"); got != md("new", "x") {
		t.Error(got)
	}
}

// A new skill or command is written to the folder of its scope, under a name that nothing
// has there.
func TestNewSkills(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/skills/Taken/other.md", "")
	for _, tt := range []struct {
		scope agent.Scope
		kind  skill.SkillKind
		name  string
		want  string // the file, or the problem
	}{
		{agent.ScopeProject, skill.KindSkill, "one", ".agent/skills/one/SKILL.md"}, {agent.ScopeUser, skill.KindSkill, "one", "~/.agent/skills/one/SKILL.md"},
		{agent.ScopeProject, skill.KindCommand, "git:sync", ".agent/commands/git/sync.md"}, {agent.ScopeUser, skill.KindCommand, "审查", "~/.agent/commands/审查.md"},
		{agent.ScopeProject, skill.KindSkill, "one", "skill_taken"}, {agent.ScopeProject, skill.KindSkill, "taken", "skill_taken"},
		{agent.ScopeProject, skill.KindCommand, "git:sync", "skill_taken"}, {agent.ScopeLocal, skill.KindSkill, "x", "skill_scope"},
		{agent.ScopeProject, skill.KindBuiltIn, "x", "skill_scope"}, {agent.ScopeProject, skill.KindSkill, "", "skill_name"},
		{agent.ScopeProject, skill.KindSkill, "..", "skill_name"}, {agent.ScopeProject, skill.KindSkill, "a/b", "skill_name"},
		{agent.ScopeProject, skill.KindSkill, ".hidden", "skill_name"}, {agent.ScopeProject, skill.KindCommand, "a:..:b", "skill_name"},
		{agent.ScopeProject, skill.KindSkill, "nul", "skill_name"}, {agent.ScopeProject, skill.KindSkill, strings.Repeat("x", 65), "skill_name"},
	} {
		ref, err := f.Save(t.Context(), SkillSaveRequest{Scope: tt.scope, Kind: tt.kind, Name: tt.name, Text: md(tt.name, "x")})
		if strings.HasPrefix(tt.want, "skill_") {
			if string(problem(err)) != tt.want {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err != nil || f.row(tt.want).ID != ref.ID || f.read(tt.want) != md(tt.name, "x") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// A removed skill is in the trash, whole, beside its old path. The trash keeps a
// limited number.
func TestRemove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	trash := filepath.Join(f.home, "trash", "skills")
	f.write(".claude/skills/one/SKILL.md", md("one", "x"))
	f.write(".claude/skills/one/scripts/run.sh", "echo")
	f.write("~/.claude/commands/two.md", "Two.")
	f.write("~/shared/SKILL.md", md("three", "x"))
	if err := errors.Join(os.MkdirAll(f.path("~/.claude/skills"), 0o755), os.Symlink(f.path("~/shared"), f.path("~/.claude/skills/three"))); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{".claude/skills/one/SKILL.md", "~/.claude/commands/two.md", "~/.claude/skills/three/SKILL.md"} {
		if _, err := f.Remove(t.Context(), SkillRef{f.row(file).ID}); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.states(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if f.read("~/shared/SKILL.md") == "" {
		t.Error("what the link leads to was removed")
	}
	bins, err := filepath.Glob(filepath.Join(trash, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range bins {
		got = append(got, filepath.Base(b))
	}
	slices.Sort(got)
	if diff := gocmp.Diff([]string{"from.txt", "from.txt", "from.txt", "one", "three", "two.md"}, got); diff != "" {
		t.Error(diff)
	}
	if found, err := filepath.Glob(filepath.Join(trash, "*", "one", "scripts", "run.sh")); err != nil || len(found) != 1 {
		t.Errorf("%q, %v", found, err)
	}
	for i := range maxTrash {
		if err := os.Mkdir(filepath.Join(trash, "9"+string(rune('0'+i/10))+string(rune('0'+i%10))), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.write(".claude/commands/four.md", "Four.")
	if _, err := f.Reload(t.Context(), backend.Empty{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Remove(t.Context(), SkillRef{f.row(".claude/commands/four.md").ID}); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(trash); err != nil || len(list) != maxTrash {
		t.Errorf("%d, %v", len(list), err)
	}
	if _, err := f.Remove(t.Context(), SkillRef{f.row("commit").ID}); problem(err) != backend.ProblemSkillBuiltIn {
		t.Error(err)
	}
}

// A skill that is off is offered to nobody and hides nothing, also after a restart.
func TestSwitch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.claude/skills/one/SKILL.md", md("one", "weaker"))
	f.write(".claude/skills/one/SKILL.md", md("one", "stronger"))
	id := f.row(".claude/skills/one/SKILL.md").ID
	if _, err := f.Switch(t.Context(), SkillSwitchRequest{ID: id}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := f.states(); !slices.Equal(got, []string{".claude/skills/one/SKILL.md off", "~/.claude/skills/one/SKILL.md ready"}) {
			t.Errorf("%q", got)
		}
		f.restart()
	}
	x := skill.Parse(skill.Place{Kind: skill.KindSkill, Scope: agent.ScopeProject, File: f.path(".claude/skills/one/SKILL.md")}, "one", "", nil)
	if err := f.MayUse(t.Context(), x, f.folder); problem(err) != backend.ProblemSkillOff {
		t.Error(err)
	}
	if _, err := f.Switch(t.Context(), SkillSwitchRequest{ID: id, On: true}); err != nil {
		t.Fatal(err)
	}
	if row := f.row(".claude/skills/one/SKILL.md"); row.State != SkillReady {
		t.Errorf("%+v", row)
	}
}
