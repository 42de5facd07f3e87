package changes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/changes"
	"github.com/google/go-cmp/cmp"
)

func (b bed) stage(paths ...string) {
	b.Helper()
	if err := b.folder.Stage(b.Context(), paths); err != nil {
		b.Error(err)
	}
}

// Files are staged and committed like with git, but without hooks and without a
// signature, which the answer says.
func TestCommit(t *testing.T) {
	t.Parallel()
	b := repository(t, nil)
	ran := filepath.Join(t.TempDir(), "ran")
	b.put(".git/hooks/pre-commit", "#!/bin/sh\ntouch "+ran+"\n")
	b.put(".git/hooks/commit-msg.sample", "#!/bin/sh\n")
	if err := os.Chmod(b.path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.git("config", "commit.gpgSign", "true")
	b.git("config", "gpg.program", "touch "+ran)
	b.put("a b", "1\n")
	b.put("caf\xe9", "1\n")
	b.put("other", "1\n")
	_, err := b.folder.Commit(t.Context(), "first", nil)
	refused(t, err, changes.NothingStaged)
	b.stage("a b", `"caf\351"`)
	if err := b.folder.Unstage(t.Context(), []string{"a b"}); err != nil { // before the first commit
		t.Error(err)
	}
	b.stage("a b")
	c, err := b.folder.Commit(t.Context(), "First's \"line\"\n\n# kept\n", nil)
	if err != nil || c.ID == "" || !c.Unsigned || !cmp.Equal(c.HooksSkipped, []string{"pre-commit"}) {
		t.Errorf("%+v, %v", c, err)
	}
	if got := b.git("log", "--format=%B", "--name-only"); got != "First's \"line\"\n\n# kept\n\n\na b\n\"caf\\351\"\n" {
		t.Errorf("%q", got)
	}
	b.put("a b", "2\n")
	b.put("d/new", "2\n")
	b.stage("a b")
	if c, err = b.folder.Commit(t.Context(), "second", []string{"other", "d/new"}); err != nil {
		t.Error(err)
	}
	if got := b.git("show", "--format=", "--name-only"); got != "d/new\nother\n" {
		t.Errorf("%q", got)
	}
	if got := strings.Join(summaries(b.list(uncommitted)), "\n"); got != "modified a b+- all" {
		t.Error(got)
	}
	if err := b.folder.Unstage(t.Context(), []string{"a b"}); err != nil || summaries(b.list(uncommitted))[0] != "modified a b+-" {
		t.Error(err)
	}
	refused(t, b.folder.Stage(t.Context(), []string{"other", "gone"}), changes.Vanished)
	for _, message := range []string{"", " \n", strings.Repeat("x", changes.MaxMessage+1)} {
		_, err := b.folder.Commit(t.Context(), message, nil)
		refused(t, err, changes.NoMessage)
	}
	b.put("fresh", "1\n")
	b.git("config", "user.useConfigOnly", "true")
	b.git("config", "user.email", "")
	b.git("config", "user.name", "")
	_, err = b.folder.Commit(t.Context(), "third", []string{"fresh"})
	refused(t, err, changes.NoIdentity)
	if got := b.git("status", "--porcelain"); got != " M \"a b\"\n?? fresh\n" {
		t.Errorf("the failed commit left %q", got)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the repository ran")
	}
}

// A name is a name, not a pattern or a revision.
func TestNamesAreLiteral(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"*": "1\n", ":(top)f": "1\n", "f": "1\n", "HEAD": "1\n", "-x": "1\n"})
	for _, name := range []string{"*", ":(top)f", "f", "HEAD", "-x"} {
		b.put(name, "2\n")
	}
	for _, name := range []string{"*", ":(top)f", "HEAD", "-x"} {
		if d := b.diff(uncommitted, name, ""); d.Diff != "@@ -1 +1 @@\n-1\n+2\n" {
			t.Errorf("%s: %+v", name, d)
		}
		if err := b.putBack(uncommitted, changes.Part{Path: name}); err != nil || b.read(name) != "1\n" {
			t.Errorf("%s: %v", name, err)
		}
		b.put(name, "3\n")
		b.stage(name)
		if err := b.folder.Unstage(t.Context(), []string{name}); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.folder.Commit(t.Context(), "x", []string{"*", ":(top)f"}); err != nil {
		t.Error(err)
	}
	if got := b.git("status", "--porcelain"); got != " M -x\n M HEAD\n M f\n" || b.read("f") != "2\n" {
		t.Errorf("%q", got)
	}
}

// Changes that are staged outside the folder are not committed unseen.
func TestCommitOfSubfolder(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"d/in": "1\n", "out": "1\n"})
	b.put("d/in", "2\n")
	b.put("out", "2\n")
	b.put("d/x/new", "1\n")
	sub := bed{T: t, dir: b.path("d"), folder: folderOf(t, b.path("d"))}
	if got := strings.Join(summaries(sub.list(uncommitted)), "\n"); got != "modified in+-\nuntracked x/new+" {
		t.Error(got)
	}
	if d := sub.diff(uncommitted, "in", ""); d.Diff != "@@ -1 +1 @@\n-1\n+2\n" {
		t.Errorf("%+v", d)
	}
	b.git("add", "out")
	sub.stage("in")
	_, err := sub.folder.Commit(t.Context(), "x", nil)
	refused(t, err, changes.StagedOutside)
	if _, err := sub.folder.Commit(t.Context(), "x", []string{"in", "x/new"}); err != nil {
		t.Error(err)
	}
	if got := b.git("show", "--format=", "--name-only"); got != "d/in\nd/x/new\n" {
		t.Errorf("%q", got)
	}
	sub.put("in", "3\n")
	if err := sub.putBack(uncommitted, changes.Part{Path: "in"}); err != nil || sub.read("in") != "2\n" {
		t.Error(err, sub.read("in"))
	}
}

func TestBranch(t *testing.T) {
	t.Parallel()
	b := repository(t, nil)
	if err := b.folder.Branch(t.Context(), "first"); err != nil {
		t.Error(err)
	}
	b.put("a", "1\n")
	b.stage("a")
	if _, err := b.folder.Commit(t.Context(), "x", nil); err != nil {
		t.Error(err)
	}
	config := b.read(".git/config")
	b.put("a", "2\n")
	if err := b.folder.Branch(t.Context(), "work/ünï"); err != nil {
		t.Error(err)
	}
	if l := b.list(uncommitted); l.Branch != "work/ünï" || len(l.Files) != 1 {
		t.Errorf("%+v", l)
	}
	if b.read(".git/config") != config {
		t.Error("the configuration was changed")
	}
	for _, name := range []string{"", "-x", "--force", "a..b", "a b", "@{-1}", "HEAD", "x.lock", "a\nb"} {
		refused(t, b.folder.Branch(t.Context(), name), changes.BranchInvalid)
	}
	refused(t, b.folder.Branch(t.Context(), "first"), changes.BranchExists)
}

// The branch is compared with the commit where it left its base.
func TestBranchScope(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n", "b": "1\n"})
	b.git("checkout", "-qb", "work")
	b.put("a", "2\n")
	b.git("commit", "-qam", "on the branch")
	b.git("checkout", "-q", "main")
	b.put("b", "main\n")
	b.git("commit", "-qam", "on main")
	b.git("checkout", "-q", "work")
	b.put("new", "1\n")
	q := changes.Query{Scope: changes.ScopeBranch}
	l := b.list(q)
	if got := strings.Join(summaries(l), "\n"); got != "modified a+-\nuntracked new+" || l.Base != "main" || !cmp.Equal(l.Bases, []string{"main", "work"}) {
		t.Errorf("%s %+v", got, l)
	}
	if d := b.diff(q, "a", ""); d.Diff != "@@ -1 +1 @@\n-1\n+2\n" {
		t.Errorf("%+v", d)
	}
	if err := b.putBack(q, changes.Part{Path: "a"}); err != nil || b.read("a") != "1\n" {
		t.Error(err)
	}
	for _, base := range []string{"none", "--output=x", "-x"} {
		_, err := b.folder.List(t.Context(), changes.Query{Scope: changes.ScopeBranch, Base: base})
		refused(t, err, changes.BaseUnknown)
	}
	b.git("checkout", "-q", "--orphan", "alone")
	b.git("commit", "-qm", "alone")
	_, err := b.folder.List(t.Context(), changes.Query{Scope: changes.ScopeBranch, Base: "main"})
	refused(t, err, changes.BaseUnrelated)
}
