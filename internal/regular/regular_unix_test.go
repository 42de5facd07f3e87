//go:build unix

package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"atelier.dev/atelier/internal/regular"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string]string{"empty": "", "fits": "12345678", "long": "123456789"} {
		if err := os.WriteFile(in(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("fits", in("link")), os.Symlink("pipe", in("to a pipe"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, want string
		err        error
	}{
		{in("empty"), "", nil},
		{in("fits"), "12345678", nil},
		{in("link"), "12345678", nil},
		{in("long"), "", regular.ErrUnfit},
		{in("pipe"), "", regular.ErrUnfit}, // and does not wait for a writer
		{in("to a pipe"), "", regular.ErrUnfit},
		{dir, "", regular.ErrUnfit},
		{"/dev/zero", "", regular.ErrUnfit},
		{in("absent"), "", fs.ErrNotExist},
	} {
		if got, err := regular.Read(tt.path, 8); string(got) != tt.want || !errors.Is(err, tt.err) || tt.err == nil && err != nil {
			t.Errorf("%s: %q, %v, want %q, %v", tt.path, got, err, tt.want, tt.err)
		}
	}
}
