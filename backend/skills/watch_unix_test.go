//go:build unix

package skills

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/fsnotify/fsnotify"

	"atelier.dev/atelier/agent/skill"
)

func noEvents() (*fsnotify.Watcher, error) { return nil, errors.New("no more descriptors") }

// OAS-808: what is written while the program runs can be used without a restart, also in
// folders that are made later, and where the system tells of no changes. What is gone is
// not watched any more.
func TestHotReload(t *testing.T) {
	t.Parallel()
	for _, polls := range []bool{false, true} {
		t.Run(fmt.Sprintf("polls %t", polls), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if f.polls = polls; polls {
				f.restart()
			}
			lib := f.Library(t.Context(), f.folder)
			before := lib.Version()
			body := func(name string) string {
				x, _ := skill.Find(lib, name)
				return x.Body
			}
			watched := len(f.watch.Watched())
			f.write(".claude/skills/one/SKILL.md", md("one", "first"))
			f.await("a new folder", func() bool { return body("one") == "first\n" })
			if lib.Version() == before {
				t.Error("the version did not change")
			}
			f.write(".claude/skills/one/SKILL.md", md("one", "second"))
			f.await("an edit", func() bool { return body("one") == "second\n" })
			f.write("~/.config/agents/skills/two/SKILL.md", md("two", "x"))
			f.await("the user's folder", func() bool { return body("two") == "x\n" })
			f.write(".claude/skills/one/references/deep/a.md", "x")
			f.await("a supporting file", func() bool {
				x, _ := skill.Find(lib, "one")
				return slices.ContainsFunc(x.Files, func(a skill.File) bool { return a.Path == "references/deep/a.md" })
			})
			f.write(".claude/skills/one/tool", "x")
			f.await("a program that is not one yet", func() bool { x, _ := skill.Find(lib, "one"); return len(x.Files) == 2 })
			if err := os.Chmod(f.path(".claude/skills/one/tool"), 0o755); err != nil {
				t.Fatal(err)
			}
			f.await("its mode", func() bool { return body("one") == "" })
			if err := errors.Join(os.RemoveAll(f.path(".claude")), os.Rename(f.path("~/.config"), f.path("~/.other"))); err != nil {
				t.Fatal(err)
			}
			f.await("its end", func() bool { return len(f.states()) == 0 })
			f.await("the end of the watches", func() bool { return len(f.watch.Watched()) == watched })
		})
	}
}

// The skills of a work tree are watched, too, as long as they are asked for.
func TestWorkTreesAreWatched(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tree := f.path("../tree")
	f.list()
	f.write("../tree/.claude/skills/one/SKILL.md", md("one", "x"))
	if got := f.offered(tree); !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q", got)
	}
	f.write("../tree/.claude/skills/two/SKILL.md", md("two", "x"))
	f.await("a skill of the work tree", func() bool { return slices.Contains(f.offered(tree), "two") })
	for i := range maxPlaces {
		f.offered(f.path(fmt.Sprintf("../other%d", i)))
	}
	if got := f.folders(); len(got) != maxPlaces || slices.Contains(got, tree) || !slices.Contains(got, f.folder) {
		t.Errorf("%d: %q", len(got), got)
	}
}

// Hostile folders harm nothing but themselves: each is found or left out, and the others
// are used.
func TestHostileFolders(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".claude/skills/good/SKILL.md", md("good", "x"))
	f.write(".claude/skills/yaml/SKILL.md", "---\nname: [\ndescription: {{\n---\nBody")
	f.write(".claude/skills/binary/SKILL.md", "\x00\xff\xfe")
	f.write(".claude/skills/huge/SKILL.md", "")
	f.write(".claude/skills/closed/SKILL.md", "x")
	f.write("~/secret/SKILL.md", md("secret", "x"))
	skills := f.path(".claude/skills")
	if err := errors.Join(
		os.Truncate(filepath.Join(skills, "huge", "SKILL.md"), 10<<20), os.Chmod(filepath.Join(skills, "closed", "SKILL.md"), 0),
		os.Symlink(skills, filepath.Join(skills, "loop")), os.Symlink("self", filepath.Join(skills, "self")),
		os.Symlink(f.path("~/secret"), filepath.Join(skills, "out")), os.Symlink("../good", filepath.Join(skills, "good", "again")),
		os.Mkdir(filepath.Join(skills, "folder"), 0o755), os.Mkdir(filepath.Join(skills, "folder", "SKILL.md"), 0o755),
	); err != nil {
		t.Fatal(err)
	}
	pipe(t, filepath.Join(skills, "pipe"))
	states := map[string]SkillState{}
	for _, row := range f.list().Skills {
		states[row.Name] = row.State
		if row.Kind != skill.KindBuiltIn {
			if _, err := f.Show(t.Context(), SkillRef{row.ID}); err != nil {
				t.Errorf("%s: %v", row.Name, err)
			}
		}
	}
	for name, want := range map[string]SkillState{"good": SkillReady, "yaml": SkillReady, "huge": SkillBroken, "out": SkillBroken, "loop": ""} {
		if states[name] != want {
			t.Errorf("%s is %s", name, states[name])
		}
	}
	if got := f.offered(f.folder); !slices.Contains(got, "good") || slices.Contains(got, "pipe") || slices.Contains(got, "out") {
		t.Errorf("%q", got)
	}
}

// A folder that is moved away and back while it is read is found in the end.
func TestFoldersThatMove(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for n := range 20 {
		f.write(fmt.Sprintf(".claude/skills/s%d/SKILL.md", n), md(fmt.Sprintf("s%d", n), "x"))
	}
	f.list()
	for range 20 {
		if err := os.Rename(f.path(".claude/skills"), f.path("aside")); err != nil {
			t.Fatal(err)
		}
		f.Library(t.Context(), f.folder).Skills()
		if err := os.Rename(f.path("aside"), f.path(".claude/skills")); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.again(); err != nil {
		t.Fatal(err)
	}
	f.await("all of them", func() bool { return len(f.offered(f.folder)) == 20 })
}

// Nothing runs once it is closed.
func TestClose(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.list()
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-f.watch.Done():
	default:
		t.Error("it is still watched")
	}
	if err := f.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// BenchmarkDiscover reads 500 skills, and lists them.
func BenchmarkDiscover(b *testing.B) {
	f := newFixture(b)
	for n := range 500 {
		name := fmt.Sprintf("skill-%d", n)
		f.write(".claude/skills/"+name+"/SKILL.md", md(name, "Words and words."))
		f.write(".claude/skills/"+name+"/references/a.md", "x")
	}
	f.list()
	for b.Loop() {
		if err := f.again(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists 500 skills, the checks of all their files included.
func BenchmarkList(b *testing.B) {
	f := newFixture(b)
	for n := range 500 {
		name := fmt.Sprintf("skill-%d", n)
		f.write(".claude/skills/"+name+"/SKILL.md", md(name, "Words and words."))
	}
	f.list()
	for b.Loop() {
		if err := f.again(); err != nil {
			b.Fatal(err)
		}
		f.list()
	}
}

// pipe makes a skill whose main file is a pipe that nobody writes to.
func pipe(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(folder, "SKILL.md"), 0o644); err != nil {
		t.Fatal(err)
	}
}
