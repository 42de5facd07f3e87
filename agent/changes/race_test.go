package changes_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
)

// meddled is an environment in which somebody writes while a put-back is under
// way.
type meddled struct {
	*env.Local
	meddle func()
}

func (m meddled) OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if flag&os.O_CREATE != 0 && strings.Contains(path, ".atelier-") {
		m.meddle()
	}
	return m.Local.OpenFile(path, flag, perm)
}

func (m meddled) Rename(from, to string) error {
	if !strings.Contains(from, ".atelier-") {
		m.meddle()
	}
	return m.Local.Rename(from, to)
}

// The file is compared once more right before it is replaced or removed.
func TestPutBackLosesNoMeanwhileChange(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		edit changes.Edit
		now  string
		want changes.Refusal
	}{
		"changed": {edit("f", "1\n", "2\n"), "2\n", changes.Changed},
		"created": {edit("f", "", "2\n"), "2\n", changes.Changed},
		"deleted": {edit("f", "1\n", ""), "", changes.Occupied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := bed{T: t, dir: t.TempDir()}
			local, err := env.NewLocal(b.dir)
			if err != nil {
				t.Fatal(err)
			}
			b.folder = changes.Of(meddled{local, func() { b.put("f", "somebody's\n") }})
			if tt.now != "" {
				b.put("f", tt.now)
			}
			for _, hunk := range []string{"", tt.edit.Diff} {
				refused(t, b.putBack(session(tt.edit), changes.Part{Path: "f", Hunk: hunk}), tt.want)
				entries, err := os.ReadDir(b.dir)
				if b.read("f") != "somebody's\n" || len(entries) != 1 || err != nil {
					t.Errorf("%q %v", b.read("f"), entries)
				}
				if err := os.Remove(b.path("f")); err != nil {
					t.Fatal(err)
				}
				if tt.now != "" {
					b.put("f", tt.now)
				}
			}
		})
	}
}
