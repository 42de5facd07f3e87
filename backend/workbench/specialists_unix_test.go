//go:build unix

package workbench_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
)

// Config on every wire: a setting is read and changed, and what decides about agents is not one.
func TestConfigOnEveryWire(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		id := w.inMode(p, agent.ModeBypass)
		call := func(in args) llmtest.Call { return w.uses("Config", "config", in) }
		server.Script(w.model,
			llmtest.Round{Calls: []llmtest.Call{call(args{"action": "set", "key": "theme", "value": "dark"}), call(args{"action": "get", "key": "theme"})}},
			llmtest.Round{Calls: []llmtest.Call{call(args{"action": "set", "key": "tools_off", "value": "[]"}), call(args{"action": "set", "key": "theme", "value": "pink"})}},
			llmtest.Round{Text: "All done."})
		p.send(id, "Make it dark.")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		ends := log[agent.ToolCallEnd](p, id)
		var failed []bool
		for _, end := range ends {
			failed = append(failed, end.IsError || end.Tool != "Config")
		}
		if fmt.Sprint(failed) != "[false false true true]" || !strings.Contains(ends[1].Output, "dark") || !strings.Contains(last(t, server, w.model), "theme") {
			t.Errorf("%+v", ends)
		}
		if theme := must[backend.Preferences](p, "preferences.get", backend.Empty{}).Theme; theme != "dark" {
			t.Errorf("the theme is %q", theme)
		}
	})
}

// Browser on every wire: a page of this machine is opened and read; one of another host is not.
func TestBrowserOnEveryWire(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "<title>Shop</title><h1>Fresh apples</h1>")
	}))
	t.Cleanup(site.Close)
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		id := w.inMode(p, agent.ModeBypass)
		call := func(in args) llmtest.Call { return w.uses("Browser", "browser", in) }
		server.Script(w.model,
			llmtest.Round{Calls: []llmtest.Call{call(args{"action": "navigate", "url": site.URL})}},
			llmtest.Round{Calls: []llmtest.Call{call(args{"action": "navigate", "url": "http://169.254.169.254/"})}},
			llmtest.Round{Text: "All done."})
		p.send(id, "Look at the shop.")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "All done." })
		ends := log[agent.ToolCallEnd](p, id)
		if len(ends) != 2 || ends[0].Tool != "Browser" || !ends[1].IsError {
			t.Fatalf("%+v", ends)
		}
		if strings.Contains(ends[0].Output, "no Chromium is installed") {
			t.Skip("no Chromium is installed")
		}
		if ends[0].IsError || !strings.Contains(ends[0].Output, "Fresh apples") || !strings.Contains(last(t, server, w.model), "Fresh apples") {
			t.Errorf("%+v", ends[0])
		}
	})
}
