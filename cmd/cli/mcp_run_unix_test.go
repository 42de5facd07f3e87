//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
)

// serversOf writes servers into the user's own settings.
func (p *place) serversOf(all ...mcp.Server) {
	p.t.Helper()
	servers := map[string]any{}
	for _, s := range all {
		servers[s.Name] = map[string]any{"command": s.Stdio.Command, "env": s.Stdio.Env}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, v := range p.env {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			file := filepath.Join(home, ".agent", "settings.json")
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				p.t.Fatal(err)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// A tool of a real server is called in a run: refused where nobody can be asked, and run
// once it is allowed, by its own rule or its server's (OAS-406).
func TestRunCallsServers(t *testing.T) {
	t.Parallel()
	call := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("mcp__good__echo", map[string]string{"text": "hello from a server"})}}
	for _, tt := range []struct {
		allowed []string
		want    agent.Outcome
	}{
		{nil, agent.OutcomeDenied},
		{[]string{"--allowed-tools", "mcp__good__echo"}, agent.OutcomeDone},
		{[]string{"--allowed-tools", "mcp__good"}, agent.OutcomeDone},
		{[]string{"--allowed-tools", "mcp__good__fail"}, agent.OutcomeDenied},
		{[]string{"--permission-mode", "dontAsk"}, agent.OutcomeDenied},
		{[]string{"--permission-mode", "plan"}, agent.OutcomeDenied},
	} {
		p := newPlace(t, call, llmtest.Round{Text: "Done."})
		p.serversOf(mcptest.Stdio(t, "good"))
		out, errs, code := p.run(append([]string{"run", "--model", "openai/m", "--output", "stream-json", "go"}, tt.allowed...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", tt.allowed, code, errs)
		}
		var ended []agent.ToolCallEnd
		for _, ev := range events(t, out) {
			if end, ok := ev.Data.(agent.ToolCallEnd); ok {
				ended = append(ended, end)
			}
		}
		if len(ended) != 1 || ended[0].Tool != "mcp__good__echo" || ended[0].Outcome != tt.want || (tt.want == agent.OutcomeDone) != (ended[0].Output == "hello from a server") {
			t.Errorf("%v: %+v", tt.allowed, ended)
		}
		if first := string(p.server.Requests()[0].Body); !strings.Contains(first, "mcp__good__echo") {
			t.Errorf("%v: the first request does not show the tool", tt.allowed)
		}
	}
}

// A run begins without a server that fails, and says so.
func TestRunNamesServersThatFail(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Done."})
	p.serversOf(mcptest.Stdio(t, "start-crash"))
	_, errs, code := p.run("run", "--model", "openai/m", "go")
	// A machine that is slow says first that it waits.
	if want := "The server start-crash is not connected: The program of start-crash ended with exit code 3.\n"; code != 0 || !strings.HasSuffix(errs, want) {
		t.Errorf("exit %d: %q, want %q", code, errs, want)
	}
}

// A project's server is connected in a run only if the user says so, for that run alone.
func TestRunTrustsServers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
	mark := filepath.Join(t.TempDir(), "ran")
	p.put(".mcp.json", `{"mcpServers": {"a": {"command": "sh", "args": ["-c", "touch `+mark+`"]}}}`)
	for _, tt := range []struct {
		args      []string
		ran, says bool
	}{{nil, false, true}, {[]string{"--trust-servers"}, true, false}, {nil, false, true}} {
		_ = os.Remove(mark)
		_, errs, code := p.run(append([]string{"run", "--model", "openai/m", "go"}, tt.args...)...)
		_, err := os.Stat(mark)
		if says := strings.Contains(errs, "1 server of this project is not connected"); code != 0 || (err == nil) != tt.ran || says != tt.says {
			t.Errorf("%v: code %d, ran: %v, %s", tt.args, code, err == nil, errs)
		}
	}
}

// A run has the servers of a file that the user names. They are trusted, take
// the name of a project's server, and are gone in the next run. A file that cannot be
// used ends the run before anything is sent.
func TestRunWithServersOfAFile(t *testing.T) {
	t.Parallel()
	call := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("mcp__good__echo", map[string]string{"text": "hi"})}}
	p := newPlace(t, call, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
	s := mcptest.Stdio(t, "good")
	servers := func(in string) string {
		text, err := json.Marshal(map[string]any{"good": map[string]any{"command": s.Stdio.Command, "env": s.Stdio.Env, "trusted": true}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(in, text)
	}
	p.put(".mcp.json", servers(`{"mcpServers": %s}`))
	given := p.put("ci/servers.json", servers("%s"))
	run := func(args ...string) (outcomes []agent.Outcome, errs string) {
		out, errs, code := p.run(append([]string{"run", "--model", "openai/m", "--output", "stream-json", "--allowed-tools", "mcp__good", "go"}, args...)...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		for _, ev := range events(t, out) {
			if end, ok := ev.Data.(agent.ToolCallEnd); ok {
				outcomes = append(outcomes, end.Outcome)
			}
		}
		return outcomes, errs
	}
	if got, errs := run("--mcp-config", given); len(got) != 1 || got[0] != agent.OutcomeDone || !strings.Contains(errs, "1 server of this project is not connected") {
		t.Errorf("%v: %s", got, errs)
	}
	before := len(p.server.Requests())
	if run(); strings.Contains(string(p.server.Requests()[before].Body), "mcp__good__echo") {
		t.Error("the servers of a file outlived their run")
	}
	before = len(p.server.Requests())
	for name, tt := range map[string]struct{ text, want string }{
		"none.json":    {"", "none.json cannot be read"},
		"half.json":    {`{"mcpServers":`, "half.json cannot be read from line 1 on"},
		"empty.json":   {`{"servers": {"a": {"command": "true"}}}`, "empty.json defines no servers"},
		"nothing.json": {`{"mcpServers": {}}`, "nothing.json defines no servers"},
		"broken.json":  {`{"mcpServers": {"a": {"args": []}}}`, "a cannot be connected as it is written"},
	} {
		if tt.text != "" {
			p.put(name, tt.text)
		}
		if _, errs, code := p.run("run", "--model", "openai/m", "--mcp-config", name, "go"); code != 1 || !strings.Contains(errs, tt.want) || len(p.server.Requests()) != before {
			t.Errorf("%s: exit %d: %s", name, code, errs)
		}
	}
}
