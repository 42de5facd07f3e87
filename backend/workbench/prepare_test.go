package workbench_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/workbench"
)

// What the first session needs is read before anybody asks for it, and nothing of that
// still runs when the workbench is closed.
func TestPrepare(t *testing.T) {
	var log bytes.Buffer // written by what Prepare began, and read once that has ended
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, models.ModelsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	prepared := workbench.Prepare(home, "")
	bench := workbench.New(workbench.Config{Folder: t.TempDir(), Home: home, Getenv: func(string) string { return "" }, Prepared: prepared})
	if err := bench.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), models.ModelsFile) {
		t.Errorf("the catalogue was not read; the log says %q", log.String())
	}
}
