package llmtest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func TestScript(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 3, Output: 2, Known: true}
	model := llmtest.Script(
		llmtest.Round{Reasoning: "hm", Text: "I read.", Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"n": 1})}, Usage: usage},
		llmtest.Round{Status: 429}, llmtest.Round{Text: "x", Cut: 1}, llmtest.Round{Text: "x", Error: "overloaded"},
	)
	req := llm.Request{Model: "m", Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	events, answer, err := llmtest.Collect(model.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Check(t, events)
	if answer.Message.Text() != "I read." || answer.Finish.Reason != llm.FinishToolCalls || answer.Usage != usage {
		t.Errorf("answer %+v", answer)
	}
	if c := answer.Message.Calls()[0]; c.WireID != "wire_1_0" || string(c.Arguments) != `{"n":1}` {
		t.Errorf("call %+v", c)
	}
	for _, want := range []llm.Class{llm.ClassRateLimit, llm.ClassTruncated, llm.ClassOverloaded, llm.ClassConfig} {
		_, _, err := llmtest.Collect(model.Stream(t.Context(), req))
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != want {
			t.Errorf("got %v, want class %s", err, want)
		}
	}
	req.Messages[0] = llm.Text(llm.RoleUser, "changed")
	if diff := cmp.Diff("hi", model.Requests()[0].Messages[0].Text()); diff != "" || len(model.Requests()) != 5 {
		t.Errorf("%d requests; the first: %s", len(model.Requests()), diff)
	}
}

// A server that skips bodies answers as any other does.
func TestServerSkipsBodies(t *testing.T) {
	t.Parallel()
	for _, skip := range []bool{true, false} {
		server := llmtest.Serve(t, llmtest.Round{Text: "one"}, llmtest.Round{Text: "two"})
		server.SkipBodies = skip
		for _, path := range []string{"/responses", "/chat/completions"} {
			resp, err := http.Post(server.URL+path, "application/json", strings.NewReader(`{"model":"m"}`))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s with SkipBodies %t: %s", path, skip, resp.Status)
			}
		}
		for _, r := range server.Requests() {
			if (r.Body == nil) != skip || r.Answered.IsZero() {
				t.Errorf("SkipBodies %t, and the server kept %q, answered at %v", skip, r.Body, r.Answered)
			}
		}
	}
}

func TestScriptHangsUntilStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for ev, err := range llmtest.Script(llmtest.Round{Text: "a", Hang: true}).Stream(ctx, llm.Request{}) {
		last = err
		if ev.Type == llm.EventTextDelta {
			cancel()
		}
	}
	var e *llm.Error
	if !errors.As(last, &e) || e.Class != llm.ClassAbort || !e.Sent {
		t.Errorf("got %v", last)
	}
}
