package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// K-11: a session is exported without its secrets, which are named on the error output
// without being revealed, and comes back from the formats that can be imported.
func TestSessionsExportAndImport(t *testing.T) {
	t.Parallel()
	const secret = "ghp_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9"
	p := newPlace(t, llmtest.Round{Text: "Done with " + secret})
	if _, errs, code := p.run("run", "--model", "openai/m", "use it"); code != 0 {
		t.Fatal(errs)
	}
	id := p.sessions("list", "--json")[0].ID
	out, errs, code := p.run("sessions", "export", id)
	if code != 0 || strings.Contains(out+errs, secret) || !strings.Contains(out, "Done with [redacted]") || !strings.Contains(errs, "taken out") {
		t.Errorf("exit %d: %s %s", code, out, errs)
	}
	out, errs, code = p.run("sessions", "export", "--review", id)
	if code != 0 || strings.Contains(out+errs, secret) || !strings.Contains(out, "ghp_••") || strings.Contains(out, "Done") {
		t.Errorf("exit %d: %s %s", code, out, errs)
	}
	out, errs, code = p.run("sessions", "export", "--no-redact", id)
	if code != 0 || !strings.Contains(out, secret) || !strings.Contains(errs, "left in: 1") {
		t.Errorf("exit %d: %s %s", code, out, errs)
	}
	dir := t.TempDir()
	for format, file := range map[string]string{"json": "use-it.json", "html": "use-it.html", "open-agent": "transcript.json", "comate": "messages.jsonl"} {
		to := filepath.Join(dir, format)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := p.run("sessions", "export", "--format", format, "-o", to, id); code != 0 {
			t.Errorf("%s: exit %d: %s", format, code, errs)
		}
		written, err := os.ReadFile(filepath.Join(to, file))
		if err != nil || strings.Contains(string(written), secret) || !strings.Contains(string(written), "Done with [redacted]") {
			t.Errorf("%s: %s %v", format, written, err)
		}
		if format == "html" {
			continue
		}
		out, errs, code := p.run("sessions", "import", filepath.Join(to, file))
		if code != 0 || !strings.Contains(out, "use it") || strings.Contains(out, "before") {
			t.Errorf("%s: exit %d: %s %s", format, code, out, errs)
		}
		if out, _, _ := p.run("sessions", "import", filepath.Join(to, file)); !strings.Contains(out, "was imported before") {
			t.Errorf("%s again: %s", format, out)
		}
	}
	recording := filepath.Join(dir, "recording.html")
	_, errs, code = p.run("sessions", "export", "--format", "recording", "-o", recording, id)
	written, err := os.ReadFile(recording)
	if code != 0 || err != nil || !regexp.MustCompile(`#[\w-]{43}\n`).MatchString(errs) || strings.Contains(string(written), "Done with") {
		t.Errorf("a recording: exit %d, %v: %s", code, err, errs)
	}
	if entries, err := filepath.Glob(filepath.Join(dir, "*", ".atelier*")); err != nil || len(entries) > 0 {
		t.Errorf("left %v %v", entries, err)
	}
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"export", "--format", "pdf", id}, 1, "cannot be exported"},
		{[]string{"export", "-o", filepath.Join(dir, "no", "such"), id}, 1, "no such file"},
		{[]string{"export"}, 2, "name one session"},
		{[]string{"import"}, 2, "name a file"},
		{[]string{"import", "--list", "x"}, 2, "exclude"},
		{[]string{"import", "gone.json"}, 1, "There is no file"},
	} {
		if _, errs, code := p.run(append([]string{"sessions"}, tt.args...)...); code != tt.code || !strings.Contains(errs, tt.says) {
			t.Errorf("%v: exit %d: %s", tt.args, code, errs)
		}
	}
}
