package offer_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/agent/mcp/offer"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// acceptable says what a strict provider would refuse in a definition.
func acceptable(name, description string, schema json.RawMessage) string {
	switch {
	case !llm.ValidToolName(name):
		return "its name"
	case len(description) > 3_000:
		return "its description"
	}
	return offer.RefusedBy(schema)
}

// connect returns a manager of real servers, once they offer something.
func connect(t *testing.T, all ...mcp.Server) *mcp.Manager {
	t.Helper()
	news := make(chan struct{}, 1)
	m := mcp.New(mcp.Config{Version: "test", Dir: t.TempDir(), Environ: os.Environ, Changed: func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}})
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	m.SetServers(all)
	patience := time.After(time.Minute)
	for {
		offered, ready := 0, 0
		for _, s := range m.Status() {
			if s.State != mcp.StateConnecting {
				ready++
			}
		}
		tools, _ := m.Tools()
		for _, server := range tools {
			offered += len(server.Tools)
		}
		if ready == len(all) && offered > 0 {
			return m
		}
		select {
		case <-news:
		case <-patience:
			t.Fatalf("%+v", m.Status())
		}
	}
}

// The tools of real servers work in a session, however odd they are, over both
// transports: each call ends with a result, and the session goes on.
func TestRealServers(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]mcp.Server{
		"stdio": mcptest.Stdio(t, "good"), "http": mcptest.HTTP(t, "good"),
		"names": mcptest.Stdio(t, "names"), "schemas": mcptest.Stdio(t, "schemas"), "crash": mcptest.Stdio(t, "call-crash"),
		"garbage": mcptest.Stdio(t, "call-garbage"), "4mb": mcptest.Stdio(t, "call-4mb"), "base64": mcptest.Stdio(t, "call-base64"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := connect(t, server)
			o := offer.New(offer.Config{Servers: m, Session: "s1"})
			registry := o.More("p", "m")
			var calls []llmtest.Round
			for _, spec := range registry.Show().Definitions() {
				if fault := acceptable(spec.Name, spec.Description, spec.Schema); fault != "" {
					t.Errorf("%s: %s", spec.Name, fault)
				}
				if strings.HasSuffix(spec.Name, "__echo") || strings.HasSuffix(spec.Name, "__mixed") || strings.HasSuffix(spec.Name, "__fail") {
					calls = append(calls, llmtest.Round{Calls: []llmtest.Call{use(spec.Name, `{"text":"hello"}`)}})
				}
			}
			if len(calls) == 0 {
				t.Fatalf("nothing is offered: %v", registry.Names())
			}
			session, err := agent.New(agent.Config{
				ID: "s1", Model: llmtest.Script(append(calls, llmtest.Round{Text: "ok"})...), Gate: agent.AllowAll, Limits: agent.DefaultLimits,
				Profiles: growing{agent.Plain("", nil), o}, Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"},
			})
			if err != nil {
				t.Fatal(err)
			}
			ends := 0
			for ev, err := range session.Run(t.Context(), "go") {
				if err != nil {
					t.Fatal(err)
				}
				switch d := ev.Data.(type) {
				case agent.ToolCallEnd:
					ends++
					if (name == "stdio" || name == "http") && strings.HasSuffix(d.Tool, "__echo") && d.Output != "hello" {
						t.Errorf("%+v", d)
					}
				case agent.ProcessingEnd:
					if d.Reason != agent.EndDone {
						t.Errorf("the turn ended as %s", d.Reason)
					}
				}
			}
			if ends != len(calls) {
				t.Errorf("%d of %d calls ended", ends, len(calls))
			}
		})
	}
}
