package changes_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/changes"
	"github.com/google/go-cmp/cmp"
)

// Only a text file of the folder itself is read: nothing outside, nothing of git's, and
// nothing through a link.
func TestTextOfAFile(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"f": "a\r\nb", "sub/g": "c\n", ".git/config": "x", "binary": "a\x00b", "\"q": "quoted\n", filepath.Join("..", filepath.Base(outside), "secret"): "s",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"link": "f", "out": filepath.Join(outside, "secret"), "dir": "sub", "outdir": outside} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err)
		}
	}
	folder := folderOf(t, dir)
	for _, tt := range []struct {
		shown, listed, text string
		kind                changes.Refusal
	}{
		{"f", "f", "a\r\nb", ""},
		{"./sub/../f", "f", "a\r\nb", ""},
		{"sub/g", "sub/g", "c\n", ""},
		{`"\"q"`, `"\"q"`, "quoted\n", ""},
		{"sub", "", "", changes.Unreadable},
		{"binary", "", "", changes.NoText},
		{"link", "", "", changes.Unreadable},
		{"dir/g", "", "", changes.Unreadable},
		{"out", "", "", changes.Unreadable},
		{"outdir/secret", "", "", changes.Unreadable},
		{"none", "", "", changes.Vanished},
		{"../secret", "", "", changes.Outside},
		{filepath.Join(dir, "f"), "", "", changes.Outside},
		{".git/config", "", "", changes.Outside},
		{"", "", "", changes.Outside},
	} {
		listed, data, err := folder.Text(t.Context(), tt.shown, 10)
		var refused *changes.Error
		if tt.kind == "" && (err != nil || listed != tt.listed || string(data) != tt.text) || tt.kind != "" && (!errors.As(err, &refused) || refused.Kind != tt.kind) {
			t.Errorf("%q: %q, %q, %v, want %+v", tt.shown, listed, data, err, tt)
		}
	}
	_, _, err := folder.Text(t.Context(), "f", 3)
	var refused *changes.Error
	if !errors.As(err, &refused) || refused.Kind != changes.TooLarge {
		t.Errorf("a large file: %v", err)
	}
}

// Files are listed in order, without what is ignored or git's own, and without what
// links lead to.
func TestFilesOfTheFolder(t *testing.T) {
	t.Parallel()
	b := repository(t, map[string]string{".gitignore": "/out\n", "b.txt": "b", "a/c.txt": "c", ".hidden": "h"})
	b.put("out/x", "ignored")
	b.put("new", "not committed")
	if err := os.Symlink(t.TempDir(), filepath.Join(b.dir, "away")); err != nil {
		t.Skip(err)
	}
	files, more, err := b.folder.Files(t.Context())
	want := []string{".gitignore", ".hidden", "a/c.txt", "b.txt", "new"}
	if diff := cmp.Diff(want, files); err != nil || more || diff != "" {
		t.Errorf("%v, more %v, -want +got\n%s", err, more, diff)
	}
}
