package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/worktree"
)

// A new worktree gets the ignored files that .worktreeinclude names, and no others: nothing
// that is tracked or untracked, and nothing through a link.
func TestInclude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list string
		want []string
	}{
		"none":            {"", nil},
		"one name":        {".env\n", []string{".env", "sub/.env"}},
		"at the top":      {"/.env\n", []string{".env"}},
		"a pattern":       {"*.db\n!app.db\n", []string{"other.db"}},
		"a folder":        {"secrets/\n", []string{"secrets/deep/key"}},
		"not ignored":     {"untracked\na\n", nil},
		"a link":          {"linked\n", nil},
		"comments, blank": {"# mine\n\n.env\n", []string{".env", "sub/.env"}},
		"everything":      {"*\n", []string{".env", "app.db", "other.db", "secrets/deep/key", "sub/.env"}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b := repository(t)
			b.put(".gitignore", ".env\n*.db\nsecrets/\nlinked\n")
			if c.list != "" {
				b.put(".worktreeinclude", c.list)
			}
			b.git("add", "-A")
			b.git("commit", "-qm", "ignore")
			for _, file := range []string{".env", "sub/.env", "app.db", "other.db", "secrets/deep/key", "untracked"} {
				b.put(file, file)
			}
			if err := os.Symlink("/etc/passwd", filepath.Join(b.dir, "linked")); err != nil {
				t.Fatal(err)
			}
			tree, own := b.create("one")
			var got []string
			for _, file := range []string{".env", "app.db", "linked", "other.db", "secrets/deep/key", "sub/.env", "untracked"} {
				if text, err := os.ReadFile(filepath.Join(own.dir, file)); err == nil && string(text) == file {
					got = append(got, file)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || tree.Included != len(c.want) {
				t.Errorf("%d were copied: %s", tree.Included, diff)
			}
			b.removed(tree, worktree.Kept(""))
		})
	}
}
