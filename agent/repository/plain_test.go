package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A configuration that is too large to be read is not plain: what it names at its end
// would run.
func TestPlainReadsAllOrNothing(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !Plain(dir, dir) {
		t.Fatal("a new repository is not plain")
	}
	config := filepath.Join(dir, ".git/config")
	content := strings.Repeat("# nothing\n", maxText/10) + "[core]\n\tfsmonitor = ./evil\n"
	if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if Plain(dir, dir) {
		t.Error("a configuration beyond the limit is plain")
	}
}
