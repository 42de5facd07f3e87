package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/worktree"
)

// bed is a real folder, usually with a repository.
type bed struct {
	*testing.T
	dir string
}

func folder(t *testing.T) bed {
	t.Helper()
	if sandbox.LookPath("git") == "" {
		t.Skip("no git")
	}
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return bed{t, real}
}

// repository makes a repository with one commit, of a file and one in a folder.
func repository(t *testing.T) bed {
	t.Helper()
	b := folder(t)
	b.git("init", "-q", "-b", "main")
	b.git("config", "user.name", "A")
	b.git("config", "user.email", "a@b")
	b.put("a", "1\n")
	b.put("sub/b", "1\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "first")
	return b
}

// git runs git as a user does, and returns its output.
func (b bed) git(args ...string) string {
	b.Helper()
	r, err := sandbox.Run(b.Context(), sandbox.Spec{Dir: b.dir, Argv: append([]string{"git"}, args...)})
	if err != nil || r.ExitCode != 0 {
		b.Fatalf("git %v: %v %s", args, err, r.Stderr)
	}
	return strings.TrimSpace(r.Stdout)
}

func (b bed) put(name, text string) {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		b.Fatal(err)
	}
}

func (b bed) create(name string) (worktree.Tree, bed) {
	b.Helper()
	tree, err := worktree.Create(b.Context(), b.dir, name)
	if err != nil {
		b.Fatal(err)
	}
	return tree, bed{b.T, tree.Folder}
}

// removed checks what becomes of a worktree.
func (b bed) removed(tree worktree.Tree, want worktree.Kept) {
	b.Helper()
	kept, err := worktree.Remove(b.Context(), tree)
	if kept.Why != want || err != nil || (kept.String() == "") != (want == "") {
		b.Errorf("%q, %v, want %q", kept, err, want)
	}
	_, err = os.Stat(tree.Path())
	branch := b.git("branch", "--list", tree.Branch())
	if gone := os.IsNotExist(err); gone != (want == "") || (branch == "") != (want == "") && want != worktree.Elsewhere {
		b.Errorf("the folder is gone: %t; the branch is %q", gone, branch)
	}
}

// OAS-506: a worktree has the last commit's files on a branch of its own, git and
// the project's own files do not show it, and nothing is left of one without
// changes.
func TestCreateAndRemove(t *testing.T) {
	t.Parallel()
	b := repository(t)
	b.put("a", "not committed\n")
	b.put(".git/info/exclude", "*.log") // without a newline at the end
	one, own := b.create("one")
	if text, err := os.ReadFile(filepath.Join(one.Folder, "a")); string(text) != "1\n" || one.Folder != filepath.Join(b.dir, ".worktrees", "one") {
		t.Errorf("%q, %v in %s", text, err, one.Folder)
	}
	if branch := own.git("symbolic-ref", "--short", "HEAD"); branch != "worktree-one" {
		t.Errorf("it is on the branch %s", branch)
	}
	two, _ := b.create("two")
	if status := b.git("status", "--porcelain"); status != "M a" {
		t.Errorf("the project has %q", status)
	}
	if text, err := os.ReadFile(filepath.Join(b.dir, ".git/info/exclude")); string(text) != "*.log\n/.worktrees/\n" {
		t.Errorf("the list of ignored files is %q, %v", text, err)
	}
	b.removed(one, "")
	b.removed(two, "")
	if _, err := os.Stat(filepath.Join(b.dir, worktree.Dir)); !os.IsNotExist(err) {
		t.Errorf("the empty folder is left: %v", err)
	}
}

// OAS-506: what an agent did is never lost.
func TestKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(own bed)
		want worktree.Kept
	}{
		"changed":   {func(own bed) { own.put("a", "2\n") }, worktree.Uncommitted},
		"untracked": {func(own bed) { own.put("new/c", "2\n") }, worktree.Uncommitted},
		"hidden": {func(own bed) {
			own.git("config", "status.showUntrackedFiles", "no")
			own.put("c", "2\n")
		}, worktree.Uncommitted},
		"staged": {func(own bed) {
			own.put("c", "2\n")
			own.git("add", "c")
		}, worktree.Uncommitted},
		"committed": {func(own bed) { own.git("commit", "-q", "--allow-empty", "-m", "work") }, worktree.Unmerged},
		"detached": {func(own bed) {
			own.git("checkout", "-q", "--detach")
			own.git("commit", "-q", "--allow-empty", "-m", "work")
		}, worktree.Elsewhere},
		"other branch": {func(own bed) {
			own.git("checkout", "-q", "-b", "mine")
			own.git("branch", "-q", "-D", "worktree-kept")
		}, worktree.Elsewhere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := repository(t)
			tree, own := b.create("kept")
			c.work(own)
			b.removed(tree, c.want)
		})
	}
}

// A branch that was merged has nothing of its own any more.
func TestMerged(t *testing.T) {
	t.Parallel()
	b := repository(t)
	tree, own := b.create("merged")
	own.put("c", "1\n")
	own.git("add", "c")
	own.git("commit", "-qm", "work")
	b.git("merge", "-q", tree.Branch())
	b.removed(tree, "")
}

// A project that is a part of its repository has a worktree of all of it, and
// works in the same part.
func TestPartOfARepository(t *testing.T) {
	t.Parallel()
	b := repository(t)
	part := bed{t, filepath.Join(b.dir, "sub")}
	tree, _ := part.create("one")
	if _, err := os.Stat(filepath.Join(tree.Folder, "b")); err != nil || tree.Folder != filepath.Join(part.dir, ".worktrees/one/sub") {
		t.Errorf("%v in %s", err, tree.Folder)
	}
	if status := b.git("status", "--porcelain"); status != "" {
		t.Errorf("the project has %q", status)
	}
	part.removed(tree, "")
	b.put("new/c", "")
	if _, err := worktree.Create(t.Context(), filepath.Join(b.dir, "new"), "one"); err == nil || !strings.Contains(err.Error(), "the last commit has no folder new") {
		t.Errorf("a part that was never committed: %v", err)
	}
	if left := b.git("worktree", "list"); strings.Contains(left, "\n") {
		t.Errorf("left: %s", left)
	}
}

// A worktree can be made from within another one.
func TestWithinAWorktree(t *testing.T) {
	t.Parallel()
	b := repository(t)
	_, own := b.create("outer")
	tree, _ := own.create("inner")
	if status := own.git("status", "--porcelain"); status != "" {
		t.Errorf("it has %q", status)
	}
	own.removed(tree, "")
}

// Where there can be no worktree, the error says what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T) bed
		want    string
	}{
		"no repository": {folder, "git init"},
		"bare": {func(t *testing.T) bed {
			b := folder(t)
			b.git("init", "-q", "--bare")
			return b
		}, "git init"},
		"no commit": {func(t *testing.T) bed {
			b := folder(t)
			b.git("init", "-q")
			return b
		}, "commit first"},
		"link": {func(t *testing.T) bed {
			b := repository(t)
			if err := os.Symlink(t.TempDir(), filepath.Join(b.dir, worktree.Dir)); err != nil {
				t.Fatal(err)
			}
			return b
		}, "is not a folder"},
		"occupied": {func(t *testing.T) bed {
			b := repository(t)
			b.put(".worktrees/one/file", "")
			return b
		}, "is there already"},
		"full": {func(t *testing.T) bed {
			b := repository(t)
			for i := range worktree.MaxTrees {
				b.put(filepath.Join(worktree.Dir, "tree"+strconv.Itoa(i), "file"), "")
			}
			return b
		}, "holds 64 worktrees"},
		"another repository": {func(t *testing.T) bed {
			b, victim := folder(t), repository(t)
			b.put(".git", "gitdir: "+victim.dir+"/.git\n")
			return b
		}, "does not know this folder"},
		"linked list": {func(t *testing.T) bed {
			b := repository(t)
			list := filepath.Join(b.dir, ".git/info/exclude")
			if err := errors.Join(os.RemoveAll(list), os.Symlink(filepath.Join(t.TempDir(), "x"), list)); err != nil {
				t.Fatal(err)
			}
			return b
		}, "is not a file"},
		"linked folder of lists": {func(t *testing.T) bed {
			b := repository(t)
			info := filepath.Join(b.dir, ".git/info")
			if err := errors.Join(os.RemoveAll(info), os.Symlink(t.TempDir(), info)); err != nil {
				t.Fatal(err)
			}
			return b
		}, "is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := c.prepare(t)
			_, err := worktree.Create(t.Context(), b.dir, "one")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A name made from any text stays in its folder and is not an option.
func TestNames(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"Write the tests.": "write-the-tests-b3c4d5", "../../etc": "etc-b3c4d5", "--force": "force-b3c4d5", "写测试": "agent-b3c4d5", "": "agent-b3c4d5",
		strings.Repeat("long ", 20): "long-long-long-long-long-long-lo-b3c4d5", "a\n\x00b": "a-b-b3c4d5",
	} {
		if got := worktree.Name(words, "01ABCDA1B3C4D5"); got != want {
			t.Errorf("%q makes %q, want %q", words, got, want)
		}
	}
	b := repository(t)
	for _, name := range []string{"", "..", "a/b", "../x", "-f", "A", "a b", "a..b", strings.Repeat("a", 65)} {
		if tree, err := worktree.Create(t.Context(), b.dir, name); err == nil {
			t.Errorf("%q was made: %+v", name, tree)
		}
		if _, err := worktree.Remove(t.Context(), worktree.Tree{Project: b.dir, Name: name}); err == nil {
			t.Errorf("%q was removed", name)
		}
	}
}

// Nothing that a repository configures is run, when a worktree is made and when it
// is removed, nor what its user writes there meanwhile.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	b := repository(t)
	traps := t.TempDir()
	trap := func(name string) string { return "touch '" + filepath.Join(traps, name) + "'; cat" }
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		b.put(".git/hooks/"+hook, "#!/bin/sh\n"+trap(hook)+"\n")
	}
	b.put(".gitattributes", "a filter=evil\nsub/b filter=a=b\n")
	b.git("-c", "core.hooksPath=/dev/null", "add", ".gitattributes")
	b.git("-c", "core.hooksPath=/dev/null", "commit", "-qm", "second")
	for _, setting := range []string{"filter.evil.smudge", "filter.evil.clean", "filter.a=b.process", "core.fsmonitor", "core.editor", "core.alternateRefsCommand"} {
		b.git("config", setting, trap(setting))
	}
	b.git("config", "filter.evil.required", "true")
	b.git("config", "hook.my own.event", "post-checkout") // Git 2.54 runs it
	b.git("config", "hook.my own.command", trap("configured hook"))
	tree, _ := b.create("one")
	long := time.Unix(1e9, 0)
	if err := os.Chtimes(filepath.Join(tree.Folder, "a"), long, long); err != nil { // git has to read it again
		t.Fatal(err)
	}
	if kept, err := worktree.Remove(t.Context(), tree); kept.Why != "" || err != nil {
		t.Errorf("%q, %v", kept, err)
	}
	two, _ := b.create("two")
	evil := repository(t)
	evil.git("config", "core.fsmonitor", trap("another repository"))
	bed{t, two.Path()}.put(".git", "gitdir: "+evil.dir+"/.git\n")
	if kept, err := worktree.Remove(t.Context(), two); kept.Why != worktree.Strange || err != nil {
		t.Errorf("a worktree with another repository: %q, %v", kept, err)
	}
	ran, err := os.ReadDir(traps)
	for _, r := range ran {
		t.Errorf("%s was run", r.Name())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// An interrupted creation is an error.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	b := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := worktree.Create(ctx, b.dir, "one"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Nothing is left of a worktree whose making was interrupted: neither its folder nor its
// branch, so that it can be made again.
func TestCreateIsInterrupted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("git is ended there before it can remove the folder")
	}
	b := repository(t)
	for i := range 40 {
		b.put(filepath.Join("many", strconv.Itoa(i)), strings.Repeat(strconv.Itoa(i)+"\n", 1<<18))
	}
	b.git("add", "-A")
	b.git("commit", "-qm", "many")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-again.C:
				if _, err := os.Lstat(filepath.Join(b.dir, worktree.Dir, "one", "many")); err == nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	tree, err := worktree.Create(ctx, b.dir, "one")
	if err == nil {
		b.removed(tree, "")
		t.Skip("it was made before it could be interrupted")
	}
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left := b.git("worktree", "list"); strings.Contains(left, "one") {
		t.Errorf("git knows %s", left)
	}
	if left := b.git("branch", "--list"); left != "* main" {
		t.Errorf("left the branches %s", left)
	}
	if left, err := os.ReadDir(filepath.Join(b.dir, worktree.Dir)); len(left) > 0 {
		t.Errorf("left %v %v", left, err)
	}
	b.create("one")
}
