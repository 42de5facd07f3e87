//go:build unix

package skills

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/internal/watch"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/storage"
)

// fixture is the skills of a folder, over a real database and real files.
type fixture struct {
	*Skills
	t                  testing.TB
	store              backend.Settings
	folder, user, home string
	told               chan struct{} // receives when the list changed
	review             *review.Reviewer
	polls              bool
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		t: t, folder: filepath.Join(base, "project"), user: filepath.Join(base, "user"), home: filepath.Join(base, "home"),
		told: make(chan struct{}, 1),
	}
	for _, dir := range []string{f.folder, f.user} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	store, err := storage.Open(context.Background(), f.home)
	if err != nil {
		t.Fatal(err)
	}
	f.store = store
	t.Cleanup(func() { _ = store.Close() })
	f.restart()
	t.Cleanup(func() { _ = f.Close(context.Background()) })
	return f
}

// restart begins anew with what is stored.
func (f *fixture) restart() {
	f.t.Helper()
	if f.Skills != nil {
		if err := f.Close(context.Background()); err != nil {
			f.t.Fatal(err)
		}
	}
	trusted := trust.New(trust.Config{Folder: f.folder, User: f.user, Store: f.store})
	cfg := Config{
		Folder: f.folder, User: f.user, Home: f.home, Store: f.store, Trust: trusted, Changed: f.changed,
		FolderOf: func(_ context.Context, session string) string { return f.path("../" + session) },
	}
	if f.polls {
		cfg.watch = watch.Config{Open: noEvents, Poll: time.Millisecond}
	}
	f.Skills = New(cfg)
	f.review = review.New(trusted, f.Skills)
}

func (f *fixture) changed() {
	select {
	case f.told <- struct{}{}:
	default:
	}
}

// await waits until something holds, looking again after each change.
func (f *fixture) await(what string, holds func() bool) {
	f.t.Helper()
	for !holds() {
		select {
		case <-f.told:
		case <-time.After(time.Minute):
			f.t.Fatalf("it was waited in vain for %s: %q", what, f.states())
		}
	}
}

// write writes a file of the project; a path that begins with ~ is the user's.
func (f *fixture) write(name, text string) {
	f.t.Helper()
	path := f.path(name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(f.user, rest)
	}
	return filepath.Join(f.folder, filepath.FromSlash(name))
}

// md returns the text of a skill's main file.
func md(name, body string) string {
	return "---\nname: " + name + "\ndescription: Does it. Use when it is to be done.\n---\n" + body + "\n"
}

func (f *fixture) list() SkillsReply {
	f.t.Helper()
	reply, err := f.List(f.t.Context(), SkillsRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	return reply
}

// states lists the skills that are not built in, with their states, by name.
func (f *fixture) states() (out []string) {
	for _, row := range f.list().Skills {
		if row.Kind != skill.KindBuiltIn {
			out = append(out, cmp.Or(row.Place.File, row.Name)+" "+string(row.State))
		}
	}
	slices.Sort(out)
	return out
}

// row returns the skill whose main file is shown so.
func (f *fixture) row(file string) SkillRow {
	f.t.Helper()
	reply := f.list()
	i := slices.IndexFunc(reply.Skills, func(r SkillRow) bool { return r.Place.File == file || r.Kind == skill.KindBuiltIn && r.Name == file })
	if i < 0 {
		f.t.Fatalf("there is no %s among %q", file, f.states())
	}
	return reply.Skills[i]
}

// offered lists what sessions may use in a folder, without the built-in ones.
func (f *fixture) offered(folder string) (out []string) {
	for _, x := range f.Library(f.t.Context(), folder).Skills() {
		if x.Place.Kind != skill.KindBuiltIn {
			out = append(out, x.Name)
		}
	}
	return out
}

func (f *fixture) accept(id string) {
	f.t.Helper()
	shown, err := f.review.Show(f.t.Context(), review.TrustRequest{ID: id})
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.review.Accept(f.t.Context(), review.TrustAcceptRequest{ID: id, Seal: shown.Seal}); err != nil {
		f.t.Fatal(err)
	}
}

// problem returns the id of a problem.
func problem(err error) backend.ProblemID {
	if e, ok := errors.AsType[*backend.Error](err); ok {
		return e.ID
	}
	return ""
}

// OAS-808, OAS-812: the skills of all folders are found, each with where it stands and
// whether it can be used. Of one name the strongest is used, and the others say which.
func TestList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.claude/skills/one/SKILL.md", md("one", "from the user"))
	f.write(".agents/skills/one/SKILL.md", md("one", "from the project"))
	f.write(".claude/commands/git/sync.md", "Synchronise.")
	f.write(".claude/skills/broken/SKILL.md", strings.Repeat("x", skill.MaxFile+1))
	f.write(".claude/skills/review/SKILL.md", md("review", "our own"))
	want := []string{
		".agents/skills/one/SKILL.md ready", ".claude/commands/git/sync.md ready", ".claude/skills/broken/SKILL.md broken",
		".claude/skills/review/SKILL.md ready", "~/.claude/skills/one/SKILL.md hidden",
	}
	if diff := gocmp.Diff(want, f.states()); diff != "" {
		t.Error(diff)
	}
	for file, others := range map[string][]string{
		"~/.claude/skills/one/SKILL.md": {".agents/skills/one/SKILL.md"}, ".agents/skills/one/SKILL.md": {"~/.claude/skills/one/SKILL.md"},
		".claude/skills/review/SKILL.md": {"review"}, "review": {".claude/skills/review/SKILL.md"}, "commit": nil,
	} {
		if row := f.row(file); !slices.Equal(row.Others, others) || row.Place.Editable != (row.Kind != skill.KindBuiltIn) {
			t.Errorf("%s: %+v", file, row)
		}
	}
	if row := f.row("review"); row.State != SkillHidden {
		t.Errorf("%+v", row)
	}
	lib := f.Library(t.Context(), f.folder)
	if x, _ := skill.Find(lib, "one"); x.Body != "from the project\n" {
		t.Errorf("%+v", x)
	}
	reply := f.list()
	if len(reply.Folders) != 11 || reply.Tokens == 0 || reply.Budget != skill.ListBudget || reply.Skills[0].State != SkillReady {
		t.Errorf("%+v", reply)
	}
	if row := f.row(".claude/skills/broken/SKILL.md"); row.Place.Editable || len(row.Findings) != 1 || row.Findings[0].Severity != skill.Critical {
		t.Errorf("%+v", row)
	}
}

// A skill is shown as it stands now: its text, what holds while it is in use, its files,
// and everything that is wrong with it.
func TestShow(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/skills/deploy/SKILL.md", "---\nname: other\ndescription: Deploys.\nallowed-tools: Read, Bash(git:*), Nonsense\n---\n!`git status`\nSee [it](references/missing.md).\n")
	f.write(".agent/skills/deploy/scripts/run.sh", "echo")
	f.write(".agent/skills/deploy/references/data", "\x00\x01")
	row := f.row(".agent/skills/deploy/SKILL.md")
	shown, err := f.Show(t.Context(), SkillRef{row.ID})
	if err != nil {
		t.Fatal(err)
	}
	rules := map[string]int{}
	for _, x := range shown.Findings {
		rules[x.Rule] = x.Line
	}
	if rules["READ-06"] != 4 || rules["SKILL-05"] == 0 {
		t.Errorf("%+v", shown.Findings)
	}
	if !gocmp.Equal(row.Findings, shown.Row.Findings) || row.Label != "other" || !gocmp.Equal(shown.Lines, []string{"git status"}) || !shown.Limits.Limited {
		t.Errorf("%+v", shown)
	}
	if diff := gocmp.Diff([]SkillFile{{"references/data", 2, false, ""}, {"scripts/run.sh", 4, true, ""}}, shown.Files); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]SkillFileReply{"scripts/run.sh": {Text: "echo"}, "references/data": {Binary: true}} {
		if got, err := f.File(t.Context(), SkillFileRequest{row.ID, path}); err != nil || got != want {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	for _, path := range []string{"SKILL.md", "../../secret", "/etc/passwd", "scripts/../scripts/run.sh"} {
		if _, err := f.File(t.Context(), SkillFileRequest{row.ID, path}); problem(err) != backend.ProblemSkillFile {
			t.Errorf("%s: %v", path, err)
		}
	}
	builtIn, err := f.Show(t.Context(), SkillRef{f.row("commit").ID})
	if err != nil || builtIn.Text == "" || len(builtIn.Findings) > 0 || !builtIn.Limits.Limited {
		t.Errorf("%+v, %v", builtIn, err)
	}
	if _, err := f.Show(t.Context(), SkillRef{"other"}); problem(err) != backend.ProblemSkillMissing {
		t.Error(err)
	}
	// Its commands are named where the user decides about it.
	f.accept(row.Place.Trust)
	if now := f.row(".agent/skills/deploy/SKILL.md"); now.State != SkillReady || builtIn.Row.Place.Trust != "" {
		t.Errorf("%+v, %+v", now, builtIn.Row)
	}
}

// A draft is checked and tried without running anything.
func TestDrafts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".claude/skills/one/SKILL.md", md("one", "First of $ARGUMENTS: !`touch made`"))
	id := f.row(".claude/skills/one/SKILL.md").ID
	got, err := f.Check(t.Context(), SkillCheckRequest{ID: id, Text: "---\nname: one\n---\nx"})
	if err != nil || !slices.ContainsFunc(got.Findings, func(x skill.SkillFinding) bool { return x.Rule == "SKILL-03" }) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = f.Check(t.Context(), SkillCheckRequest{Kind: skill.KindSkill, Name: "two", Text: md("two", "x")})
	if err != nil || len(got.Findings) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	for in, want := range map[SkillTryRequest]SkillTryReply{
		{ID: id, Args: "a b"}:                   {Prompt: "First of a b: !`touch made`", Lines: []string{"touch made"}},
		{ID: id, Args: "x", Text: "Say $1."}:    {Prompt: "Say x."},
		{Args: "y", Text: "Say $ARGUMENTS now"}: {Prompt: "Say y now"},
	} {
		if got, err := f.Try(t.Context(), in); err != nil || !gocmp.Equal(got, want) {
			t.Errorf("%+v: %+v, %v", in, got, err)
		}
	}
	if _, err := f.Try(t.Context(), SkillTryRequest{Text: strings.Repeat("x", skill.MaxFile+1)}); problem(err) != backend.ProblemSkillLarge {
		t.Error(err)
	}
	if _, err := os.Stat(f.path("made")); err == nil {
		t.Error("the line was run")
	}
}

// The template of a new skill passes every check.
func TestTemplates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	reply, err := f.Templates(t.Context(), backend.Empty{})
	if err != nil || len(reply.Templates) < 4 {
		t.Fatal(err)
	}
	for _, x := range reply.Templates {
		name := "name"
		for line := range strings.Lines(x.Text) {
			if rest, ok := strings.CutPrefix(line, "name: "); ok {
				name = strings.TrimSpace(rest)
			}
		}
		if got, err := f.Check(t.Context(), SkillCheckRequest{Kind: x.Kind, Name: name, Text: x.Text}); err != nil || len(got.Findings) > 0 {
			t.Errorf("%s: %+v, %v", x.Name, got.Findings, err)
		}
	}
}
