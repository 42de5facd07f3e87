//go:build unix

package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/toolbox"
)

// OAS-207, OAS-212, COM-32: a session has all tools but those that the user switched off, which no model is shown
// and none can call; the next session has them again.
func TestToolsAreSwitchedOff(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		if all := must[toolbox.ToolSwitches](p, "tools.list", backend.Empty{}); len(all.Tools) < 35 {
			t.Errorf("%+v", all)
		}
		prefer(p, func(prefs *backend.Preferences) { prefs.PlainTitles, prefs.ToolsOff = true, []string{"WebFetch"} })
		fetches := w.uses("WebFetch", "web_fetch", args{"url": "http://192.0.2.1/", "prompt": "what is it?"})
		shown := func(request int) bool {
			return strings.Contains(string(server.Requests()[request].Body), `"`+fetches.Name+`"`)
		}
		id := w.inMode(p, agent.ModeDefault)
		server.Script(w.model, llmtest.Round{Calls: []llmtest.Call{fetches}}, llmtest.Round{Text: "No."}, llmtest.Round{Text: "Yes."})
		p.send(id, "go")
		if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, "no tool "+fetches.Name) {
			t.Errorf("%+v", end)
		}
		await(p, anyOf[agent.ProcessingEnd])
		prefer(p, func(prefs *backend.Preferences) { prefs.ToolsOff = nil })
		p.send(w.inMode(p, agent.ModeDefault), "go")
		await(p, anyOf[agent.ProcessingEnd])
		if shown(0) || !shown(2) {
			t.Errorf("the tool is shown: %t while it is off, %t afterwards", shown(0), shown(2))
		}
	})
}
