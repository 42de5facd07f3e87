package skill_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"github.com/google/go-cmp/cmp"
)

// put writes files: names with slashes, below a folder, and their texts. A name that ends in "->"
// becomes a link to the text.
func put(tb testing.TB, folder string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		name, link := strings.CutSuffix(name, "->")
		path := filepath.Join(folder, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil && link {
			err = os.Symlink(text, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func md(description string) string {
	return "---\ndescription: " + description + "\n---\nDo it.\n"
}

// places returns a home folder and a project's folder, which do not lie in each other.
func places(tb testing.TB) (user, folder string) {
	tb.Helper()
	base, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	user, folder = filepath.Join(base, "home"), filepath.Join(base, "work", "project")
	for _, p := range []string{user, folder} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	return user, folder
}

// discovered returns what was found without the built-in skills.
func discovered(tb testing.TB, user, folder string) (skill.Found, map[string]skill.Skill) {
	tb.Helper()
	found := skill.Discover(tb.Context(), skill.Roots(user, folder), nil)
	byName := map[string]skill.Skill{}
	for _, s := range found.Skills[len(skill.BuiltIn()):] {
		byName[s.Name] = s
	}
	return found, byName
}

// OAS-808, K-14: skills are looked for in seven folders and commands in four, and the last one that
// has a name has it.
func TestDiscoverOrder(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	order := []string{
		user + "/.agent/commands", user + "/.agent/skills", user + "/.config/agents/skills", user + "/.agents/skills", user + "/.claude/commands", user + "/.claude/skills",
		folder + "/.agents/skills", folder + "/.agent/commands", folder + "/.agent/skills", folder + "/.claude/commands", folder + "/.claude/skills",
	}
	file := func(root, name string) string {
		if filepath.Base(root) == "commands" {
			return filepath.Join(root, name+".md")
		}
		return filepath.Join(root, name, "SKILL.md")
	}
	for i, root := range order {
		put(t, "/", map[string]string{file(root, "same"): md("from " + root), file(root, fmt.Sprint("own", i)): md("own")})
	}
	put(t, user, map[string]string{".claude/skills/review/SKILL.md": md("mine")})
	for i := len(order) - 1; i >= 0; i-- {
		found, _ := discovered(t, user, folder)
		resolved := skill.Resolve(found.Skills)
		s, ok := skill.Find(skill.NewRegistry(resolved.Skills...), "same")
		if !ok || s.Description != "from "+order[i] || s.Place.File != file(order[i], "same") {
			t.Errorf("%s has the name, not %s", s.Place.File, order[i])
		}
		for _, weaker := range order[:i] {
			if by := resolved.HiddenBy[file(weaker, "same")]; by != s.Key() {
				t.Errorf("%s is hidden by %q", weaker, by)
			}
		}
		if scope := s.Place.Scope; (scope == agent.ScopeProject) != (i > 5) {
			t.Errorf("%s is of scope %s", order[i], scope)
		}
		if err := os.Remove(file(order[i], "same")); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := discovered(t, user, folder)
	resolved := skill.Resolve(found.Skills)
	if by := resolved.HiddenBy["builtin:review"]; by != user+"/.claude/skills/review/SKILL.md" {
		t.Errorf("the built-in one is hidden by %q", by)
	}
	var names []string
	for _, s := range resolved.Skills {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "own10 own9 own8 own7 own6 own5 review own4 own3 own2 own1 own0 commit debug simplify test"; got != want {
		t.Error(got)
	}
	for i, f := range found.Folders {
		if f.Path != order[i] || f.Missing || f.Err != nil || f.Count < 1 {
			t.Errorf("%+v", f)
		}
	}
}

// OAS-811: only the main file of a skill is read. The others are listed, up to a limit.
func TestDiscoverLists(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	files := map[string]string{
		"x/SKILL.md": md("x"), "x/references/a.md": "a", "x/scripts/run.py": "b", "x/tool": "#!/bin/sh\n", "x/assets/deep/c.bin": "\x00", "x/.git/config": "no", "x/node_modules/m/i.js": "no",
		"x/link.md->": "references/a.md", "x/gone->": "nowhere", "x/.hidden/run": "#!/bin/sh\n", "x/out.md->": "/etc/passwd", "x/loop->": ".", "x/other->": "../none", "x/SKILL.MD.bak": "old",
		"lower/skill.md": md("lower"), "upper/SKILL.MD": md("upper"), "none/README.md": "text", "stray.md": md("a file is not a skill"), "empty/SKILL.md": "",
	}
	for i := range 250 {
		files[fmt.Sprintf("big/f/%03d", i)] = "x"
	}
	files["big/SKILL.md"] = md("big")
	put(t, filepath.Join(folder, ".claude/skills"), files)
	found, byName := discovered(t, user, folder)
	if len(byName) != 5 || found.More {
		t.Errorf("%d skills are found", len(byName))
	}
	want := []skill.File{
		{Path: "SKILL.MD.bak", Size: 3}, {Path: "link.md", Size: 1}, {Path: "tool", Size: 10, Runs: true},
		{Path: ".hidden/run", Size: 10, Runs: true}, {Path: "assets/deep/c.bin", Size: 1}, {Path: "references/a.md", Size: 1}, {Path: "scripts/run.py", Size: 1, Runs: true},
	}
	x := byName["x"]
	// Of .git, node_modules and links to other folders and out of the project nothing is listed.
	if d := cmp.Diff(want, x.Files); d != "" || x.MoreFiles != 4 || strings.Contains(x.Body, "#!") {
		t.Errorf("%s %+v", d, x)
	}
	if x.Place.Folder != folder+"/.claude/skills/x" || byName["lower"].Place.File != folder+"/.claude/skills/lower/skill.md" || byName["upper"].Description != "upper" {
		t.Errorf("%+v", byName)
	}
	if big := byName["big"]; len(big.Files) != skill.MaxFiles || big.MoreFiles != 50 {
		t.Errorf("%d files, %d more", len(big.Files), big.MoreFiles)
	}
}

// Commands take their names from their paths.
func TestDiscoverCommands(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	put(t, filepath.Join(folder, ".claude/commands"), map[string]string{
		"fix.md": "Fix $ARGUMENTS", "git/commit.md": "a", "git/deep/er.MD": "b", "a:b/c.md": "d", "notes.txt": "no", ".hidden/x.md": "no", ".md": "no",
		"loop->": ".", "git/up->": "..", "again->": "git", "out->": "/etc", "a/b/c/d/e/f/g/h/i/j/k.md": "too deep",
	})
	put(t, filepath.Join(user, ".claude"), map[string]string{"elsewhere/mine.md": "m", "commands/linked->": "../elsewhere"})
	found, byName := discovered(t, user, folder)
	var names []string
	for _, s := range found.Skills[len(skill.BuiltIn()):] {
		names = append(names, s.Name)
		if s.Place.Kind != skill.KindCommand || s.Usage.ByModel {
			t.Errorf("%+v", s)
		}
	}
	if got, want := strings.Join(names, " "), "linked:mine a:b:c again:commit again:deep:er fix"; got != want {
		t.Error(got)
	}
	if byName["fix"].Body != "Fix $ARGUMENTS" || byName["a:b:c"].Place.File != folder+"/.claude/commands/a:b/c.md" {
		t.Errorf("%+v", byName["fix"])
	}
}

// Links of a project are followed within it alone; the user's own may lead anywhere. A file that is
// found twice counts once.
func TestDiscoverLinks(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	other := filepath.Join(filepath.Dir(folder), "other")
	put(t, other, map[string]string{"dot/SKILL.md": md("dot"), "secret/SKILL.md": md("secret"), "secret.md": "secret"})
	put(t, folder, map[string]string{
		"shared/in/SKILL.md": md("in"), ".agents/skills/both/SKILL.md": md("both"), ".claude/skills/both->": "../../.agents/skills/both",
		".claude/skills/in->": "../../shared/in", ".claude/skills/absolute->": folder + "/shared/in", ".claude/skills/out->": other + "/secret", ".claude/skills/gone->": "nowhere",
		".claude/skills/file/SKILL.md->": other + "/secret/SKILL.md", ".claude/skills/loop->": "../skills", ".claude/skills/self->": "self", ".claude/commands/c.md->": other + "/secret.md",
		".claude/skills/mine->": user + "/.claude/skills/own", ".agent->": other,
	})
	put(t, user, map[string]string{".claude/skills/dot->": other + "/dot", ".claude/skills/own/SKILL.md": md("own")})
	found, byName := discovered(t, user, folder)
	got := map[string]string{}
	for name, s := range byName {
		got[name] = s.Description
		if strings.Contains(s.Body+s.Description, "secret") {
			t.Errorf("%s was read: %+v", name, s)
		}
	}
	// "in" has two links to it, of which the later one counts.
	want := map[string]string{"both": "both", "in": "in", "dot": "dot", "own": "own", "out": "", "file": "", "c": "", "mine": ""}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, name := range []string{"out", "file", "c", "mine"} {
		if s := byName[name]; !s.Broken() || found.More || s.Findings[0].Rule != "READ-03" || s.Usage.ByUser || s.Usage.ByModel {
			t.Errorf("%+v", s)
		}
	}
	if byName["both"].Place.Root != folder+"/.claude/skills" || byName["dot"].Place.Scope != agent.ScopeUser {
		t.Errorf("%+v", byName)
	}
	for _, f := range found.Folders {
		if f.Path == folder+"/.agent/skills" && !f.Missing {
			t.Errorf("%+v", f)
		}
	}
	// A folder of skills that is itself a link out of the project is not read.
	if err := os.RemoveAll(filepath.Join(folder, ".claude")); err != nil {
		t.Fatal(err)
	}
	put(t, folder, map[string]string{".claude/skills->": other})
	found, byName = discovered(t, user, folder)
	if last := found.Folders[len(found.Folders)-1]; last.Err == nil || last.Count != 0 || len(byName) != 3 {
		t.Errorf("%+v %v", last, byName)
	}
}

// The home folder may be the project. Its skills are the user's.
func TestDiscoverAtHome(t *testing.T) {
	t.Parallel()
	user, _ := places(t)
	put(t, user, map[string]string{".claude/skills/x/SKILL.md": md("x")})
	found, byName := discovered(t, user, user)
	if len(found.Skills) != len(skill.BuiltIn())+1 || byName["x"].Place.Scope != agent.ScopeUser {
		t.Errorf("%+v", byName)
	}
}

// A folder may be moved or emptied while it is read, and what is swapped for a link is not followed.
func TestDiscoverWhileFilesMove(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	skills := filepath.Join(folder, ".claude", "skills")
	secret := filepath.Join(user, "secret")
	put(t, secret, map[string]string{"SKILL.md": md("secret")})
	put(t, skills, map[string]string{"a/SKILL.md": md("a"), "b/SKILL.md": md("b"), "c/SKILL.md": md("c")})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			_ = os.Rename(skills, skills+"2")
			_ = os.Rename(skills+"2", skills)
			_ = os.Rename(skills+"/b", skills+"/.b")
			_ = os.Symlink(secret, skills+"/b")
			_ = os.Remove(skills + "/b")
			_ = os.Rename(skills+"/.b", skills+"/b")
		}
	}()
	for moving := true; moving; {
		select {
		case <-done:
			moving = false
		default:
		}
		for _, s := range skill.Discover(t.Context(), skill.Roots("", folder), nil).Skills {
			if s.Description == "secret" {
				t.Fatal("a file outside of the project was read")
			}
		}
	}
	if _, byName := discovered(t, "", folder); len(byName) != 3 {
		t.Errorf("%v", byName)
	}
}

// Discovery is bounded, and ends with its context.
func TestDiscoverIsBounded(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	files := map[string]string{}
	for i := range 2100 {
		files[fmt.Sprintf("c%04d.md", i)] = "x"
	}
	put(t, filepath.Join(folder, ".claude/commands"), files)
	found, byName := discovered(t, user, folder)
	if !found.More || len(byName) != 2000 {
		t.Errorf("%d are found, more: %v", len(byName), found.More)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	found = skill.Discover(ctx, skill.Roots(user, folder), nil)
	if len(found.Skills) != len(skill.BuiltIn()) || !errors.Is(found.Folders[0].Err, context.Canceled) {
		t.Errorf("%+v", found.Folders)
	}
}

// OAS-812, COM-63: a program registers what is in its folders, or only some of it, and learns how many.
func TestRegisterDiscovered(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	put(t, folder, map[string]string{"s/a/SKILL.md": md("a"), "s/b/SKILL.md": md("b"), "s/c/SKILL.md": md("c"), "s/d/SKILL.md": strings.Repeat("x", skill.MaxFile+1)})
	root := skill.Root{Path: filepath.Join(folder, "s"), Scope: agent.ScopeProject, Kind: skill.KindSkill}
	all := skill.NewRegistry()
	if n := all.RegisterDiscovered(t.Context(), []skill.Root{root}, nil); n != 3 || len(all.Skills()) != 3 {
		t.Errorf("%d, %d", n, len(all.Skills()))
	}
	some := skill.NewRegistry(skill.BuiltIn()...)
	if n := some.RegisterDiscovered(t.Context(), []skill.Root{root}, nil, "a", "c", "none"); n != 2 || len(some.Skills()) != 7 {
		t.Errorf("%d, %d", n, len(some.Skills()))
	}
	if n := some.RegisterDiscovered(t.Context(), skill.Roots(user, folder), nil); n != 0 {
		t.Errorf("%d", n)
	}
	if _, err := os.Stat(filepath.Join(folder, ".claude")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("discovery made a folder")
	}
}

// 500 skills with scripts and references.
func BenchmarkDiscover(b *testing.B) {
	user, folder := places(b)
	for i := range 500 {
		put(b, filepath.Join(folder, ".claude", "skills", fmt.Sprintf("skill-%d", i)), map[string]string{
			"SKILL.md":         fmt.Sprintf("---\nname: skill-%d\ndescription: |\n  Does one thing of many. Use when it is to be done.\nallowed-tools: Read, Grep, Bash(git:*)\nmetadata:\n  version: 1.0\n---\n# Skill\n\n%s", i, strings.Repeat("Do this, and then that.\n", 150)),
			"scripts/run.py":   "print(1)\n",
			"references/a.md":  "a",
			"references/b.md":  "b",
			"assets/pic.svg":   "<svg/>",
			"assets/style.css": "a{}",
		})
	}
	for b.Loop() {
		if found := skill.Discover(b.Context(), skill.Roots(user, folder), nil); len(found.Skills) != 505 {
			b.Fatal(len(found.Skills))
		}
	}
}
