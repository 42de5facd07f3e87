//go:build unix

package cli_test

import (
	"encoding/json"
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
