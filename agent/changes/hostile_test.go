package changes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/sandbox"
)

// all asks for everything that can be asked of a folder, and ignores refusals.
func (b bed) all(paths ...string) {
	ctx := b.Context()
	for _, q := range []changes.Query{uncommitted, {Scope: changes.ScopeBranch}, {Scope: changes.ScopeBranch, Base: "main"}, session()} {
		_, _ = b.folder.List(ctx, q)
		for _, path := range paths {
			for _, shape := range []changes.Shape{{}, {IgnoreSpace: true, Context: 10}} {
				_, _ = b.folder.Diff(ctx, q, path, "", shape)
			}
		}
	}
	_, _ = b.folder.Material(ctx, 1000)
	_ = b.folder.Stage(ctx, paths)
	_ = b.folder.Unstage(ctx, paths)
	_ = b.folder.Stage(ctx, paths)
	_, _ = b.folder.Commit(ctx, "message", nil)
	for i, path := range paths {
		b.put(path, fmt.Sprintf("again %d\n", i))
	}
	_, _ = b.folder.Commit(ctx, "message", paths)
	for i, path := range paths {
		b.put(path, fmt.Sprintf("changed %d\n", i))
		if d, err := b.folder.Diff(ctx, uncommitted, path, "", changes.Shape{}); err == nil {
			_ = b.folder.PutBack(ctx, uncommitted, changes.Part{Path: path, Hunk: d.Diff})
			_ = b.folder.PutBack(ctx, uncommitted, changes.Part{Path: path, Seen: d.Seen})
		}
	}
	_ = b.folder.Branch(ctx, "another")
}

// Nothing that a repository configures is run. Filters are tried alone, because
// their files cannot be staged.
func TestHostileConfiguration(t *testing.T) {
	t.Parallel()
	for name, settings := range map[string][]string{
		"filters": {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "filter.a=b.clean"},
		"others": {
			"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external", "gpg.program", "gpg.ssh.program",
			"diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "core.alternateRefsCommand", "sequence.editor", "pager.diff",
			"pager.status", "alias.status", "interactive.diffFilter", "core.gitProxy", "uploadpack.packObjectsHook", "trailer.x.command",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := repository(t, map[string]string{"a": "1\n", "b": "1\n", "c": "1\n"})
			traps := t.TempDir()
			b.put(".gitattributes", "a filter=evil diff=evil merge=evil\n")
			b.put(".git/info/attributes", "b filter=a=b diff=evil\nc filter=evil\n")
			b.put("a", "2\n")
			b.put("b", "2\n")
			for _, setting := range []string{"commit.gpgSign", "log.showSignature", "filter.evil.required"} {
				b.git("config", setting, "true")
			}
			b.git("config", "diff.renames", "copies")
			for i, setting := range settings {
				program := fmt.Sprintf("touch %s/%d; cat", traps, i)
				if strings.HasPrefix(setting, "alias.") {
					program = "!" + program
				}
				b.git("config", setting, program)
			}
			if l := b.list(uncommitted); len(l.Files) != 3 || b.diff(uncommitted, "a", "").Diff == "" {
				t.Errorf("%+v", l)
			}
			b.all("a", "b")
			ran, err := os.ReadDir(traps)
			for _, trap := range ran {
				t.Errorf("setting %s was run", trap.Name())
			}
			branch, _ := os.ReadFile(b.path(".git/HEAD"))
			if _, logged := os.Stat(b.path(".git/logs/refs/heads/another")); err != nil || logged != nil || !strings.Contains(string(branch), "another") {
				t.Errorf("the operations did not work: %v, %v", err, logged)
			}
		})
	}
}

// Nor are hooks, wherever they are.
func TestHooksDoNotRun(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	for _, dir := range []string{".git/hooks/", "hooks/"} {
		for _, name := range []string{"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-index-change",
			"reference-transaction", "fsmonitor-watchman", "pre-auto-gc", "post-rewrite"} {
			b.put(dir+name, "#!/bin/sh\ntouch "+ran+"\n")
			if err := os.Chmod(b.path(dir+name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.put("a", "2\n")
	b.all("a")
	b.git("config", "core.hooksPath", "hooks")
	for _, event := range []string{"pre-commit", "pre-push"} { // Git 2.54 runs them
		b.git("config", "hook.my "+event+".event", event)
		b.git("config", "hook.my "+event+".command", "touch "+ran)
	}
	c, err := b.folder.Commit(t.Context(), "x", []string{"hooks/pre-commit"})
	if err != nil || strings.Join(c.HooksSkipped, ", ") != "pre-commit, prepare-commit-msg, commit-msg, post-commit, my pre-commit" {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook was run")
	}
}

// A file with a filter of the repository is neither staged nor restored without
// the filter, because the content would be wrong.
func TestFiltersOfTheRepository(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{".gitattributes": "f filter=up\n", "f": "a\n"})
	b.git("config", "filter.up.clean", "tr a-z A-Z")
	b.put("f", "b\n")
	refused(t, b.folder.Stage(t.Context(), []string{"f"}), changes.Filtered)
	refused(t, b.putBack(uncommitted, changes.Part{Path: "f"}), changes.Filtered)
	_, err := b.folder.Commit(t.Context(), "x", []string{"f"})
	refused(t, err, changes.Filtered)
	if b.read("f") != "b\n" || b.git("diff", "--cached", "--name-only") != "" {
		t.Error("something was changed")
	}
}

// A repository that claims another working tree shows and changes nothing
// outside the folder.
func TestHostileWorktree(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := repository(t, map[string]string{"secret": "0\n"})
	b.git("config", "core.worktree", outside)
	b.put("secret", "2\n")
	b.all("secret")
	got, err := os.ReadFile(filepath.Join(outside, "secret"))
	if string(got) != "1\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	l, err := b.folder.List(t.Context(), uncommitted)
	if err == nil && len(l.Files) > 0 {
		t.Errorf("%+v", l)
	}
}

// A bare repository, a broken one and one within git's own folder are told
// apart from none, and harm nothing.
func TestUnusableRepositories(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		make func(bed) string // returns the folder to ask about
		want changes.GitState
	}{
		"bare":             {func(b bed) string { b.git("init", "-q", "--bare", "bare"); return "bare" }, changes.GitNone},
		"git's own folder": {func(b bed) string { return ".git" }, changes.GitNone},
		"no head": {func(b bed) string {
			if err := os.Remove(b.path(".git/HEAD")); err != nil {
				b.Fatal(err)
			}
			return "."
		}, changes.GitNone},
		"broken configuration": {func(b bed) string { b.put(".git/config", "[core\n"); return "." }, changes.GitRefused},
		"leads nowhere":        {func(b bed) string { b.put("x/.git", "gitdir: /nowhere\n"); return "x" }, changes.GitRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := repository(t, map[string]string{"a": "1\n"})
			b.folder = folderOf(t, b.path(tt.make(b)))
			if l := b.list(uncommitted); l.Git != tt.want || len(l.Files) > 0 {
				t.Errorf("%+v", l)
			}
			if l := b.list(session()); l.Git != tt.want {
				t.Errorf("%+v", l)
			}
		})
	}
	b := repository(t, map[string]string{"a": "1\n"})
	b.put(".git/index", "garbage")
	if _, err := b.folder.List(t.Context(), uncommitted); err == nil {
		t.Error("a broken index: no error")
	} else {
		refused(t, err, changes.Refused)
	}
}

// An operation that git is in the middle of is reported, and a commit is
// refused where git refuses it.
func TestOperationsInProgress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state changes.GitOperation
		begin []string
	}{
		{changes.Merging, []string{"merge", "other"}},
		{changes.Rebasing, []string{"rebase", "other"}},
		{changes.Rebasing, []string{"rebase", "--apply", "other"}},
		{changes.CherryPicking, []string{"cherry-pick", "other"}},
		{changes.Reverting, []string{"revert", "--no-edit", "HEAD~1"}},
	} {
		t.Run(strings.Join(tt.begin, " "), func(t *testing.T) {
			t.Parallel()
			b := repository(t, map[string]string{"f": "1\n", "g": "1\n"})
			b.git("branch", "other")
			for _, text := range []string{"2\n", "3\n"} {
				b.put("f", text)
				b.git("commit", "-qam", text)
			}
			b.git("checkout", "-q", "other")
			b.put("f", "4\n")
			b.git("commit", "-qam", "4")
			b.git("checkout", "-q", "main")
			if r, err := sandbox.Run(t.Context(), sandbox.Spec{Dir: b.dir, Argv: append([]string{"git"}, tt.begin...)}); err != nil || r.ExitCode == 0 {
				t.Fatalf("no conflict: %v", err)
			}
			b.put("g", "2\n")
			l := b.list(uncommitted)
			if l.State != tt.state || len(l.Files) != 2 || l.Files[0].State != changes.Conflicted {
				t.Errorf("%+v", l)
			}
			if d := b.diff(uncommitted, "f", ""); !strings.Contains(d.Diff, "+<<<<<<<") {
				t.Errorf("%+v", d)
			}
			_, err := b.folder.Commit(t.Context(), "x", nil)
			refused(t, err, changes.Conflicts)
			refused(t, b.putBack(uncommitted, changes.Part{Path: "f"}), changes.Conflicts)
			refused(t, b.folder.Branch(t.Context(), "new"), changes.InProgress)
			b.put("f", "5\n")
			b.stage("f")
			_, err = b.folder.Commit(t.Context(), "x", []string{"g"})
			refused(t, err, changes.InProgress)
			if _, err = b.folder.Commit(t.Context(), "resolved", nil); err != nil {
				t.Error(err)
			}
		})
	}
	b := repository(t, map[string]string{"f": "1\n"})
	b.git("bisect", "start")
	if l := b.list(uncommitted); l.State != changes.Bisecting {
		t.Errorf("%+v", l)
	}
}

// While another git holds the index, or has left its lock behind, changes are shown, and
// nothing is changed by halves.
func TestLockedRepository(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"f": "1\n", "g": "1\n"})
	b.put("f", "2\n")
	b.stage("f")
	b.put("g", "2\n")
	b.put(".git/index.lock", "")
	if l := b.list(uncommitted); len(l.Files) != 2 || l.Files[0].Staged != changes.StagedAll {
		t.Errorf("%+v", l)
	}
	refused(t, b.folder.Stage(t.Context(), []string{"g"}), changes.Locked)
	refused(t, b.folder.Unstage(t.Context(), []string{"f"}), changes.Locked)
	_, err := b.folder.Commit(t.Context(), "x", nil)
	refused(t, err, changes.Locked)
	refused(t, b.putBack(uncommitted, changes.Part{Path: "f", Seen: b.diff(uncommitted, "f", "").Seen}), changes.Locked)
	if got := b.read("f"); got != "2\n" {
		t.Errorf("the file has %q", got)
	}
	if err := os.Remove(b.path(".git/index.lock")); err != nil {
		t.Fatal(err)
	}
	if err := b.putBack(uncommitted, changes.Part{Path: "f"}); err != nil || b.read("f") != "1\n" || b.git("diff", "--cached") != "" {
		t.Error(err)
	}
}

// A worktree, a submodule and a repository within the repository.
func TestWorktreesAndSubmodules(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n"})
	inner := repository(t, map[string]string{"x": "1\n"})
	b.git("submodule", "--quiet", "add", inner.dir, "sub")
	b.git("commit", "-qm", "submodule")
	sub := bed{T: t, dir: b.path("sub")}
	ran := filepath.Join(t.TempDir(), "ran")
	sub.git("config", "core.fsmonitor", "touch "+ran)
	sub.put("x", "2\n")
	if l := b.list(uncommitted); len(l.Files) > 0 {
		t.Errorf("%+v", l)
	}
	sub.git("-c", "core.fsmonitor=false", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "2")
	_ = os.Remove(ran)
	b.git("init", "-q", "nested")
	b.put("nested/y", "1\n")
	if got := strings.Join(summaries(b.list(uncommitted)), "\n"); got != "submodule nested\nsubmodule sub+-" {
		t.Error(got)
	}
	if d := b.diff(uncommitted, "sub", ""); !strings.Contains(d.Diff, "-Subproject commit ") {
		t.Errorf("%+v", d)
	}
	refused(t, b.putBack(uncommitted, changes.Part{Path: "sub"}), changes.NotPossible)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the submodule was run")
	}

	b.git("worktree", "add", "-q", "--detach", "../"+filepath.Base(b.dir)+"-tree")
	tree := bed{T: t, dir: b.dir + "-tree", folder: folderOf(t, b.dir+"-tree")}
	t.Cleanup(func() { _ = os.RemoveAll(tree.dir) })
	tree.put("a", "2\n")
	if l := tree.list(uncommitted); l.Branch != "" || len(l.Files) != 1 {
		t.Errorf("%+v", l)
	}
	tree.stage("a")
	if _, err := tree.folder.Commit(t.Context(), "in the tree", nil); err != nil {
		t.Error(err)
	}
}

// Without the program, the edits of a session are still there.
func TestGitMissing(t *testing.T) {
	bash := sandbox.LookPath("bash")
	bin := t.TempDir()
	if err := os.Symlink(bash, filepath.Join(bin, "bash")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	b := bed{T: t, dir: t.TempDir()}
	b.folder = folderOf(t, b.dir)
	b.put("f", "2\n")
	q := session(edit("f", "1\n", "2\n"))
	if l := b.list(q); l.Git != changes.GitMissing || len(l.Files) != 1 {
		t.Errorf("%+v", l)
	}
	if l := b.list(uncommitted); l.Git != changes.GitMissing {
		t.Errorf("%+v", l)
	}
	refused(t, b.folder.Stage(t.Context(), []string{"f"}), changes.NoGit)
	if err := b.putBack(q, changes.Part{Path: "f"}); err != nil || b.read("f") != "1\n" {
		t.Error(err)
	}
}

// Too much is counted, not shown.
func TestLimits(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"large": "1\n", "long": "1\n"})
	for i := range changes.MaxFiles + 10 {
		b.put(fmt.Sprintf("d%d/f%d", i%50, i), "1\n2\n")
	}
	b.put("large", strings.Repeat("0123456789abcdef\n", 25<<20/17))
	b.put("long", strings.Repeat("a longer line than the last one, of sixty-four characters......\n", changes.MaxDiffLines))
	changes.Patiently(b.folder)
	l := b.list(uncommitted)
	if len(l.Files) != changes.MaxFiles || l.More != 12 || l.Added < 2*(changes.MaxFiles+10) || l.Uncounted {
		t.Errorf("%d files and %d more, %d lines", len(l.Files), l.More, l.Added)
	}
	if at := slices.IndexFunc(l.Files, func(f changes.File) bool { return f.Path == "large" }); at < 0 || !l.Files[at].Large || l.Files[at].Binary {
		t.Errorf("large: %d", at)
	}
	if d := b.diff(uncommitted, "large", ""); !d.Large || d.Diff != "" || d.Binary {
		t.Errorf("%v %d", d.Large, len(d.Diff))
	}
	if d := b.diff(uncommitted, "long", ""); !d.Large || d.Diff != "" || d.Added != changes.MaxDiffLines || d.Removed != 1 {
		t.Errorf("%v %d", d.Large, d.Added)
	}
	b.put("large", "2\n"+strings.Repeat("x", 70<<20))
	refused(t, b.putBack(uncommitted, changes.Part{Path: "large", Seen: "-"}), changes.TooLarge)
	b.put("large", strings.Repeat("0123456789abcdef\n", 25<<20/17))
	if err := b.putBack(uncommitted, changes.Part{Path: "large"}); err != nil || b.read("large") != "1\n" {
		t.Error(err)
	}
	lines, total, err := b.folder.Lines(t.Context(), "long", 10, 1<<30)
	if err != nil || len(lines) != changes.MaxLines || total != changes.MaxDiffLines {
		t.Errorf("%d %d %v", len(lines), total, err)
	}
	_, _, err = b.folder.Lines(t.Context(), "none", 1, 1)
	refused(t, err, changes.Vanished)
}

// Staging and committing do not let a submodule run its filters.
func TestFiltersOfASubmodule(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n", "b": "1\n"})
	inner := repository(t, map[string]string{"x": "1\n"})
	b.git("submodule", "--quiet", "add", inner.dir, "deep/sub")
	b.git("commit", "-qm", "submodule")
	b.git("config", "submodule.recurse", "true")
	b.git("config", "submodule.deep/sub.ignore", "none")
	sub := bed{T: t, dir: b.path("deep/sub")}
	sub.put("x", "2\n")
	sub.git("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "2")
	sub.put("x", "3\n")
	ran := filepath.Join(t.TempDir(), "ran")
	sub.git("config", "filter.evil.clean", "touch "+ran+"; cat")
	b.put(".git/modules/deep/sub/info/attributes", "x filter=evil\n")

	refused(t, b.folder.Stage(t.Context(), []string{"deep"}), changes.NotPossible)
	b.put("a", "2\n")
	b.stage("deep/sub", "a")
	if got := b.git("diff", "--cached", "--name-only", "--ignore-submodules=dirty"); got != "a\ndeep/sub\n" {
		t.Error(got)
	}
	for _, paths := range [][]string{nil, {"b"}, {"deep/sub"}} {
		_, _ = b.folder.Commit(t.Context(), "message", paths)
	}
	if err := b.folder.Branch(t.Context(), "another"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter of the submodule was run")
	}
}

// The end of a merge runs no driver of the repository, though it recorded how
// conflicts were resolved.
func TestRecordedResolutions(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n2\n3\n"})
	b.git("config", "rerere.enabled", "true")
	b.git("checkout", "-qb", "other")
	b.put("a", "1\nother\n3\n")
	b.git("commit", "-qam", "other")
	b.git("checkout", "-q", "main")
	b.put("a", "1\nmain\n3\n")
	b.git("commit", "-qam", "main")
	merge := sandbox.Spec{Dir: b.dir, Argv: []string{"git", "merge", "other"}}
	if r, err := sandbox.Run(t.Context(), merge); err != nil || r.ExitCode == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	conflict, err := os.ReadFile(b.path("a"))
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile(b.path(".git/MERGE_RR"))
	if err != nil {
		t.Fatal(err)
	}
	b.put("a", "1\nboth\n3\n")
	b.git("add", "a")
	b.git("rerere")
	b.put("a", string(conflict)) // it is seen again
	b.put(".git/MERGE_RR", string(recorded))
	ran := filepath.Join(t.TempDir(), "ran")
	b.git("config", "merge.evil.driver", "touch "+ran)
	b.put(".git/info/attributes", "a merge=evil\n")
	if _, err := b.folder.Commit(t.Context(), "merged", nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a merge driver was run")
	}
}

// A commit does not start git's maintenance.
func TestNoMaintenance(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{"a": "1\n"})
	for _, text := range []string{"2\n", "3\n"} {
		b.git("repack", "-q")
		b.put("a", text)
		b.git("commit", "-qam", text)
	}
	b.git("repack", "-q")
	b.git("config", "gc.autoPackLimit", "1")
	b.git("config", "gc.autoDetach", "false")
	b.put("a", "4\n")
	if _, err := b.folder.Commit(t.Context(), "4", []string{"a"}); err != nil {
		t.Error(err)
	}
	if packs, err := filepath.Glob(b.path(".git/objects/pack/*.pack")); len(packs) != 3 || err != nil {
		t.Errorf("%d packs, %v", len(packs), err)
	}
}
