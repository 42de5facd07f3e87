//go:build unix

package skills

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
)

const (
	deploy = ".claude/skills/deploy/SKILL.md"
	script = ".claude/skills/deploy/scripts/run.sh"
)

// OAS-808: a project's skill that runs something is offered to nobody until the user
// accepted it with all of its files. Once one of them changes it is asked about again, and
// just before a use, what counts is what stands there then.
func TestTrust(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(deploy, md("deploy", "Run `scripts/run.sh`."))
	f.write(script, "echo one")
	f.write(".claude/commands/now.md", "It is !`date`.")
	f.write(".claude/skills/plain/SKILL.md", md("plain", "Words."))
	f.write("~/.claude/skills/own/SKILL.md", md("own", "!`date`"))
	if got := f.offered(f.folder); !slices.Equal(got, []string{"plain", "own"}) {
		t.Fatalf("%q", got)
	}
	reply, err := f.review.List(t.Context(), backend.Empty{})
	if err != nil || len(reply.Items) != 2 || reply.Items[0].Command != "date" || reply.Items[0].Title != "/now" || reply.Items[1].Title != "/deploy" {
		t.Fatalf("%+v, %v", reply.Items, err)
	}
	id := f.row(deploy).ID
	shown, err := f.review.Show(t.Context(), review.TrustRequest{ID: id})
	if err != nil || !slices.ContainsFunc(shown.Texts, func(x review.TrustText) bool { return x.Path == script && x.Text == "echo one" }) {
		t.Fatalf("%+v, %v", shown, err)
	}
	f.accept(id)
	if got := f.offered(f.folder); !slices.Contains(got, "deploy") || slices.Contains(got, "now") {
		t.Errorf("%q", got)
	}
	lib := f.Library(t.Context(), f.folder)
	x, _ := skill.Find(lib, "deploy")
	if err := f.MayUse(t.Context(), x, f.folder); err != nil {
		t.Fatal(err)
	}
	f.write(script, "echo two")
	if err := f.MayUse(t.Context(), x, f.folder); problem(err) != backend.ProblemSkillChanged {
		t.Error(err)
	}
	f.await("the change", func() bool {
		return f.row(deploy).State == SkillChanged && !slices.Contains(f.offered(f.folder), "deploy")
	})
	f.write(script, "echo one")
	if err := f.MayUse(t.Context(), x, f.folder); err != nil {
		t.Error(err)
	}
	// The caller's copy is what would run, not the file as it is by now.
	held := x
	held.Body += "\n!`rm -rf .`\n"
	if err := f.MayUse(t.Context(), held, f.folder); problem(err) != backend.ProblemSkillChanged {
		t.Error(err)
	}
	if _, err := f.review.Refuse(t.Context(), review.TrustRequest{ID: id}); err != nil {
		t.Fatal(err)
	}
	if err := f.MayUse(t.Context(), x, f.folder); problem(err) != backend.ProblemSkillUntrusted || f.row(deploy).State != SkillRefused {
		t.Error(err)
	}
}

// K-46: a skill of the project that approves calls in advance is offered at once, and
// approves them once the user has trusted its file as it stands. Tools that only read are
// nobody's question. The user's own need no decision.
func TestApprovalsNeedTrust(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const commit = ".claude/commands/commit.md"
	file := func(tools string) string { return "---\ndescription: X.\nallowed-tools: " + tools + "\n---\nCommit." }
	f.write(commit, file("Read, Bash(git add:*)"))
	f.write(".claude/commands/look.md", file("Read, Grep"))
	f.write(".agent/commands/limited.md", file("Bash(git add:*)"))
	f.write("~/.claude/commands/own.md", file("Bash(ls:*)"))
	approved := func(name string) []string {
		t.Helper()
		x, ok := skill.Find(f.Library(t.Context(), f.folder), name)
		if !ok {
			t.Fatalf("%s is not offered", name)
		}
		if err := f.MayUse(t.Context(), x, f.folder); err != nil {
			t.Fatal(err)
		}
		return x.Use("", true).Approved
	}
	limits := func() SkillLimits {
		t.Helper()
		shown, err := f.Show(t.Context(), SkillRef{f.row(commit).ID})
		if err != nil {
			t.Fatal(err)
		}
		return shown.Limits
	}
	if got := approved("commit"); len(got) > 0 || !limits().Waits || !f.row(commit).Place.Waits {
		t.Errorf("before it is trusted: %q, %+v", got, limits())
	}
	reply, err := f.review.List(t.Context(), backend.Empty{})
	if err != nil || len(reply.Items) != 1 || reply.Items[0].Title != "/commit" {
		t.Fatalf("%+v, %v", reply.Items, err)
	}
	if got := approved("own"); !slices.Equal(got, []string{"Bash(ls:*)"}) {
		t.Errorf("of the user: %q", got)
	}
	f.accept(f.row(commit).ID)
	if got := approved("commit"); !slices.Equal(got, []string{"Bash(git add:*)"}) || limits().Waits || f.row(commit).Place.Waits {
		t.Errorf("trusted: %q, %+v", got, limits())
	}
	held, _ := skill.Find(f.Library(t.Context(), f.folder), "commit")
	f.write(commit, file("Bash(git push:*)"))
	if err := f.MayUse(t.Context(), held, f.folder); problem(err) != backend.ProblemSkillChanged {
		t.Errorf("as it stood before: %v", err)
	}
	f.await("the change", func() bool {
		x, _ := skill.Find(f.Library(t.Context(), f.folder), "commit")
		return limits().Waits && len(x.Limits.Approved) == 0
	})
	for _, name := range []string{"look", "limited"} {
		if got := approved(name); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Nothing else is used under the name of one that waits for a decision; one that is refused
// leaves its name to others.
func TestNamesOfWhatIsNotTrusted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.claude/skills/deploy/SKILL.md", md("deploy", "own"))
	f.write(deploy, md("deploy", "!`date`"))
	if got := f.offered(f.folder); len(got) > 0 {
		t.Errorf("%q", got)
	}
	if _, err := f.review.Refuse(t.Context(), review.TrustRequest{ID: f.row(deploy).ID}); err != nil {
		t.Fatal(err)
	}
	if x, _ := skill.Find(f.Library(t.Context(), f.folder), "deploy"); x.Body != "own\n" {
		t.Errorf("%+v", x)
	}
}

// In a work tree of the project, a skill is trusted if it is what the user accepted there;
// one that stands in the work tree alone is not.
func TestWorkTrees(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{deploy, "../tree/" + deploy, "../changed/" + deploy} {
		f.write(name, md("deploy", "!`date`"))
		f.write(strings.TrimSuffix(name, "SKILL.md")+"data", "x")
	}
	f.write("../changed/.claude/skills/deploy/data", "y")
	f.write("../tree/.claude/skills/alone/SKILL.md", md("alone", "!`date`"))
	f.write("../tree/.claude/skills/plain/SKILL.md", md("plain", "Words."))
	f.accept(f.row(deploy).ID)
	for folder, want := range map[string][]string{"tree": {"deploy", "plain"}, "changed": nil} {
		if got := f.offered(f.path("../" + folder)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", folder, got)
		}
		reply, err := f.List(t.Context(), SkillsRequest{Session: folder})
		if err != nil || !slices.ContainsFunc(reply.Skills, func(r SkillRow) bool { return r.ID == f.row(deploy).ID }) {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if n, err := f.TrustForRun(t.Context()); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A run may trust what stands there, until the program ends.
func TestTrustForRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(deploy, md("deploy", "!`date`"))
	if n, err := f.TrustForRun(t.Context()); n != 1 || err != nil || len(f.offered(f.folder)) != 1 {
		t.Errorf("%d, %v", n, err)
	}
	f.restart()
	if got := f.offered(f.folder); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// When a skill was used is kept over restarts, for the one that has its name, and bounded.
func TestUsed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".claude/skills/plain/SKILL.md", md("plain", "Words."))
	f.Library(t.Context(), f.folder)
	for i := range 3 {
		f.Used("plain", time.UnixMilli(int64(5-i)))
	}
	f.Used("commit", time.UnixMilli(7))
	f.Used("nothing", time.UnixMilli(8))
	for range 2 {
		if u := f.row(".claude/skills/plain/SKILL.md").Usage; u.Last != 5 || u.Count != 3 {
			t.Errorf("%+v", u)
		}
		if u := f.row("commit").Usage; u.Last != 7 || u.Count != 1 {
			t.Errorf("%+v", u)
		}
		f.restart()
	}
	u := newUses(f.store)
	for i := range maxUsed + 5 {
		u.noted[strings.Repeat("x", i+1)] = used{int64(100 + i), 1}
	}
	if err := u.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := u.all(t.Context())
	if err != nil || len(all) != maxUsed || all["xxxxx"].Count != 0 || all["xxxxxx"].Count != 1 {
		t.Errorf("%d, %v", len(all), err)
	}
}

// A failed read of the store makes nothing usable, and is reported.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := f.store.SetSetting(t.Context(), keySwitched, "{"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.List(t.Context(), SkillsRequest{}); problem(err) != backend.ProblemSettingDamaged {
		t.Error(err)
	}
	if got := f.Library(t.Context(), f.folder).Skills(); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// A skill that vanishes while it is held is not used.
func TestVanished(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(deploy, md("deploy", "!`date`"))
	f.accept(f.row(deploy).ID)
	x, ok := skill.Find(f.Library(t.Context(), f.folder), "deploy")
	if err := errors.Join(os.RemoveAll(f.path(".claude")), os.Mkdir(f.path(".claude"), 0o755)); err != nil || !ok {
		t.Fatal(err, ok)
	}
	if err := f.MayUse(t.Context(), x, f.folder); err == nil {
		t.Error("it may be used")
	}
}
