package changes_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/sandbox"
)

// What is committed is what is shown: the staged group is the next commit, and a revert in
// a file that is staged as it stands is staged as well. Where the file has changed since it
// was staged, a revert goes back to what is staged.
func TestRevertOfStaged(t *testing.T) {
	t.Parallel()
	lines := func(changed map[int]string) string {
		all := numbered(40)
		for i, line := range changed {
			all[i] = line
		}
		return strings.Join(all, "")
	}
	one, both := lines(map[int]string{5: "five\n"}), lines(map[int]string{5: "five\n", 30: "thirty\n"})
	staged := changes.Query{Scope: changes.ScopeUncommitted, Staged: changes.StagedAll}
	rest := changes.Query{Scope: changes.ScopeUncommitted, Staged: changes.StagedNone}
	for name, tt := range map[string]struct {
		stage, now string // of f; empty means that it is removed
		query      changes.Query
		hunk       int // -1 means the whole file
		index      string
		file       string
		refused    changes.Refusal
	}{
		"a hunk of a staged file":         {both, both, staged, 1, one, one, ""},
		"the only hunk":                   {one, one, staged, 0, lines(nil), lines(nil), ""},
		"all of a staged file":            {both, both, staged, -1, lines(nil), lines(nil), ""},
		"seen as one difference":          {both, both, uncommitted, 1, one, one, ""},
		"a staged removal":                {"", "", staged, 0, lines(nil), lines(nil), ""},
		"a hunk that is not staged":       {one, both, rest, 0, one, one, ""},
		"all that is not staged":          {one, both, rest, -1, one, one, ""},
		"a removal that is not staged":    {one, "", rest, -1, one, one, ""},
		"a staged hunk, changed since":    {one, both, staged, 0, one, both, changes.NotPossible},
		"all of what is staged, the same": {one, both, staged, -1, one, both, changes.NotPossible},
		"nothing is staged":               {lines(nil), both, rest, 1, lines(nil), one, ""},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b := repository(t, map[string]string{"f": lines(nil), "g": "1\n"})
			set := func(text string) {
				if text != "" {
					b.put("f", text)
				} else if err := os.Remove(b.path("f")); err != nil {
					t.Fatal(err)
				}
			}
			set(tt.stage)
			b.git("add", "--all", "f")
			if tt.now != tt.stage {
				set(tt.now)
			}
			p := changes.Part{Path: "f"}
			d := b.diff(tt.query, "f", "")
			if p.Seen = d.Seen; tt.hunk >= 0 {
				p.Hunk = hunksOf(d.Diff)[tt.hunk]
			}
			err := b.folder.PutBack(t.Context(), tt.query, p)
			if tt.refused != "" {
				refused(t, err, tt.refused)
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{tt.index, tt.file}, []string{b.git("show", ":f"), b.read("f")}); diff != "" {
				t.Error(diff)
			}
			if got, want := b.list(uncommitted).Commit, numstat(b.git("diff", "--cached", "--numstat")); got != want {
				t.Errorf("%+v will be committed, %+v is shown", want, got)
			}
		})
	}
}

// numstat adds up git's own counts.
func numstat(text string) (sums changes.Sums) {
	for line := range strings.Lines(text) {
		added, rest, _ := strings.Cut(line, "\t")
		removed, _, _ := strings.Cut(rest, "\t")
		sums.Files, sums.Added, sums.Removed = sums.Files+1, sums.Added+number(added), sums.Removed+number(removed)
	}
	return sums
}

func number(text string) (n int) {
	for _, r := range text {
		n = 10*n + int(r-'0')
	}
	return n
}

// A file with conflicts is listed once, among what is not staged.
func TestConflictIsNotStaged(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"f": "1\n"})
	b.git("checkout", "-q", "-b", "other")
	b.put("f", "2\n")
	b.git("commit", "-qam", "two")
	b.git("checkout", "-q", "main")
	b.put("f", "3\n")
	b.git("commit", "-qam", "three")
	if r, err := sandbox.Run(t.Context(), sandbox.Spec{Dir: b.dir, Argv: []string{"git", "merge", "-q", "other"}}); err != nil || r.ExitCode == 0 {
		t.Fatal("there is no conflict")
	}
	b.put("x", "x\n")
	b.git("add", "x")
	l := b.list(uncommitted)
	var got []string
	for _, f := range l.Files {
		got = append(got, string(f.State)+" "+f.Path+" "+string(f.Staged))
	}
	if diff := cmp.Diff([]string{"conflicted f none", "added x all"}, got); diff != "" || l.Commit.Files != 1 {
		t.Error(diff, l.Commit)
	}
}
