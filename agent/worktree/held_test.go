package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/worktree"
)

// K-05, LOOP-148: nothing goes with a worktree by itself: no file that git ignores, however
// it was told to, no change that it overlooks, nothing under which somebody works. What the
// project has as well may go. What goes by a person's wish is named first.
func TestHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work  func(b, own bed)
		want  worktree.Kept
		names string // what Held says
	}{
		"an ignored file": {func(_, own bed) { own.put(".env", "S") }, worktree.Ignored, "1, 1 bytes, such as .env"},
		"ignored folders": {func(_, own bed) {
			own.put("data/results.csv", strings.Repeat("x", 2000))
			own.put("data/more/raw.csv", "y")
		}, worktree.Ignored, "2, 2.0 KB, such as data/"},
		"ignored in info/exclude": {func(b, own bed) {
			b.put(".git/info/exclude", "notes\n/.worktrees/\n")
			own.put("notes", "mine")
		}, worktree.Ignored, "notes"},
		"ignored by the user's own list": {func(b, own bed) {
			b.put("../ignored", "*.db\n")
			b.git("config", "core.excludesFile", filepath.Join(filepath.Dir(b.dir), "ignored"))
			own.put("app.db", "x")
		}, worktree.Ignored, "app.db"},
		"a copy of the project's": {func(b, own bed) {
			b.put(".env", "same")
			own.put(".env", "same")
		}, "", ""},
		"not quite a copy": {func(b, own bed) {
			b.put(".env", "same")
			own.put(".env", "more")
		}, worktree.Ignored, ".env"},
		"skip-worktree": {func(_, own bed) {
			own.git("update-index", "--skip-worktree", "a")
			own.put("a", "mine\n")
		}, worktree.Hidden, "such as a"},
		"assume-unchanged": {func(_, own bed) {
			own.git("update-index", "--assume-unchanged", "sub/b")
			own.put("sub/b", "mine\n")
		}, worktree.Hidden, "sub/b"},
		"overlooked, not changed": {func(_, own bed) { own.git("update-index", "--skip-worktree", "a") }, "", ""},
		"a lock of the index":     {func(b, _ bed) { b.put(".git/worktrees/held/index.lock", "") }, worktree.Locked, "git works in it"},
		"git worktree lock":       {func(b, own bed) { b.git("worktree", "lock", own.dir) }, worktree.Locked, "told to keep it"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b := repository(t)
			b.put(".gitignore", ".env\ndata/\n")
			b.git("add", ".gitignore")
			b.git("commit", "-qm", "ignore")
			tree, own := b.create("held")
			c.work(b, own)
			listed, err := worktree.List(t.Context(), b.dir)
			if err != nil || len(listed) != 1 || listed[0].Why != c.want || !strings.Contains(listed[0].String(), c.names) || listed[0].Size == 0 {
				t.Errorf("%+v, %q, %v", listed, listed[0].Held, err)
			}
			b.removed(tree, c.want)
			if c.want == "" || c.want == worktree.Locked {
				return
			}
			if err := worktree.Discard(t.Context(), tree); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(tree.Path()); !os.IsNotExist(err) {
				t.Errorf("it was not removed at a person's wish: %v", err)
			}
		})
	}
}

// A worktree in which a process works stays.
func TestHeldByAProcess(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/cwd"); err != nil {
		t.Skip("the system does not tell the folders of processes")
	}
	b := repository(t)
	tree, own := b.create("held")
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Dir = filepath.Join(own.dir, "sub")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b.removed(tree, worktree.InUse)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	b.removed(tree, "")
}

// A worktree with submodules goes once nothing in them is new, and what would be lost in one
// keeps it: a change, an untracked or ignored file, a commit that no remote has, a stash.
func TestHeldBySubmodules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		work func(sub bed)
		want worktree.Kept
	}{
		"nothing":   {func(bed) {}, ""},
		"a change":  {func(sub bed) { sub.put("a", "2\n") }, worktree.Inner},
		"untracked": {func(sub bed) { sub.put("new", "2\n") }, worktree.Inner},
		"ignored": {func(sub bed) {
			sub.git("config", "core.excludesFile", filepath.Join(sub.dir, ".ignored"))
			sub.put(".ignored", "*.db\n.ignored\n")
			sub.put("x.db", "2")
		}, worktree.Inner},
		"a commit that was taken back": {func(sub bed) {
			sub.git("-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "x")
			sub.git("branch", "mine")
			sub.git("checkout", "-q", "HEAD~1")
		}, worktree.Inner},
		"a stash": {func(sub bed) {
			sub.put("a", "2\n")
			sub.git("-c", "user.name=a", "-c", "user.email=a", "stash", "-q")
		}, worktree.Inner},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b, inner := repository(t), repository(t)
			b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.dir, "lib")
			b.git("commit", "-qm", "lib")
			tree, own := b.create("held")
			own.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			c.work(bed{t, filepath.Join(own.dir, "lib")})
			b.removed(tree, c.want)
		})
	}
}

// Only worktrees count towards the limit, and whoever reaches it is told the way out.
func TestLimitOfTrees(t *testing.T) {
	t.Parallel()
	b := repository(t)
	b.put(worktree.Dir+"/note.txt", "mine")
	for i := range worktree.MaxTrees - 1 {
		b.put(fmt.Sprintf("%s/t%d/f", worktree.Dir, i), "")
	}
	if _, err := worktree.Create(t.Context(), b.dir, "last"); err != nil {
		t.Error(err)
	}
	if _, err := worktree.Create(t.Context(), b.dir, "more"); err == nil || !strings.Contains(err.Error(), "holds 64 worktrees") || !strings.Contains(err.Error(), "atelier worktrees") {
		t.Errorf("beyond the limit: %v", err)
	}
}
