package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// OAS-630: a run's flags may name some calls of a tool. A rule that denies wins.
func TestRunWithRules(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("in.txt", "x"), write("docs/out.txt", "x"), write("docs/kept.txt", "x"), llmtest.Round{Text: "Done."})
	if _, errs, code := p.run("run", "--model", "openai/m", "--allowed-tools", "Edit(docs/**)", "--disallowed-tools", "Edit(kept.txt)", "go"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	for name, want := range map[string]bool{"in.txt": false, "docs/out.txt": true, "docs/kept.txt": false} {
		if _, err := os.Stat(filepath.Join(p.folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, errs, code := p.run("run", "--model", "openai/m", "--allowed-tools", "Bash(", "go"); code == 0 || !strings.Contains(errs, "bracket") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
