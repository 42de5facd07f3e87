package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/storage"
)

// OAS-602: a damaged database is repaired by a command that the error names, that
// asks first, and that says what was kept.
func TestRepair(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if out, errs, code := p.run("run", "--model", "demo/tour", "hello"); code != 0 {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	path := filepath.Join(p.home, storage.File)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte("not a database!!"), 0); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := p.run("sessions", "list"); code == 0 || !strings.Contains(errs, "atelier doctor --repair") {
		t.Errorf("exit %d: %s", code, errs)
	}
	out, _, code := p.run("doctor", "--repair") // nobody answers
	if after, _ := os.ReadFile(path); code == 0 || !strings.Contains(out, "Nothing was changed.") || string(before) != string(after) {
		t.Errorf("exit %d: %s", code, out)
	}
	out, errs, code := p.run("doctor", "--repair", "--yes")
	if code != 0 || !strings.Contains(out, "Kept: 1 sessions") || !strings.Contains(out, " 0 events, 0 whole sessions") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if out, errs, code := p.run("sessions", "list"); code != 0 || !strings.Contains(out, "hello") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	old := filepath.Join(t.TempDir(), "old")
	if _, errs, code := p.run("sessions", "relink", old); code == 0 || !strings.Contains(errs, "No session belongs") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := p.run("sessions", "relink", p.folder, old); code != 0 || !strings.Contains(out, ": 1 sessions") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
