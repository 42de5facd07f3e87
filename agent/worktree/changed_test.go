package worktree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/worktree"
)

// OAS-506: what a worktree changed is compared with where its branch left the project, whether it
// was committed, staged, edited, removed or never added; what the project did since is not in it.
func TestChangesOf(t *testing.T) {
	t.Parallel()
	b := repository(t)
	b.put("raw", "a\x00\xffb")
	b.put(".gitignore", "*.log\n")
	b.git("add", "-A")
	b.git("commit", "-qm", "second")
	tree, err := worktree.Create(t.Context(), b.dir, "run-1")
	if err != nil {
		t.Fatal(err)
	}
	b.put("a", "the project's\n")
	b.git("commit", "-qam", "theirs")

	own := bed{t, tree.Folder}
	own.put("sub/b", "1\n2\n")
	own.git("commit", "-qam", "ours")
	own.put("new", "n\n")
	own.put("ignored.log", "x")
	own.put("raw", "c\x00")
	if err := os.Remove(filepath.Join(own.dir, "a")); err != nil {
		t.Fatal(err)
	}
	own.git("rm", "-q", "--cached", ".gitignore") // it stays in the folder

	got, err := worktree.ChangesOf(t.Context(), tree, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, f := range got.Files {
		data, err := got.Content(t.Context(), f)
		if err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
		contents[f.Path] = string(data)
		if f.Path == "sub/b" && (f.Added != 1 || f.Removed != 0) || f.Untracked != (f.Path == "new" || f.Path == "ignored.log") {
			t.Errorf("%+v", f)
		}
	}
	want := map[string]string{".gitignore": "*.log\n", "a": "1\n", "new": "", "raw": "a\x00\xffb", "sub/b": "1\n"}
	delete(contents, "ignored.log") // no list ignores it any more
	if diff := cmp.Diff(want, contents); diff != "" {
		t.Error(diff)
	}
	if got.Folder() != tree.Folder {
		t.Errorf("%s", got.Folder())
	}
	if _, err := worktree.ChangesOf(t.Context(), worktree.Tree{Project: b.dir, Name: "gone"}, b.dir); err == nil {
		t.Error("a worktree that is not there was compared")
	}
}
