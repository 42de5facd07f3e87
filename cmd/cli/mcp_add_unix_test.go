//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is added stands in the file of its scope, with references in the place of secrets,
// and can be removed again.
func TestAddServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	file := p.put(".mcp.json", `{"mcpServers": {}}`)
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"add", "a", "--scope", "project", "--env", "MODE=fast", "--env", "API_KEY=${MY_KEY}", "--env", "MY_TOKEN=hunter2", "--", "sh", "-c", "true"}, 0},
		{[]string{"add", "a", "--scope", "project", "https://example.com/mcp"}, 1},
		{[]string{"add", "b", "--scope", "project", "--transport", "sse", "--header", "X-Team=core", "https://example.com/mcp"}, 0},
		{[]string{"add", "a", "--scope", "local", "--", "sh"}, 0},
		{[]string{"add", "c", "--transport", "pigeon", "https://example.com/mcp"}, 2},
		{[]string{"add", "c", "--env", "A=b", "https://example.com/mcp"}, 2},
		{[]string{"add", "c", "--header", "A=b", "--", "sh"}, 2},
		{[]string{"add", "c__d", "--", "sh"}, 1},
		{[]string{"add", "c"}, 2},
		{[]string{"remove", "a"}, 1},
		{[]string{"remove", "a", "--scope", "local"}, 0},
		{[]string{"remove", "a", "--scope", "user"}, 1},
	} {
		if out, errs, code := p.run(append([]string{"mcp"}, tt.args...)...); code != tt.code {
			t.Errorf("%v: code %d: %s%s", tt.args, code, out, errs)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"MODE": "fast"`, `"API_KEY": "${MY_KEY}"`, `"MY_TOKEN": "${secret}"`, `"type": "sse"`, `"X-Team": "core"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	if out, errs, code := p.run("mcp", "remove", "a"); code != 0 {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if text, _ := os.ReadFile(file); strings.Contains(string(text), `"a"`) || !strings.Contains(string(text), `"b"`) {
		t.Errorf("%s", text)
	}
}

// A test starts no other server, and no text of a file begins a line of its own.
func TestServersAreToldApart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	mark := filepath.Join(t.TempDir(), "ran")
	p.putOwn(".agent/settings.json", fmt.Sprintf(`{"mcpServers": {"gone": {"command": "/no/such/program"}, "other": {"command": "sh", "args": ["-c", %q, "x\nforged  connected"]}}}`, "touch "+mark))
	if out, errs, code := p.run("mcp", "test", "gone"); code != 1 {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("another server was started")
	}
	if out, errs, code := p.run("mcp", "list"); code != 0 || !strings.Contains(out, "forged") || strings.Contains(out, "\nforged") {
		t.Errorf("code %d: %s%s", code, out, errs)
	}
}
