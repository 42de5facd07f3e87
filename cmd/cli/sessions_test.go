package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// Sessions are listed, shown and renamed. An id may be given by its beginning.
func TestSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	for _, prompt := range []string{"first \x1b[31mthing", "second thing"} {
		if _, errs, code := p.run("run", "--model", "openai/m", prompt); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	listed := p.sessions("list", "--json")
	if len(listed) != 2 || listed[0].Title != "second thing" || listed[1].Prompt != "first \x1b[31mthing" || listed[1].Messages != 2 {
		t.Fatalf("listed %+v", listed)
	}
	first := listed[1].ID
	renamed := p.sessions("rename", "--json", strings.ToLower(first[:25]), "another", "title")
	if len(renamed) != 1 || renamed[0].ID != first || renamed[0].Title != "another title" {
		t.Errorf("renamed %+v", renamed)
	}
	if shown := p.sessions("show", "--json", first); len(shown) != 1 || shown[0].Title != "another title" {
		t.Errorf("shown %+v", shown)
	}
	out, _, code := p.run("sessions", "list", "-C", p.folder)
	if code != 0 || !strings.Contains(out, first) || !strings.Contains(out, "another title") || strings.Contains(out, "\x1b") {
		t.Errorf("exit %d: %q", code, out)
	}
	if _, errs, code := p.run("sessions", "show", first[:2]); code != 1 || !strings.Contains(errs, "Several sessions") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// OAS-612: what cannot be an id is refused with a clear error.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, id := range []string{"", "/etc/passwd", `a\b`, "..", "a..b", "a\nb", strings.Repeat("x", 129), "\xff"} {
		if _, errs, code := p.run("sessions", "show", id); code != 1 || !strings.Contains(errs, "not the id of a session") {
			t.Errorf("%q: exit %d: %s", id, code, errs)
		}
	}
	if _, errs, code := p.run("sessions", "show", "missing"); code != 1 || !strings.Contains(errs, "does not exist") {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, args := range [][]string{{}, {"none"}, {"show"}, {"list", "x"}, {"rename", "x"}, {"list", "--none"}} {
		if _, errs, code := p.run(append([]string{"sessions"}, args...)...); code != 2 || !strings.Contains(errs, "Usage: atelier sessions") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if _, errs, code := p.run("sessions", "--help"); code != 0 || !strings.Contains(errs, "rename") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// sessions runs a command about sessions, and returns those that it printed as JSON.
func (p *place) sessions(args ...string) (printed []backend.SessionInfo) {
	p.t.Helper()
	out, errs, code := p.run(append([]string{"sessions"}, args...)...)
	if code != 0 {
		p.t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	for line := range strings.Lines(out) {
		var each backend.SessionInfo
		if err := json.Unmarshal([]byte(line), &each); err != nil {
			p.t.Fatalf("%v printed %q: %v", args, line, err)
		}
		printed = append(printed, each)
	}
	return printed
}
