package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// A run does not inherit the permissions of the previous one: the flag has to
// be given again.
func TestContinueAsksForBypassAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("a.txt", "x"), llmtest.Round{Text: "One."}, write("b.txt", "x"), llmtest.Round{Text: "Two."}, write("c.txt", "x"), llmtest.Round{Text: "Three."})
	for _, tt := range []struct {
		file    string
		args    []string
		written bool
	}{
		{"a.txt", []string{"run", "--model", "openai/m", "--permission-mode", "bypassPermissions", "go"}, true},
		{"b.txt", []string{"run", "--continue", "go on"}, false},
		{"c.txt", []string{"run", "--continue", "--permission-mode", "bypassPermissions", "go on"}, true},
	} {
		if _, errs, code := p.run(tt.args...); code != 0 {
			t.Fatalf("%v: exit %d: %s", tt.args, code, errs)
		}
		if _, err := os.Stat(filepath.Join(p.folder, tt.file)); (err == nil) != tt.written {
			t.Errorf("%v: written: %v", tt.args, err == nil)
		}
	}
}
