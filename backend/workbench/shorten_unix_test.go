//go:build unix

package workbench_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// OAS-111: a long result of a server's tool is shortened by the small model: the session's model is told
// that, the log keeps the whole, and the cost is in the ledger. If the user has results cut, no model is asked.
func TestLongResultIsShortened(t *testing.T) {
	t.Parallel()
	good := mcptest.Stdio(t, "good")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{good.Name: map[string]any{"command": good.Stdio.Command, "env": good.Stdio.Env}}})
	if err != nil {
		t.Fatal(err)
	}
	long := "first line\n" + strings.Repeat("z", 60_000) + "\nlast line"
	for _, w := range wires {
		t.Run(w.provider, func(t *testing.T) {
			t.Parallel()
			server, user := llmtest.Serve(t), t.TempDir()
			put(t, filepath.Join(user, ".agent", "settings.json"), string(text))
			from := everyProvider(server)
			p := openPage(t, t.TempDir(), t.TempDir(), func(name string) string {
				if name == "HOME" {
					return user
				}
				return from(name)
			}, func(s *storage.Store) backend.Store { return s }, func(*workbench.Config) {})
			p.servers(func(r mcp.ServersReply) bool {
				return slices.ContainsFunc(r.Servers, func(row mcp.ServerRow) bool { return row.State == mcp.StateConnected && row.Counts.Tools > 0 })
			})
			prefer(p, func(prefs *backend.Preferences) { prefs.PlainTitles, prefs.Levels.Low = true, "openai/gpt-6-luna" })
			echo := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("mcp__good__echo", args{"text": long})}}
			server.Script(w.model, echo, llmtest.Round{Text: "Done."}, echo, llmtest.Round{Text: "Done."})
			server.Script("gpt-6-luna", llmtest.Round{Text: "Sixty thousand z.", Usage: small})
			id := w.inMode(p, agent.ModeBypass)
			p.send(id, "go")
			if side := await(p, anyOf[agent.SideRequest]); side.Purpose != agent.PurposeShorten || side.Model != "gpt-6-luna" || side.Cost == nil || *side.Cost == 0 {
				t.Errorf("%+v", side)
			}
			await(p, anyOf[agent.ProcessingEnd])
			if end := log[agent.ToolCallEnd](p, id)[0]; end.Size != int64(len(long)) {
				t.Errorf("the log keeps %d characters of %d", end.Size, len(long))
			}
			requests := server.Requests()
			if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "Sixty thousand z.") || strings.Count(body, "zzzz") > len(long)/4+100 || !strings.Contains(body, "Shortened by a small model from") {
				t.Errorf("the model was sent %d bytes", len(body))
			}
			costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{Session: id})
			if b, _ := json.Marshal(costs); !strings.Contains(string(b), `"shorten"`) {
				t.Errorf("the ledger is %s", b)
			}
			before := len(requests)
			prefer(p, func(prefs *backend.Preferences) { prefs.CutResults = true })
			p.send(id, "again")
			await(p, anyOf[agent.ProcessingEnd])
			requests = server.Requests()
			if body := string(requests[len(requests)-1].Body); strings.Count(body, "Shortened by a small model") != 1 {
				t.Errorf("with the switch off, the model was sent %d bytes", len(body))
			}
			if n := len(server.Requests()) - before; n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}
