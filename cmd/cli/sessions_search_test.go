//go:build sqlite_fts5 || fts5

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// What was said in a session and what tools printed is found from the command line.
func TestSearchSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "The needle is \x1b[31mhere."}, llmtest.Round{Text: "Nothing."})
	for _, prompt := range []string{"where?", "a second needle"} {
		if _, errs, code := p.run("run", "--model", "openai/m", prompt); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	search := func(args ...string) (string, string) {
		t.Helper()
		out, errs, code := p.run(append([]string{"sessions", "search", "-C", p.folder}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		return out, errs
	}
	out, _ := search("NEEDLE", "in:answer")
	if !strings.Contains(out, "where?") || !strings.Contains(out, "answer") || !strings.Contains(out, "The needle is") || strings.Contains(out, "\x1b") || strings.Contains(out, "second") {
		t.Errorf("%q", out)
	}
	out, _ = search("--json", "--limit", "1", "needle -here")
	var found backend.FoundSession
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Hits) != 1 || found.Title != "a second needle" {
		t.Errorf("%v: %q", err, out)
	}
	if out, errs := search("nowhere", "cost:much"); out != "" || !strings.Contains(errs, "cost:much is not understood") {
		t.Errorf("%q, %q", out, errs)
	}
	// An option stands for itself; a word that is excluded is said, with what finds it.
	for query, want := range map[string]string{
		"needle -rf":       "Texts with “rf” are left out. To find -rf, search for \"-rf\", with its quotation marks.\n",
		"needle -here":     "Texts with “here” are left out. To find -here, search for \"-here\"",
		`needle -"is her"`: "Texts with “is her” are left out.",
		"needle --here":    "Nothing was found.\n",
		`"-rf"`:            "Nothing was found.\n",
	} {
		if _, errs := search("--", query); !strings.HasPrefix(errs, want) {
			t.Errorf("%s: %q", query, errs)
		}
	}
	if _, errs := search("--limit", "1", "needle"); errs != "The list was cut after 1. --limit N shows more, --limit 0 all.\n" {
		t.Errorf("%q", errs)
	}
	if out, errs := search("--limit", "0", "needle"); errs != "" || strings.Count(out, "needle") < 3 {
		t.Errorf("%q, %q", out, errs)
	}
	for _, args := range [][]string{{}, {"--limit", "-1", "x"}} {
		if _, errs, code := p.run(append([]string{"sessions", "search"}, args...)...); code != 2 || !strings.Contains(errs, "Usage: atelier sessions search") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}
