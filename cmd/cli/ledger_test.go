package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/audit"
	"github.com/google/go-cmp/cmp"
)

// OAS-630: the command line lists what ran and what decided about it.
func TestLedger(t *testing.T) {
	t.Parallel()
	bash := func(command string) llmtest.Call { return llmtest.Use("Bash", map[string]any{"command": command}) }
	p := newPlace(t,
		llmtest.Round{Calls: []llmtest.Call{
			llmtest.Use("Read", map[string]any{"file_path": "a.txt"}), bash("touch made\n\n# \x1b[31m"), bash("rm made"),
		}},
		llmtest.Round{Text: "Done."},
	)
	settings := `{"permissions":{"deny":["Bash(rm *)"]}}`
	for name, text := range map[string]string{"a.txt": "a\n", ".agent/settings.json": settings} {
		path := filepath.Join(p.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code := p.run("run", "--model", "compat/test-model", "--permission-mode", "bypassPermissions", "go"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	out, errs, code := p.run("ledger")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	dated := regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  `)
	want := []string{
		"denied       Bash  rm made  (denied by the project rule Bash(rm *))",
		"done         Bash  touch made # ⟨U+001B⟩[31m  (allowed by the mode bypassPermissions)",
		"done         Read  a.txt  (allowed by the mode bypassPermissions)",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(dated.ReplaceAllString(out, "")), "\n")); diff != "" {
		t.Error(diff)
	}

	out, errs, code = p.run("ledger", "--json", "--denied")
	var row audit.LedgerRow
	if err := json.Unmarshal([]byte(out), &row); err != nil || code != 0 || row.Subject != "rm made" || row.Authority.By != agent.ByRule {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	for args, lines := range map[string]int{
		"--limit 2": 2, "--unasked": 1, "--tool Read": 1, "--session " + row.Place.Session: 3, "--limit 1 --json": 1,
	} {
		out, errs, code := p.run(append([]string{"ledger"}, strings.Fields(args)...)...)
		if code != 0 || strings.Count(out, "\n") != lines {
			t.Errorf("%s: exit %d: %s%s", args, code, out, errs)
		}
	}
	for args, want := range map[string]int{"--session nobody": 1, "--limit -1": 2, "a b": 2} {
		if _, _, code := p.run(append([]string{"ledger"}, strings.Fields(args)...)...); code != want {
			t.Errorf("%s: exit %d, want %d", args, code, want)
		}
	}
}
