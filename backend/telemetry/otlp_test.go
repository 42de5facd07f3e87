package telemetry_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/telemetry"
)

func configured(url string) func(string) string {
	return func(name string) string {
		return map[string]string{
			telemetry.EnableVariable: "1", "OTEL_EXPORTER_OTLP_ENDPOINT": url + "/", "OTEL_EXPORTER_OTLP_HEADERS": "x-team=blue, x-b=c", "OTEL_SERVICE_NAME": "desk",
		}[name]
	}
}

// turn is a turn that asks a person about a call whose contents are secret.
func turn(session string) []agent.Event {
	all := []agent.Payload{
		agent.UserInput{Text: "canary-prompt"},
		agent.TextEnd{Provider: "gemini", Model: "m", Message: llm.Text(llm.RoleAssistant, "canary-answer"), Usage: llm.Usage{Input: 5, CacheRead: 2, Output: 3, Known: true}},
		agent.ToolCallStart{CallID: "a", Tool: "Bash", Input: `{"command":"canary-command"}`},
		agent.HookEnd{Name: "canary-hook", CallID: "a", DurationMs: 1},
		agent.ApprovalRequest{ID: "q", CallID: "a", Tool: "Bash"},
		agent.ApprovalAnswer{ID: "q", CallID: "a"},
		agent.ToolCallEnd{CallID: "a", Tool: "Bash", Output: "canary-output", IsError: true},
		agent.ProcessingEnd{Reason: agent.EndDone},
	}
	var events []agent.Event
	for i, d := range all {
		events = append(events, agent.Event{Session: session, At: int64(1000 + 10*i), Data: d})
	}
	return events
}

// COM-91, COM-98: a collector gets a turn, its request, its call, its hook and the wait for a
// person, with the conventions' names and nothing of their contents.
func TestExport(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("X-Team") + r.Header.Get("X-B") + " " + string(body)
	}))
	defer collector.Close()
	e := telemetry.NewExporter(configured(collector.URL), "1.0")
	for _, ev := range turn("s") {
		e.Observe(ev)
	}
	e.Close()
	body := <-got
	for _, want := range []string{
		"/v1/traces bluec ", `"service.name"`, `"desk"`, `"invoke_agent Atelier"`, `"chat m"`, `"gcp.gemini"`, `"execute_tool Bash"`, `"tool.blocked_on_user"`, `"hook"`,
		`{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}}`, `"startTimeUnixNano":"1000000000"`, `"status":{"code":2}`, `"gen_ai.conversation.id"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing of %s", want, body)
		}
	}
	if strings.Contains(body, "canary") {
		t.Errorf("contents were sent: %s", body)
	}
}

// Nothing is sent unless the user switches it on, and a collector that never answers holds
// nothing up: events are taken at once, and the end waits for a second.
func TestExportNeverHolds(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	defer collector.Close()
	defer close(stuck)
	if e := telemetry.NewExporter(func(name string) string {
		if name == telemetry.EnableVariable {
			return ""
		}
		return configured(collector.URL)(name)
	}, "1.0"); e != nil {
		t.Error("it was on by itself")
	}
	e := telemetry.NewExporter(configured(collector.URL), "1.0")
	begin := time.Now()
	for range 2000 { // six times as many spans as can wait
		for _, ev := range turn("s") {
			e.Observe(ev)
		}
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("the session waited %s", took)
	}
	begin = time.Now()
	e.Close()
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("the end waited %s", took)
	}
}

// A collector that sends to another address gets nothing there: the headers may hold its key.
func TestExportFollowsNoRedirect(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("it was sent %v", r.Header)
	}))
	defer other.Close()
	asked := make(chan struct{}, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		asked <- struct{}{}
	}))
	defer collector.Close()
	e := telemetry.NewExporter(configured(collector.URL), "1.0")
	for _, ev := range turn("s") {
		e.Observe(ev)
	}
	e.Close()
	<-asked
}
