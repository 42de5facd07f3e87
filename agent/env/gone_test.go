package env_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
)

// A working folder that is gone is named as the cause, whatever runs or is written there,
// and a command makes it again.
func TestFolderIsGone(t *testing.T) {
	t.Parallel()
	above := t.TempDir()
	dir := filepath.Join(above, "work", "deep")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Cleanup(t.Context()) })
	if err := os.RemoveAll(filepath.Join(above, "work")); err != nil {
		t.Fatal(err)
	}
	try := map[string]func() error{
		"command": func() error { _, err := l.Exec(t.Context(), env.Command{Line: "pwd"}); return err },
		"cd":      func() error { _, err := l.Exec(t.Context(), env.Command{Line: "cd / && ls"}); return err },
		"mkdir":   func() error { _, err := l.Exec(t.Context(), env.Command{Line: "mkdir -p " + dir}); return err },
		"tty":     func() error { _, err := l.Exec(t.Context(), env.Command{Line: "pwd", TTY: true}); return err },
		"task":    func() error { _, err := l.Start(t.Context(), env.Command{Line: "pwd"}); return err },
		"write":   func() error { return l.WriteFile(t.Context(), "b.txt", []byte("x")) },
		"read":    func() error { _, err := l.ReadFile(t.Context(), "b.txt"); return err },
	}
	for name, do := range try {
		if err := do(); err == nil || !strings.Contains(err.Error(), dir+" no longer exists") || !strings.Contains(err.Error(), "such as "+above) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r, err := l.Exec(t.Context(), env.Command{Line: "mkdir -p " + dir, Dir: above}); err != nil || r.ExitCode != 0 {
		t.Fatal(err)
	}
	for name, do := range try {
		if err := do(); err != nil && name != "read" {
			t.Errorf("%s, once it is there again: %v", name, err)
		}
	}
}
