package changes_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	udiff "github.com/aymanbagabas/go-udiff"
)

// putBack puts back a file's whole change, or a hunk, as it is shown now.
func (b bed) putBack(q changes.Query, p changes.Part) error {
	b.Helper()
	if p.Seen == "" {
		p.Seen = b.diff(q, p.Path, p.From).Seen
	}
	return b.folder.PutBack(b.Context(), q, p)
}

// refused fails the test unless err is a refusal of a kind.
func refused(t *testing.T, err error, kind changes.Refusal) {
	t.Helper()
	var e *changes.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("%v, want %s", err, kind)
	}
}

// hunksOf splits a diff.
func hunksOf(diff string) (hunks []string) {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@") {
			hunks = append(hunks, "")
		}
		hunks[len(hunks)-1] += line
	}
	return hunks
}

func numbered(n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	return lines
}

// A hunk goes back; what somebody wrote elsewhere in the file stays.
func TestPutBackHunk(t *testing.T) {
	t.Parallel()
	lines := numbered(40)
	b := repository(t, map[string]string{"f": strings.Join(lines, "")})
	lines[5], lines[30] = "changed 5\n", "changed 30\n"
	b.put("f", strings.Join(lines, ""))
	hunks := hunksOf(b.diff(uncommitted, "f", "").Diff)
	if len(hunks) != 2 {
		t.Fatalf("%q", hunks)
	}
	b.put("f", "above\nabove\n"+strings.Join(lines, "")+"below\n") // somebody goes on
	if err := b.putBack(uncommitted, changes.Part{Path: "f", Hunk: hunks[1]}); err != nil {
		t.Fatal(err)
	}
	lines[30] = "line 30\n"
	if got, want := b.read("f"), "above\nabove\n"+strings.Join(lines, "")+"below\n"; got != want {
		t.Errorf("%q", got)
	}
	refused(t, b.putBack(uncommitted, changes.Part{Path: "f", Hunk: hunks[1]}), changes.Changed)
	before := b.read("f")
	b.put("f", strings.Replace(before, "changed 5", "changed again", 1))
	refused(t, b.putBack(uncommitted, changes.Part{Path: "f", Hunk: hunks[0]}), changes.Changed)
	b.put("f", before+before)
	b.put("f", "x\n"+b.read("f"))
	refused(t, b.putBack(uncommitted, changes.Part{Path: "f", Hunk: hunks[0]}), changes.Ambiguous)
	for _, bad := range []string{"x", "@@ -1 +1 @@\n", hunks[0] + hunks[1], "@@ -1,9999999999999999999 +1 @@\n", "@@ -1 +1 @@\n-a\n-b\n+c\n"} {
		refused(t, b.putBack(uncommitted, changes.Part{Path: "f", Hunk: bad}), changes.HunkInvalid)
	}
}

// Whole files go back with line ends, modes and links; what is new there is
// never overwritten.
func TestPutBackWhole(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{
		"crlf": "1\r\n2\r\n", "bare": "1\n2", "binary": "a\x00b", "caf\xe9": "\xff\n", "gone": "1\n", "d/e/gone": "1\n", "moved": "1\n2\n3\n",
	})
	if err := os.Symlink("bare", b.path("link")); err != nil {
		t.Fatal(err)
	}
	b.put("run", "#!/bin/sh\n")
	if err := os.Chmod(b.path("run"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.git("add", "-A")
	b.git("commit", "-qm", "second")
	for name, text := range map[string]string{"crlf": "1\r\ntwo\r\n", "bare": "1\n2\n3\n", "binary": "x", "caf\xe9": "2\n", "x/y/new": "n\n", "d/staged": "s\n"} {
		b.put(name, text)
	}
	for _, name := range []string{"link", "gone", "run"} {
		if err := os.Remove(b.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(b.path("d/e")); err != nil {
		t.Fatal(err)
	}
	b.git("add", "d/staged", "crlf")
	b.git("mv", "moved", "to")
	if err := os.Symlink("/etc/passwd", b.path("link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []changes.Part{{Path: "crlf"}, {Path: "bare"}, {Path: "binary"}, {Path: `"caf\351"`}, {Path: "x/y/new"}, {Path: "d/staged"},
		{Path: "link"}, {Path: "gone"}, {Path: "run"}, {Path: "d/e/gone"}, {Path: "to", From: "moved"}} {
		if err := b.putBack(uncommitted, p); err != nil {
			t.Errorf("%s: %v", p.Path, err)
		}
	}
	if left := b.git("status", "--porcelain"); left != "" {
		t.Errorf("left:\n%s", left)
	}
	if entries, _ := os.ReadDir(b.dir); len(entries) != 10 {
		t.Errorf("%v", entries)
	}

	if _, err := os.Lstat(b.path("x")); err == nil {
		t.Error("the empty folder of a new file is still there")
	}

	b.put("bare", "changed\n")
	seen := b.diff(uncommitted, "bare", "").Seen
	b.put("bare", "changed again\n")
	refused(t, b.putBack(uncommitted, changes.Part{Path: "bare", Seen: seen}), changes.Changed)
	if err := os.Remove(b.path("gone")); err != nil {
		t.Fatal(err)
	}
	shown := b.diff(uncommitted, "gone", "")
	b.put("gone", "new\n")
	refused(t, b.putBack(uncommitted, changes.Part{Path: "gone", Seen: shown.Seen}), changes.Changed)
	refused(t, b.putBack(uncommitted, changes.Part{Path: "gone", Hunk: shown.Diff}), changes.Occupied)
	if b.read("gone") != "new\n" || b.read("bare") != "changed again\n" {
		t.Error("a later change was lost")
	}
	for _, name := range []string{"../x", "/etc/passwd", ".git/config", "a/.GIT/config", ".git./config", ".git::$INDEX_ALLOCATION/config", "GIT~1/config", "", ".", "x\x00y"} {
		err := b.folder.PutBack(t.Context(), uncommitted, changes.Part{Path: name, Seen: "absent"})
		refused(t, err, changes.Outside)
	}
	if err := os.Symlink(t.TempDir(), b.path("out")); err != nil {
		t.Fatal(err)
	}
	err := b.folder.PutBack(t.Context(), uncommitted, changes.Part{Path: "out/f", Seen: "absent"})
	refused(t, err, changes.NotPossible)
}

// A hunk that is a whole file removes or restores the file; an empty file that
// was there before stays.
func TestPutBackHunkOfWholeFile(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"empty": "", "gone": "1\n2"})
	b.put("new", "1\n")
	b.put("empty", "1\n")
	if err := os.Remove(b.path("gone")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"new", "empty", "gone"} {
		if err := b.putBack(uncommitted, changes.Part{Path: name, Hunk: b.diff(uncommitted, name, "").Diff}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := b.git("status", "--porcelain"); left != "" {
		t.Errorf("left:\n%s", left)
	}
}

// git shows no carriage returns if it converts line ends; the file keeps them.
func TestPutBackWithConvertedLineEnds(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{".gitattributes": "* text eol=crlf\n"})
	b.put("f", "1\r\n2\r\n3\r\n")
	b.git("add", "f")
	b.git("commit", "-qm", "second")
	b.put("f", "1\r\ntwo\r\n3\r\n")
	d := b.diff(uncommitted, "f", "")
	if err := b.putBack(uncommitted, changes.Part{Path: "f", Hunk: d.Diff}); err != nil || b.read("f") != "1\r\n2\r\n3\r\n" {
		t.Errorf("%v %q", err, b.read("f"))
	}
	b.put("f", "1\r\n")
	if err := b.putBack(uncommitted, changes.Part{Path: "f"}); err != nil || b.read("f") != "1\r\n2\r\n3\r\n" {
		t.Errorf("%v %q", err, b.read("f"))
	}
}

// edit is a session's edit from one content to the next.
func edit(path, before, after string) changes.Edit {
	diff := udiff.Unified("", "", before, after)
	_, diff, _ = strings.Cut(diff, "+++ \n")
	return changes.Edit{FileChange: agent.FileChange{
		Path: path, Created: before == "", Deleted: after == "", Diff: diff,
		Added: strings.Count("\n"+diff, "\n+"), Removed: strings.Count("\n"+diff, "\n-"),
	}}
}

func session(edits ...changes.Edit) changes.Query {
	return changes.Query{Scope: changes.ScopeSession, Edits: edits}
}

// A session's edits add up to one difference, also without git and after
// changes elsewhere; if they do not, they are shown one after another.
func TestSession(t *testing.T) {
	t.Parallel()
	b := bed{T: t, dir: t.TempDir()}
	b.folder = folderOf(t, b.dir)
	one := strings.Join(numbered(30), "")
	two := strings.Replace(one, "line 3\n", "three\n", 1)
	three := strings.Replace(strings.Replace(two, "three\n", "drei\n", 1), "line 20\n", "", 1)
	moved := changes.Edit{FileChange: agent.FileChange{Path: "old", MovedTo: "d/new", Diff: "@@ -1 +1 @@\n-1\n+2\n", Added: 1, Removed: 1}}
	q := session(edit("f", one, two), edit("new", "", "1\n"), edit("f", two, three), edit("gone", "1\n", ""), edit("brief", "", "1\n"),
		edit("brief", "1\n", ""), moved, edit("clash", "1\n", "2\n"))
	b.put("f", "above\n"+three)
	b.put("new", "1\n")
	b.put("d/new", "2\n")
	b.put("clash", "3\n")
	l := b.list(q)
	if l.Git != changes.GitNone {
		t.Errorf("%+v", l)
	}
	got := strings.Join(summaries(l), "\n")
	if want := "modified clash+-\nrenamed d/new < old+-\nmodified f+--\ndeleted gone-\nadded new+"; got != want {
		t.Errorf("got\n%s", got)
	}
	d := b.diff(q, "f", "")
	if want := "@@ -2,7 +2,7 @@\n line 0\n line 1\n line 2\n-line 3\n+drei\n line 4\n line 5\n line 6\n@@ -19,7 +19,6 @@\n line 17\n line 18\n line 19\n-line 20\n line 21\n line 22\n line 23\n"; d.Diff != want || d.Edits != nil {
		t.Errorf("%+v", d)
	}
	if d := b.diff(q, "clash", ""); d.Diff != "" || len(d.Edits) != 1 || d.Added != 1 {
		t.Errorf("%+v", d)
	}

	hunk := hunksOf(d.Diff)[0]
	before := b.read("f")
	if err := b.folder.PutBack(t.Context(), q, changes.Part{Path: "f", Hunk: hunk}); err != nil {
		t.Fatal(err)
	}
	reverted := edit("f", before, b.read("f"))
	reverted.ByUser = true
	q.Edits = append(q.Edits, reverted)
	if d := b.diff(q, "f", ""); len(hunksOf(d.Diff)) != 1 || !strings.Contains(d.Diff, "-line 20") {
		t.Errorf("%+v", d)
	}
	for _, p := range []changes.Part{{Path: "f"}, {Path: "new"}, {Path: "gone"}, {Path: "d/new"}} {
		if err := b.putBack(q, p); err != nil {
			t.Errorf("%s: %v", p.Path, err)
		}
	}
	if b.read("f") != "above\n"+one || b.read("gone") != "1\n" || b.read("old") != "1\n" {
		t.Errorf("%q %q", b.read("f"), b.read("gone"))
	}
	for _, name := range []string{"new", "d/new"} {
		if _, err := os.Lstat(b.path(name)); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	refused(t, b.putBack(q, changes.Part{Path: "clash"}), changes.Changed)
	b.put("new", "1\n")
	refused(t, b.putBack(q, changes.Part{Path: "new", Seen: "absent"}), changes.Changed)
	refused(t, b.putBack(q, changes.Part{Path: "other", Seen: "absent"}), changes.Changed)
	if _, err := b.folder.Diff(t.Context(), uncommitted, "f", "", changes.Shape{}); err == nil {
		t.Error("a diff without a repository")
	}
}

// Edits and hunks that are put back, in any order, leave the text without those
// hunks and with everything else.
func TestPutBackOfRandomHunks(t *testing.T) {
	t.Parallel()
	b := bed{T: t, dir: t.TempDir()}
	b.folder = folderOf(t, b.dir)
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		old := numbered(60 + r.IntN(60))
		fresh := append([]string{}, old...)
		// Each block of ten lines is changed or not, and put back or not.
		want := append([]string{}, old...)
		var back []int
		for block := range len(old) / 10 {
			at := block*10 + r.IntN(3)
			switch r.IntN(4) {
			case 0:
				continue
			case 1:
				fresh[at] = fmt.Sprintf("new %d\n", at)
			case 2:
				fresh[at] = fmt.Sprintf("%snew %d\nnewer\n", old[at], at)
			case 3:
				fresh[at] = ""
			}
			if r.IntN(2) == 0 {
				back = append(back, at)
			} else {
				want[at] = fresh[at]
			}
		}
		before, after := strings.Join(old, ""), strings.Join(fresh, "")
		q := session(edit("f", before, after))
		hunks := hunksOf(q.Edits[0].Diff)
		above := strings.Repeat("above\n", r.IntN(4))
		b.put("f", above+after+"below\n")
		for _, at := range back {
			for _, hunk := range hunks {
				if !strings.Contains(hunk, fmt.Sprintf("-line %d\n", at)) && !strings.Contains(hunk, fmt.Sprintf("+new %d\n", at)) {
					continue
				}
				if strings.Count(hunk, "\n-") > 1 || strings.Count(hunk, "+new ") > 1 { // two blocks in one hunk
					hunk = ""
				}
				if hunk == "" {
					want[at] = fresh[at]
				} else if err := b.putBack(q, changes.Part{Path: "f", Hunk: hunk, Seen: "-"}); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, hunk)
				}
			}
		}
		if got, want := b.read("f"), above+strings.Join(want, "")+"below\n"; got != want {
			t.Fatalf("seed %d:\n%s", seed, udiff.Unified("want", "got", want, got))
		}
	}
}
