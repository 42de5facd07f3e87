package reinstall

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/command"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// K-47: packages that npm ci would delete are there again unless it has installed others.
func TestKeep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line   string
		dir    string // whose packages are kept; empty: none are
		does   string // what the line leaves in node_modules: nothing, half or all
		before bool   // the packages of before are there afterwards
	}{
		"the network ends":                 {"npm ci", ".", "nothing", true},
		"it ends in the middle":            {"npm ci --no-audit 2>&1", ".", "half", true},
		"it works":                         {"npm ci", ".", "all", false},
		"it works, and what follows fails": {"npm ci && npm test", ".", "all", false},
		"its failure is hidden":            {"npm ci || true", ".", "half", true},
		"in a folder":                      {"cd web && npm clean-install", "web", "half", true},
		"with a variable":                  {"CI=1 npm ci", ".", "nothing", true},
		"something runs before":            {"npm test; npm ci", "", "half", false},
		"an install deletes nothing":       {"npm install", "", "half", false},
		"it only says what it does":        {"npm ci --dry-run", "", "half", false},
		"a script of that name":            {"npm run ci", "", "half", false},
		"another folder":                   {"npm --prefix web ci", "", "half", false},
		"outside of the project":           {"cd / && npm ci", "", "half", false},
		"a word of another program":        {"echo npm ci", "", "half", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			for _, dir := range []string{".", "web"} {
				write(t, filepath.Join(project, dir, "node_modules/old/index.js"), "old")
				write(t, filepath.Join(project, dir, "node_modules/.package-lock.json"), "{}")
			}
			at := command.Place{Dir: project, Project: project, Exists: exists}
			k := Keep(c.line, at)
			modules := filepath.Join(project, c.dir, "node_modules")
			if kept := c.dir != ""; kept != (k != nil) || kept == exists(modules) {
				t.Fatalf("kept: %v; packages there: %t", k, exists(modules))
			}
			if k == nil {
				return
			}
			if c.does != "nothing" {
				write(t, filepath.Join(modules, "new/index.js"), "new")
			}
			if c.does == "all" {
				write(t, filepath.Join(modules, ".package-lock.json"), "{}")
			}
			said := k.End()
			if exists(filepath.Join(modules, "old")) != c.before || exists(filepath.Join(modules, "new")) == c.before || (said != "") != c.before {
				t.Errorf("before: %t, new: %t, said %q", exists(filepath.Join(modules, "old")), exists(filepath.Join(modules, "new")), said)
			}
			if exists(filepath.Join(project, c.dir, aside)) || k.End() != said {
				t.Error("something is left")
			}
		})
	}
}

// Packages that a killed program left aside are put back by the next line.
func TestKeepAfterACrash(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	at := command.Place{Dir: project, Project: project, Exists: exists}
	write(t, filepath.Join(project, "node_modules/old/index.js"), "old")
	if Keep("npm ci", at) == nil {
		t.Fatal("nothing is kept")
	}
	again := Keep("npm ci", at)
	if again == nil || again.End() == "" || !exists(filepath.Join(project, "node_modules/old")) {
		t.Error("the packages are gone")
	}
	write(t, filepath.Join(project, aside, "other"), "a person's")
	if k := Keep("npm ci", at); k != nil || !exists(filepath.Join(project, aside, "other")) || !exists(filepath.Join(project, "node_modules/old")) {
		t.Error("a folder of that name is taken")
	}
}
