package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// echo is an adapter that answers with its own name and the request's model.
type echo string

func (e echo) Name() string { return string(e) }

func (e echo) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text := string(e) + "/" + req.Model
		if !yield(llm.Event{Type: llm.EventStart}, nil) || !yield(llm.Event{Type: llm.EventTextDelta, Delta: text}, nil) {
			return
		}
		yield(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, text)}}, nil)
	}
}

func said(t *testing.T, c *llm.Client, req llm.Request) string {
	t.Helper()
	a, err := llm.Complete(c.Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	return a.Message.Text()
}

func class(t *testing.T, c *llm.Client, req llm.Request) llm.Class {
	t.Helper()
	_, err := llm.Complete(c.Stream(t.Context(), req))
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want an *llm.Error", err)
	}
	return e.Class
}

// LLM-01, LLM-03, LLM-06: a request goes to the provider that it names, else to
// the first one. A model's name decides nothing and is sent unchanged.
func TestRouting(t *testing.T) {
	t.Parallel()
	c := llm.NewClient(echo("openai"), echo("anthropic"))
	for _, tt := range []struct{ provider, model, want string }{
		{"anthropic", "gpt-6", "anthropic/gpt-6"},
		{"openai", "claude-x", "openai/claude-x"},
		{"", "claude-x", "openai/claude-x"},
	} {
		if got := said(t, c, llm.Request{Provider: tt.provider, Model: tt.model}); got != tt.want {
			t.Errorf("%q %q was answered by %q", tt.provider, tt.model, got)
		}
	}
	if got := class(t, c, llm.Request{Provider: "nobody"}); got != llm.ClassConfig {
		t.Errorf("an unknown provider: %s", got)
	}
	c.Remove("openai")
	if got := said(t, c, llm.Request{Model: "m"}); got != "anthropic/m" {
		t.Errorf("after the first is gone: %q", got)
	}
	c.Remove("anthropic")
	if got := class(t, c, llm.Request{}); got != llm.ClassConfig {
		t.Errorf("without any provider: %s", got)
	}
	var zero llm.Client
	if got := class(t, &zero, llm.Request{}); got != llm.ClassConfig {
		t.Errorf("a zero client: %s", got)
	}
	zero.Set(echo("house"))
	if got := said(t, &zero, llm.Request{Model: "m"}); got != "house/m" {
		t.Errorf("a zero client with a provider: %q", got)
	}
}

// LLM-05: middleware sees requests in the order in which it was added and the
// events of a stream in reverse order, and may change both.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	var order []string
	layer := func(name string) llm.Middleware {
		return func(next llm.StreamFunc) llm.StreamFunc {
			return func(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
				order = append(order, name+" out")
				req.Model += name
				return func(yield func(llm.Event, error) bool) {
					for ev, err := range next(ctx, req) {
						if ev.Type == llm.EventTextDelta {
							order = append(order, name+" back")
							ev.Delta += name
						}
						if !yield(ev, err) {
							return
						}
					}
				}
			}
		}
	}
	c := llm.NewClient(echo("p"))
	c.Use(layer("A"))
	c.Use(layer("B"))
	var delta string
	for ev, err := range c.Stream(t.Context(), llm.Request{Provider: "p", Model: "m"}) {
		if err != nil {
			t.Fatal(err)
		}
		delta += ev.Delta
	}
	if delta != "p/mABBA" {
		t.Errorf("the delta is %q", delta)
	}
	if diff := cmp.Diff([]string{"A out", "B out", "B back", "A back"}, order); diff != "" {
		t.Error(diff)
	}
}

// LLM-38, LLM-39: a request that no provider could understand is not sent.
func TestSenselessRequests(t *testing.T) {
	t.Parallel()
	c := llm.NewClient(echo("p"))
	tool := func(name string) []llm.ToolSpec {
		return []llm.ToolSpec{{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}}
	}
	choose := func(mode llm.ToolMode, name string) llm.Options {
		return llm.Options{ToolChoice: llm.ToolChoice{Mode: mode, Tool: name}}
	}
	long := "a23456789012345678901234567890123456789012345678901234567890123" // 63
	for name, tt := range map[string]struct {
		req  llm.Request
		want llm.Class // empty for a request that is sent
	}{
		"a name":         {llm.Request{Tools: tool("read_file")}, ""},
		"64 characters":  {llm.Request{Tools: tool(long + "4")}, ""},
		"65 characters":  {llm.Request{Tools: tool(long + "45")}, llm.ClassInvalid},
		"no name":        {llm.Request{Tools: tool("")}, llm.ClassInvalid},
		"a digit first":  {llm.Request{Tools: tool("2read")}, llm.ClassInvalid},
		"a dash":         {llm.Request{Tools: tool("read-file")}, ""},
		"a space":        {llm.Request{Tools: tool("read file")}, llm.ClassInvalid},
		"a dot":          {llm.Request{Tools: tool("fs.read")}, llm.ClassInvalid},
		"required":       {llm.Request{Tools: tool("Read"), Options: choose(llm.ToolRequired, "")}, ""},
		"nothing to use": {llm.Request{Options: choose(llm.ToolRequired, "")}, llm.ClassUnsupported},
		"named":          {llm.Request{Tools: tool("Read"), Options: choose(llm.ToolNamed, "Read")}, ""},
		"a stranger":     {llm.Request{Tools: tool("Read"), Options: choose(llm.ToolNamed, "Write")}, llm.ClassUnsupported},
	} {
		if tt.want == "" {
			said(t, c, tt.req)
		} else if got := class(t, c, tt.req); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A layer may wait for a goroutine that changes the client, as it does if it
// asks for values that change with the keys.
func TestLayerWaitsForAChange(t *testing.T) {
	t.Parallel()
	c := llm.NewClient(echo("openai"))
	c.Use(func(next llm.StreamFunc) llm.StreamFunc {
		return func(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
			c.Set(echo("mine"))
			return next(ctx, req)
		}
	})
	if got := said(t, c, llm.Request{Provider: "mine", Model: "m"}); got != "mine/m" {
		t.Errorf("the answer is %q", got)
	}
}
