package models

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// B-F15: a file of models that is a pipe is refused, not waited for.
func TestModelsFileIsNoPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "models.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "models.json"), dir, "/dev/zero"} {
		if _, err := readModels(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
