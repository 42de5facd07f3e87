package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"github.com/google/go-cmp/cmp"
)

// answers is an Asker that says yes and remembers who asked.
type answers struct {
	mu   sync.Mutex
	from []mcp.Caller
	said []string
}

func (a *answers) note(from mcp.Caller, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.from, a.said = append(a.from, from), append(a.said, text)
}

func (a *answers) Sample(_ context.Context, from mcp.Caller, r mcp.SamplingRequest) (mcp.SamplingResult, error) {
	a.note(from, r.System+r.Messages[0].Content[0].Text+r.Models[0])
	return mcp.SamplingResult{Model: "m", Text: "two", StopReason: "endTurn"}, nil
}

func (a *answers) Elicit(_ context.Context, from mcp.Caller, r mcp.ElicitRequest) (mcp.ElicitResult, error) {
	a.note(from, r.Message+r.URL)
	if r.URL != "" {
		return mcp.ElicitResult{Action: mcp.ActionDecline}, nil
	}
	return mcp.ElicitResult{Action: mcp.ActionAccept, Content: json.RawMessage(`{"name":"Ann"}`)}, nil
}

func allTransports(t *testing.T, test func(t *testing.T, s mcp.Server)) {
	eachTransport(t, "good", test)
	t.Run("sse", func(t *testing.T) { t.Parallel(); test(t, mcptest.SSE(t, "good")) })
}

// A server's question is answered, and belongs to the call in flight.
func TestServerAsks(t *testing.T) {
	t.Parallel()
	allTransports(t, func(t *testing.T, s mcp.Server) {
		asker := &answers{}
		dir := t.TempDir()
		h := manager(t, mcp.Config{Asker: asker, Dir: dir}, s)
		h.connected(t, "good")
		for _, test := range []struct{ tool, want string }{
			{"sample", `"text":"two"`}, {"elicit", `{"action":"accept","content":{"name":"Ann"}}`}, {"visit", `{"action":"decline"}`}, {"roots", dir},
		} {
			if got := h.call(t, "good", test.tool, `{}`).Content[0].Text; !strings.Contains(got, test.want) {
				t.Errorf("%s: %s", test.tool, got)
			}
		}
		caller := mcp.Caller{Server: "good", Session: "s", CallID: "c"}
		if diff := cmp.Diff([]mcp.Caller{caller, caller, caller}, asker.from); diff != "" {
			t.Errorf("who asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"Count.What is 1+1?small", "Your name?", "Log in there.https://example.com/login"}, asker.said); diff != "" {
			t.Errorf("what was asked (-want +got):\n%s", diff)
		}
	})
}

// Without somebody who answers, a server is refused and its call goes on.
func TestServerAsksNobody(t *testing.T) {
	t.Parallel()
	allTransports(t, func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, "good")
		if got := h.call(t, "good", "sample", `{}`).Content[0].Text; !strings.Contains(got, "error") {
			t.Errorf("sample: %s", got)
		}
	})
}

func TestResultsOfAllKinds(t *testing.T) {
	t.Parallel()
	allTransports(t, func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, "good")
		want := []mcp.Content{
			{Kind: mcp.ContentText, Text: "a text"},
			{Kind: mcp.ContentImage, Data: []byte("image"), MIME: "image/png"},
			{Kind: mcp.ContentAudio, Data: []byte("sound"), MIME: "audio/wav"},
			{Kind: mcp.ContentResource, URI: "test://one", MIME: "text/plain", Text: "one"},
			{Kind: mcp.ContentLink, URI: "test://two", Name: "two", MIME: "text/plain", Size: 5},
			{Kind: mcp.ContentText, Text: `[a part of the unknown kind "hologram"]`},
		}
		if diff := cmp.Diff(want, h.call(t, "good", "mixed", `{}`).Content); diff != "" {
			t.Errorf("mixed (-want +got):\n%s", diff)
		}
		if r := h.call(t, "good", "typed", `{"text":7}`); string(r.Structured) != `{"n":7}` || r.SchemaFault != "" {
			t.Errorf("typed: %+v", r)
		}
		if r := h.call(t, "good", "typed", `{"text":"seven"}`); r.SchemaFault == "" {
			t.Errorf("a result against its schema: %+v", r)
		}
		if r := h.call(t, "good", "fail", ``); !r.IsError {
			t.Errorf("fail: %+v", r)
		}
		if r := h.call(t, "good", "task", `{}`); len(r.Content) != 1 || r.Content[0].Text != "the task is done" {
			t.Errorf("task: %+v", r)
		}
		var last mcp.Progress
		if _, err := h.Call(t.Context(), mcp.CallRequest{Server: "good", Tool: "progress", Progress: func(p mcp.Progress) { last = p }}); err != nil || last.Total != 3 {
			t.Errorf("progress: %+v, %v", last, err)
		}
	})
}

// What is not a tool: OAS-412.
func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	allTransports(t, func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, "good")
		resources, err := h.Resources(t.Context(), "")
		want := []mcp.Resource{{Server: "good", URI: "test://one", Name: "one", MIME: "text/plain", Size: 3}, {Server: "good", URI: "test://{name}", Name: "any", Template: true}}
		if diff := cmp.Diff(want, resources); err != nil || diff != "" {
			t.Errorf("resources: %v (-want +got):\n%s", err, diff)
		}
		blob, err := h.ReadResource(t.Context(), "good", "test://blob")
		if diff := cmp.Diff([]mcp.Content{{Kind: mcp.ContentResource, URI: "test://blob", MIME: "application/octet-stream", Data: []byte{0, 1, 2}}}, blob); err != nil || diff != "" {
			t.Errorf("blob: %v (-want +got):\n%s", err, diff)
		}
		prompts, err := h.Prompts(t.Context(), "good")
		if err != nil || len(prompts) != 1 || prompts[0].Arguments[0] != (mcp.PromptArgument{Name: "who", Required: true}) {
			t.Errorf("prompts: %+v, %v", prompts, err)
		}
		text, err := h.GetPrompt(t.Context(), "good", "greet", map[string]string{"who": "Ann"})
		if err != nil || text.Messages[0].Content[0].Text != "Greet Ann." {
			t.Errorf("prompt: %+v, %v", text, err)
		}
		values, err := h.Complete(t.Context(), mcp.CompleteRequest{Server: "good", Prompt: "greet", Argument: "who", Value: "A"})
		if diff := cmp.Diff(mcp.Completion{Values: []string{"Adam", "Alice"}, More: true}, values); err != nil || diff != "" {
			t.Errorf("completion: %v (-want +got):\n%s", err, diff)
		}
	})
}

// A program gets the filtered environment and what its configuration says.
func TestProgramHasItsEnvironment(t *testing.T) { // OAS-403, K-16
	t.Parallel()
	s := mcptest.Stdio(t, "good")
	s.Stdio.Env["GIVEN_TOKEN"], s.Stdio.Env["TWICE"] = "given", "configured"
	h := manager(t, mcp.Config{Environ: func() []string {
		return []string{"PATH=/bin", "OTHER_API_KEY=secret", "PLAIN=plain", "TWICE=inherited"}
	}}, s)
	h.connected(t, "good")
	var got struct{ Env []string }
	if err := json.Unmarshal(h.call(t, "good", "env", `{}`).Structured, &got); err != nil {
		t.Fatal(err)
	}
	for entry, want := range map[string]bool{
		"GIVEN_TOKEN=given": true, "PLAIN=plain": true, "OTHER_API_KEY=secret": false, "TWICE=configured": true, "TWICE=inherited": false,
	} {
		if slices.Contains(got.Env, entry) != want {
			t.Errorf("the environment has %s: %v", entry, !want)
		}
	}
}

// claude.ai's proxy is told which server is meant.
func TestProxyIsToldTheServer(t *testing.T) { // OAS-405
	t.Parallel()
	handler := mcptest.Handler("good")
	var mu sync.Mutex
	ids := map[string]int{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		ids[r.Header.Get("X-ClaudeAI-Server-ID")]++
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	t.Cleanup(proxy.CloseClientConnections)
	h := manager(t, mcp.Config{}, mcp.Server{Name: "p", Transport: mcp.TransportClaudeAI, Remote: mcp.Remote{URL: proxy.URL, ID: "server-abc"}})
	h.connected(t, "p")
	h.call(t, "p", "roots", `{}`) // also the answer goes through the proxy
	mu.Lock()
	defer mu.Unlock()
	if len(ids) != 1 || ids["server-abc"] < 4 {
		t.Errorf("requests by id: %v", ids)
	}
}

// A call that broke off is not reported with the status of another one.
func TestStatusOfAnotherCall(t *testing.T) {
	t.Parallel()
	handler := mcptest.Handler("good")
	begun, refused := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch {
		case bytes.Contains(body, []byte("break off")):
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			close(begun)
			<-refused
			panic(http.ErrAbortHandler)
		case bytes.Contains(body, []byte("refuse")):
			w.WriteHeader(http.StatusInternalServerError)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	h := manager(t, mcp.Config{}, mcp.Server{Name: "s", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: server.URL}})
	h.connected(t, "s")
	broken := make(chan error, 1)
	go func() {
		_, err := h.Call(t.Context(), mcp.CallRequest{Server: "s", Tool: "echo", Input: json.RawMessage(`{"text":"break off"}`)})
		broken <- err
	}()
	<-begun
	_, err := h.Call(t.Context(), mcp.CallRequest{Server: "s", Tool: "echo", Input: json.RawMessage(`{"text":"refuse"}`)})
	close(refused)
	if one, other := kind(err), kind(<-broken); one != mcp.FaultHTTP || other != mcp.FaultProtocol {
		t.Errorf("the refused call: %s, the broken one: %s", one, other)
	}
}

// A program that ended is started again at the next call, with its tools.
func TestDeadServerIsRestarted(t *testing.T) {
	t.Parallel()
	h := manager(t, mcp.Config{}, mcptest.Stdio(t, "good"), mcptest.HTTP(t, "storm"))
	before := h.connected(t, "good")
	h.connected(t, "storm")
	_, err := h.Call(t.Context(), mcp.CallRequest{Server: "good", Tool: "die"})
	if kind(err) != mcp.FaultExited {
		t.Errorf("die: %v", err)
	}
	if tools, _ := h.Tools(); len(tools) != 2 {
		t.Errorf("a server that is about to be restarted offers nothing: %d", len(tools))
	}
	if got := h.call(t, "good", "echo", `{"text":"back"}`); got.Content[0].Text != "back" {
		t.Errorf("echo: %+v", got)
	}
	after := h.connected(t, "good")
	if after.Health.Restarts != 1 || after.Health.PID == before.Health.PID || len(after.Tools) != len(before.Tools) {
		t.Errorf("after the restart: %+v", after.Health)
	}
	h.call(t, "storm", "echo", `{}`) // the other one is unaffected
}

// A server over HTTP that forgot the session is connected anew, and the call is made.
func TestForgottenSession(t *testing.T) {
	t.Parallel()
	h := manager(t, mcp.Config{}, mcptest.HTTP(t, "http-forgets"))
	h.connected(t, "http-forgets")
	for range 6 {
		h.call(t, "http-forgets", "echo", `{"text":"x"}`)
	}
}

// A server that does not answer a call is told, and does not hold anybody.
func TestCallThatHangs(t *testing.T) {
	t.Parallel()
	for _, s := range []mcp.Server{mcptest.Stdio(t, "late"), mcptest.HTTP(t, "good"), mcptest.SSE(t, "good")} {
		s.Name = string(s.Transport)
		h := manager(t, mcp.Config{}, s)
		h.connected(t, s.Name)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := h.Call(ctx, mcp.CallRequest{Server: s.Name, Tool: "hang"})
		cancel()
		if err != context.DeadlineExceeded {
			t.Errorf("%s: %v", s.Name, err)
		}
		if got := h.call(t, s.Name, "echo", `{"text":"on"}`); got.Content[0].Text != "on" {
			t.Errorf("%s: %+v", s.Name, got)
		}
	}
	s := mcptest.Stdio(t, "good")
	s.Limits.Call = 50 * time.Millisecond
	h := manager(t, mcp.Config{}, s)
	h.connected(t, "good")
	if _, err := h.Call(t.Context(), mcp.CallRequest{Server: "good", Tool: "hang"}); kind(err) != mcp.FaultTimeout {
		t.Errorf("a call without an end: %v", err)
	}
}

func TestServersAreReplacedByDifference(t *testing.T) { // OAS-409, OAS-410, OAS-411
	t.Parallel()
	one, two := mcptest.HTTP(t, "good"), mcptest.HTTP(t, "good")
	one.Name, two.Name = "one", "two"
	h := manager(t, mcp.Config{}, one, two)
	h.connected(t, "one")
	changed, three, bad := two, two, two
	changed.Trusted, three.Name, bad.Name = true, "three", "a__b"
	d := h.SetServers([]mcp.Server{one, changed, three, bad})
	if diff := cmp.Diff([][]string{{"three", "two"}, {"two"}}, [][]string{d.Added, d.Removed}); diff != "" || kind(d.Errors["a__b"]) != mcp.FaultConfig {
		t.Errorf("the difference (-want +got):\n%s%v", diff, d.Errors)
	}
	if err := h.Switch("one", false); err != nil {
		t.Fatal(err)
	}
	h.until(t, "one", "off", func(s mcp.Status) bool { return s.State == mcp.StateOff })
	if _, err := h.Call(t.Context(), mcp.CallRequest{Server: "one", Tool: "echo"}); kind(err) != mcp.FaultOff {
		t.Errorf("a call of a server that is off: %v", err)
	}
	offered, _ := h.Tools()
	for _, server := range offered {
		if server.Server == "one" && (len(server.Tools) > 0 || server.Resources) {
			t.Errorf("a server that is off offers %d tools", len(server.Tools))
		}
	}
	for _, s := range h.Status() {
		if s.Name == "one" && len(s.Tools) > 0 {
			t.Errorf("a server that is off lists %d tools", len(s.Tools))
		}
	}
	if err := h.Switch("one", true); err != nil {
		t.Fatal(err)
	}
	h.connected(t, "one")
	if err := h.Reconnect(t.Context(), "two"); err != nil {
		t.Errorf("reconnect: %v", err)
	}
	if err := h.Reconnect(t.Context(), "none"); kind(err) != mcp.FaultUnknown {
		t.Errorf("reconnect nothing: %v", err)
	}
}

// A list that changed is read again, and what is offered changes with it.
func TestChangedListIsReadAgain(t *testing.T) {
	t.Parallel()
	eachTransport(t, "renames", func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, s.Name)
		_, before := h.Tools()
		h.call(t, s.Name, "echo", `{}`)
		h.until(t, s.Name, "listed again", func(s mcp.Status) bool { return len(s.Tools) == 2 })
		tools, after := h.Tools()
		if before == after || tools[0].Tools[0].Description != "Now it does something else." {
			t.Errorf("version %d → %d, tools %+v", before, after, tools)
		}
	})
}

// TestAllPagesAreRead proves that every page of a list is read, and in order.
func TestAllPagesAreRead(t *testing.T) { // OAS-406
	t.Parallel()
	eachTransport(t, "pages", func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		var got []string
		for _, tool := range h.connected(t, s.Name).Tools {
			got = append(got, tool.Name)
		}
		if diff := cmp.Diff([]string{"echo", "fail", "third", "last"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTrialListsWhatSessionsList proves that a trial is the same client as a session.
func TestTrialListsWhatSessionsList(t *testing.T) {
	t.Parallel()
	eachTransport(t, "asker-only", func(t *testing.T, s mcp.Server) {
		m := mcp.New(mcp.Config{Dir: t.TempDir()})
		tools := m.Try(t.Context(), s).Status.Tools
		if !slices.ContainsFunc(tools, func(tool mcp.ToolStatus) bool { return tool.Name == "only_for_askers" }) {
			t.Errorf("%d tools", len(tools))
		}
	})
}
