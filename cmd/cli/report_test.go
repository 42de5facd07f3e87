package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// LOOP-47, K-45: a run says which instructions the model was told only in part.
func TestRunReportsCutInstructions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Done."})
	if err := os.WriteFile(filepath.Join(p.folder, "AGENTS.md"), bytes.Repeat([]byte("x"), 40_000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, _ := p.run("run", "--model", "openai/test-model", "go")
	if want := "AGENTS.md are too long: the model was told 32768 of 40000 bytes."; !strings.Contains(errs, want) {
		t.Errorf("%q is not in %s", want, errs)
	}
}
