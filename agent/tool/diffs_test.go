package tool

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/env"
)

// repository makes a bench's folder, or a folder in it, a repository with one
// commit.
func (b *bench) repository(dir string) {
	b.t.Helper()
	for _, arguments := range []string{"init -q", "add .", "-c user.name=x -c user.email=x@y commit -qm first"} {
		git := exec.Command("git", strings.Fields(arguments)...)
		git.Dir = b.path(dir)
		if out, err := git.CombinedOutput(); err != nil {
			b.t.Fatalf("git %s: %v %s", arguments, err, out)
		}
	}
}

// numberedLines returns lines of a file: "line 1" and so on.
func numberedLines(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	return text.String()
}

func replacing(path, old, new string) args {
	return args{"file_path": path, "old_string": old, "new_string": new}
}

// K-42: the lines that a diff shows count as read, and no others do.
func TestLinesOfADiffCountAsRead(t *testing.T) {
	t.Parallel()
	const elsewhere, unread = "has not been read where this changes it, at line 30", "exists and has not been read"
	text := numberedLines(40)
	edited := strings.Replace(text, "line 10\n", "ten\n", 1)
	for name, tt := range map[string]struct {
		command args
		file    string
		shown   bool
	}{
		"git diff":             {args{"command": "git diff"}, "sub/f", true},
		"a diff that runs on":  {args{"command": "git diff", "yield_time_ms": 30000}, "sub/f", true},
		"from a folder of it":  {args{"command": "git diff", "workdir": "sub"}, "sub/f", true},
		"with no prefix":       {args{"command": "git diff --no-prefix"}, "sub/f", true},
		"against a commit":     {args{"command": "git diff HEAD -- sub"}, "sub/f", true},
		"an unusual name":      {args{"command": "git diff"}, "ä \t\"b", true},
		"diff":                 {args{"command": "git show HEAD:./f | diff -u - f", "workdir": "sub"}, "sub/f", true},
		"in a script":          {args{"command": "for i in 1; do git diff; done"}, "sub/f", true},
		"commit":               {args{"command": "git commit -qam x && git show"}, "sub/f", true},
		"log":                  {args{"command": "git commit -qam x && git log -p"}, "sub/f", true},
		"its first lines":      {args{"command": "git diff | head -12"}, "sub/f", true},
		"a statistic":          {args{"command": "git diff --stat"}, "sub/f", false},
		"another state":        {args{"command": "git diff -R"}, "sub/f", false},
		"no lines around it":   {args{"command": "git diff -U0"}, "sub/f", false},
		"an older commit":      {args{"command": "git diff; sed -i 's/^ten$/TEN/' sub/f"}, "sub/f", false},
		"words":                {args{"command": "git diff --word-diff"}, "sub/f", false},
		"not the file's lines": {args{"command": `printf -- '--- a/sub/f\n+++ b/sub/f\n@@ -7,1 +7,1 @@\n line 9\n'`}, "sub/f", false},
		"beyond every file":    {args{"command": `printf -- '--- a/sub/f\n+++ b/sub/f\n@@ -7,2 +9223372036854775807,2 @@\n line 8\n line 9\n'`}, "sub/f", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{tt.file: text})
			b.repository("")
			b.run("Bash", args{"command": "git config user.name x; git config user.email x@y"})
			b.put(tt.file, edited)
			b.succeed("Bash", tt.command)
			near := replacing(tt.file, "line 9", "nine")
			if !tt.shown {
				b.refuse("Edit", near, "read")
				return
			}
			b.refuse("Edit", replacing(tt.file, "line 30", "x"), elsewhere)
			b.refuse("Write", args{"file_path": tt.file, "content": "x"}, "has been read only in part")
			b.succeed("Edit", near)
			b.succeed("Edit", replacing(tt.file, "nine\nten", "9\n9.5\n10")) // it still knows the same lines
			b.refuse("Edit", replacing(tt.file, "line 30", "x"), "at line 31")
			b.put(tt.file, strings.Replace(text, "line 9", "line 9, by somebody else", 1))
			b.refuse("Edit", replacing(tt.file, "line 9", "x"), "has changed on disk")
		})
	}
	b := newBench(t, map[string]string{"f": text})
	b.refuse("Edit", replacing("f", "line 9", "x"), unread)
}

// K-42: a file that a diff shows from its first line to its last counts as
// read.
func TestANewFileInADiffCountsAsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": "one\ntwo", "g": numberedLines(20)})
	b.repository("")
	b.succeed("Bash", args{"command": "git show"})
	b.succeed("Write", args{"file_path": "f", "content": "x"})
	b.succeed("Write", args{"file_path": "g", "content": "x"})
}

// K-42: a part that is cut out of a result does not count as read.
func TestLinesCutOutOfADiffAreUnread(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": "one\n"})
	b.repository("")
	b.put("f", numberedLines(10_000))
	b.succeed("Bash", args{"command": "git diff"})
	b.refuse("Edit", replacing("f", "line 5000\n", "x\n"), "read")

	local, err := env.NewLocal(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range Builtin(local, Options{Reduce: func(string, string, int) string { return "" }}) {
		b.tools[tool.Spec().Name] = tool
	}
	b.put("f", "two\n")
	b.succeed("Bash", args{"command": "git diff"})
	b.refuse("Edit", replacing("f", "two", "x"), "exists and has not been read")
}

// K-42: the lines that a patch writes count as read afterwards.
func TestLinesOfAPatchCountAsRead(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, map[string]string{"f": numberedLines(40), "loose": "a  \nb\nc\n"})
	b.succeed("ApplyPatch", patch("*** Update File: f", "*** Move to: g", "@@", " line 9", "-line 10", "+ten", "+ten and a half", " line 11"))
	b.succeed("Edit", replacing("g", "line 9\nten", "nine\n10"))
	b.succeed("Edit", replacing("g", "ten and a half\nline 11", "11"))
	b.refuse("Edit", replacing("g", "line 12", "x"), "has not been read where this changes it, at line 12")
	b.refuse("Write", args{"file_path": "g", "content": "x"}, "has been read only in part")
	b.succeed("ApplyPatch", patch("*** Update File: loose", "@@", " a", "-b", "+B")) // it mistook the first line for another
	b.refuse("Edit", replacing("loose", "a  \n", "x\n"), "has not been read where this changes it, at line 1")
}

// K-42: lines of two diffs of the same content add up.
func TestLinesOfTwoDiffsCountAsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"f": numberedLines(40)})
	b.repository("")
	b.succeed("Bash", args{"command": "git config user.name x; git config user.email x@y; " +
		"sed -i 's/^line 10$/ten/' f; git commit -qam 2; sed -i 's/^line 30$/thirty/' f; git commit -qam 3"})
	b.succeed("Bash", args{"command": "git show HEAD~1"})
	b.succeed("Bash", args{"command": "git show"})
	b.succeed("Edit", replacing("f", "ten", "10"))
	b.succeed("Edit", replacing("f", "thirty", "30"))
	b.refuse("Edit", replacing("f", "line 20", "20"), "at line 20")
}

func TestHunksOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []hunk
	}{
		"none":            {"one\n@@ -1 +1 @@\n x\n", nil},
		"marks in it":     {"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@ f()\n--- a/x\n+++ b/x\n y\n", []hunk{{"b/f", 1, []string{"++ b/x", "y"}}}},
		"deleted":         {"--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", []hunk{{"/dev/null", 0, nil}}},
		"without an end":  {"--- f\t2026-01-01\n+++ g\t2026-01-01\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", []hunk{{"g", 1, []string{"y"}}}},
		"cut":             {"--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n x\n\n[Exit code 1]\n y\n", []hunk{{"b/f", 1, []string{"x", ""}}}},
		"huge":            {"--- a/f\n+++ b/f\n@@ -1 +99999999999999999999 @@\n x\n", []hunk{{"b/f", 0, []string{"x"}}}},
		"two, and behind": {"--- a/f\n+++ b/f\n@@ -1 +1 @@\n x\n@@ -5 +5 @@\n z\n after\n", []hunk{{"b/f", 1, []string{"x"}}, {"b/f", 5, []string{"z"}}}},
	} {
		if diff := cmp.Diff(tt.want, hunksOf(tt.text), cmp.AllowUnexported(hunk{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A change with very many parts is checked in one pass over the file. Comparing
// every line with every part would never end.
func TestManyPartsAreCoveredInOnePass(t *testing.T) {
	t.Parallel()
	const n = 300_000
	m, content, parts := NewMemory("", nil), []byte(strings.Repeat("a\n", n)), make([]span, n)
	for i := range parts {
		parts[i] = span{2 * i, 2*i + 1}
	}
	m.saw("f", content)
	if err := m.covers("f", "f", content, parts); err != nil {
		t.Error(err)
	}
}
