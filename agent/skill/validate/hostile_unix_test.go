//go:build unix

package validate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/skill"
)

const sound = "---\nname: odd\ndescription: Does one thing. Use when it has to be done.\n---\nDo it.\n"

// Nothing in a folder keeps the check from ending, and what cannot be read is said.
func TestOddFolders(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 10<<20)
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want []string
	}{
		"a loop of links": {func(t *testing.T, dir string) {
			symlink(t, ".", filepath.Join(dir, "self"))
			symlink(t, "b", filepath.Join(dir, "a"))
			symlink(t, "a", filepath.Join(dir, "b"))
			symlink(t, "..", filepath.Join(dir, "above"))
		}, nil},
		"a link to nothing": {func(t *testing.T, dir string) { symlink(t, "none.md", filepath.Join(dir, "guide.md")) }, []string{"MEDIUM REF-01 guide.md"}},
		"a link out of the skill": {func(t *testing.T, dir string) {
			write(t, filepath.Join(filepath.Dir(dir), "outside.md"), "---\nname: outside\n---\n")
			symlink(t, "../outside.md", filepath.Join(dir, "guide.md"))
		}, nil},
		"a pipe": {func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
				t.Skip(err)
			}
		}, []string{"MEDIUM CHECK-01 pipe.md"}},
		"a large file":      {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "large.md"), large) }, []string{"MEDIUM CHECK-01 large.md"}},
		"a large main file": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "SKILL.md"), sound+large) }, []string{"CRITICAL READ-02 SKILL.md"}},
		"a folder as main file": {func(t *testing.T, dir string) {
			if err := errors.Join(os.Remove(filepath.Join(dir, "SKILL.md")), os.Mkdir(filepath.Join(dir, "SKILL.md"), 0o755)); err != nil {
				t.Fatal(err)
			}
		}, []string{"CRITICAL SKILL-01 SKILL.md"}},
		"a pipe as main file": {func(t *testing.T, dir string) {
			main := filepath.Join(dir, "SKILL.md")
			if err := errors.Join(os.Remove(main), syscall.Mkfifo(main, 0o600)); err != nil {
				t.Skip(err)
			}
		}, []string{"CRITICAL CHECK-01 SKILL.md"}},
		"invalid YAML": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "SKILL.md"), "---\nname: odd\ndescription: Use when: always [x\n---\nDo it.\n")
		}, []string{"MEDIUM READ-04 SKILL.md"}},
		"bytes": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "x.md"), "---\n\xff\x00: \xfe\n---\n[x](\x00.md)\n")
		}, nil},
		"deep": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, strings.Repeat("d/", 40)+"x.md"), "installed_path")
		}, []string{"LOW CHECK-02 SKILL.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "odd")
			write(t, filepath.Join(dir, "SKILL.md"), sound)
			c.make(t, dir)
			var got []string
			for _, line := range check(t, dir, Options{}) {
				line, _, _ = strings.Cut(strings.TrimPrefix(line, "odd "), ":")
				got = append(got, line)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

// The main file may be a link to a file of the project. One that leads farther is not read.
func TestMainFileIsALink(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	dir := filepath.Join(project, "skills", "odd")
	write(t, filepath.Join(dir, "z.md"), "installed_path")
	write(t, filepath.Join(project, "docs", "odd.md"), sound)
	symlink(t, "../../docs/odd.md", filepath.Join(dir, "SKILL.md"))
	if d := cmp.Diff([]string{"odd HIGH PATH-02 z.md:1"}, check(t, dir, Options{ProjectRoot: project})); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"odd MEDIUM CHECK-01 SKILL.md:0"}, check(t, dir, Options{ProjectRoot: filepath.Dir(dir)})); d != "" {
		t.Error(d)
	}
}

// A file and a folder that may not be read are findings, and their neighbours are checked.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filepath.Join(t.TempDir(), "odd")
	write(t, filepath.Join(dir, "SKILL.md"), sound)
	write(t, filepath.Join(dir, "a.md"), "x")
	write(t, filepath.Join(dir, "z.md"), "installed_path")
	if err := os.Chmod(filepath.Join(dir, "a.md"), 0); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"odd HIGH PATH-02 z.md:1", "odd MEDIUM CHECK-01 a.md:0"}, check(t, dir, Options{})); d != "" {
		t.Error(d)
	}
}

// Of one rule so many findings are listed, and the others are counted.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "odd")
	write(t, filepath.Join(dir, "SKILL.md"), sound)
	write(t, filepath.Join(dir, "many.md"), strings.Repeat("installed_path [x](none.md)\n", 2_000))
	findings, err := Check(dir, Options{})
	if err != nil || len(findings) != 2*maxSame+2 {
		t.Fatalf("%d findings, %v", len(findings), err)
	}
	i := slices.IndexFunc(findings, func(f skill.SkillFinding) bool { return f.Rule == "CHECK-03" })
	if got := findings[i]; got.Message != fmt.Sprintf("%d more findings of PATH-02 are not listed.", 2_000-maxSame) || got.Severity != skill.High {
		t.Errorf("%+v", got)
	}
}

// A folder that is missing, or is a file, is an error.
func TestNoFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "")
	if _, err := Check(filepath.Join(dir, "none"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if _, err := Check(filepath.Join(dir, "file"), Options{}); !errors.Is(err, ErrNotFolder) {
		t.Errorf("a file: %v", err)
	}
	if _, err := Folders(filepath.Join(dir, "file"), 10); !errors.Is(err, ErrNotFolder) {
		t.Errorf("skills of a file: %v", err)
	}
}

// SKILLV-15: one folder is a skill or has skills, at any depth and behind a link.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"skills/a/SKILL.md", "skills/b/skill.md", "skills/group/c/SKILL.md", "skills/forgotten/README.md", "skills/_shared/x.md", "skills/data/x.csv", "docs/x.md", ".claude/skills/d/SKILL.md", "node_modules/e/SKILL.md"} {
		write(t, filepath.Join(dir, name), "x")
	}
	symlink(t, "a", filepath.Join(dir, "skills", "linked"))
	symlink(t, "..", filepath.Join(dir, "skills", "loop"))
	for from, want := range map[string][]string{
		".":             {".claude/skills/d", "skills/a", "skills/b", "skills/group/c", "skills/linked"},
		"skills":        {"skills/a", "skills/b", "skills/forgotten", "skills/group/c", "skills/linked"},
		"skills/a":      {"skills/a"},
		"skills/linked": {"skills/linked"},
		"docs":          {"docs"},
	} {
		found, err := Folders(filepath.Join(dir, from), 10)
		var got []string
		for _, f := range found {
			rel, _ := filepath.Rel(dir, f)
			got = append(got, filepath.ToSlash(rel))
		}
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", from, err, d)
		}
	}
	if found, err := Folders(dir, 2); err != nil || len(found) != 2 {
		t.Errorf("at most two: %v %v", found, err)
	}
}

// The text of a skill is checked without its folder, with the same findings and lines.
func TestCheckText(t *testing.T) {
	t.Parallel()
	text := "---\ndescription: x\nname: other\nallowed-tools: Bash, Nonsense\n---\n\n[x](none.md) takes 3 minutes, see /home/ada/x\n"
	place := skill.Place{Kind: skill.KindSkill, Folder: "/none/mine", File: "/none/mine/SKILL.md"}
	var got []string
	for _, f := range CheckText(skill.Parse(place, "mine", text, nil), text, Options{}) {
		got = append(got, fmt.Sprintf("%s %s %s:%d", f.Severity, f.Rule, f.File, f.Line))
	}
	want := []string{"HIGH REF-03 SKILL.md:7", "HIGH SKILL-05 SKILL.md:3", "MEDIUM SKILL-06 SKILL.md:2", "MEDIUM READ-06 SKILL.md:4", "LOW SEQ-02 SKILL.md:7"}
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	long := "---\nname: mine\ndescription: Use when " + strings.Repeat("ä", 1024) + "\n---\nDo it.\n"
	if got := CheckText(skill.Parse(place, "mine", long, nil), long, Options{}); len(got) != 1 || got[0].Rule != "SKILL-06" || !slices.Equal(got[0].Args, []string{"1033"}) {
		t.Errorf("a long description: %+v", got)
	}
	place.Kind, place.Folder = skill.KindCommand, ""
	if got := CheckText(skill.Parse(place, "go", "Go.", nil), "Go.", Options{}); len(got) != 0 {
		t.Errorf("a command needs no frontmatter: %+v", got)
	}
}

// BenchmarkHostile checks texts that are made to be slow.
func BenchmarkHostile(b *testing.B) {
	for name, text := range map[string]string{
		"lines": "a\n", "colons": ":\n", "links": "](", "targets": `exec="x.md" `, "tags": "<invoke-task>", "marks": "`", "variables": "{baseDir}/x ", "homes": "/home/", "quotes": `"./`, "fences": "```\n",
		"times": "takes ", "uses": "use a ", "definitions": "[a]: b.md\n",
	} {
		text = strings.Repeat(text, (1<<20)/len(text)-100)
		b.Run(name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "odd")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for _, f := range []string{"SKILL.md", "a.md", "b.md"} {
				if err := os.WriteFile(filepath.Join(dir, f), []byte(sound+text), 0o644); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, err := Check(dir, Options{Preset: BMAD, ProjectRoot: filepath.Dir(dir)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
