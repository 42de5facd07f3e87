package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/generate"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

// These are the providers of the matrix, each over its real wire format.
var providers = []struct {
	name  string
	model func(*llmtest.Server) generate.Model
}{
	{"openai", func(s *llmtest.Server) generate.Model {
		return openai.New(openai.Config{BaseURL: s.URL, APIKey: "sk-test-0123456789"})
	}},
	{"anthropic", func(s *llmtest.Server) generate.Model {
		return anthropic.New(anthropic.Config{BaseURL: s.Root, APIKey: "sk-test-0123456789"})
	}},
	{"gemini", func(s *llmtest.Server) generate.Model {
		return gemini.New(gemini.Config{BaseURL: s.Root, APIKey: "sk-test-0123456789"})
	}},
	{"compat", func(s *llmtest.Server) generate.Model {
		return compat.New(compat.Config{BaseURL: s.URL, APIKey: "sk-test-0123456789"})
	}},
}

// once never retries.
var once = &llm.RetryPolicy{}

// run runs one cell of the matrix.
type run struct {
	*testing.T
	server *llmtest.Server
	model  generate.Model
}

func (r run) text(c generate.Call) *generate.Result {
	r.Helper()
	got, err := generate.Text(r.Context(), r.model, r.call(c))
	if err != nil {
		r.Fatal(err)
	}
	return got
}

func (r run) call(c generate.Call) generate.Call {
	c.Request.Model = llmtest.ModelID
	if c.Retry == nil {
		c.Retry = once
	}
	return c
}

func (r run) body(n int) string { return string(r.server.Requests()[n].Body) }

// look is a tool that returns its input, or fails.
var look = generate.Tool{
	ToolSpec: llm.ToolSpec{
		Name: "Look", Description: "looks at a thing",
		Schema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"],"additionalProperties":false}`),
	},
	Run: func(_ context.Context, arguments json.RawMessage) (string, error) {
		var in struct{ At string }
		if err := json.Unmarshal(arguments, &in); err != nil {
			return "", err
		}
		if in.At == "nowhere" {
			return "", errors.New("there is nothing")
		}
		return "seen: " + in.At, nil
	},
}

func looks(at ...string) llmtest.Round {
	var r llmtest.Round
	for _, at := range at {
		r.Calls = append(r.Calls, llmtest.Use("Look", map[string]any{"at": at}))
	}
	return r
}

var pixel = []byte("\x89PNG\r\n\x1a\n")

func picture(m llm.Media) generate.Call {
	return generate.Call{Request: llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{
		{Kind: llm.PartText, Text: "what is this?"}, {Kind: llm.PartMedia, Media: &m},
	}}}}}
}

type point struct {
	X     int    `json:"x"`
	Label string `json:"label"`
}

// These are the fifteen rows of the specification's matrix, 8.9.
var matrix = []struct {
	name   string
	rounds []llmtest.Round
	test   func(run)
}{
	{"simple text generation", []llmtest.Round{{Text: "Hello."}}, func(r run) {
		got := r.text(generate.Call{Prompt: "hi"})
		if got.Text() != "Hello." || got.Answer().Finish.Reason != llm.FinishStop {
			r.Errorf("%q %s", got.Text(), got.Answer().Finish.Reason)
		}
	}},
	{"streaming text generation", []llmtest.Round{{Text: "Hello, world."}}, func(r run) {
		var text string
		for ev, err := range generate.Stream(r.Context(), r.model, r.call(generate.Call{Prompt: "hi"})) {
			if err != nil {
				r.Fatal(err)
			}
			if ev.Type == llm.EventTextDelta {
				text += ev.Delta
			}
		}
		if text != "Hello, world." {
			r.Errorf("the deltas are %q", text)
		}
	}},
	{"image input by value", []llmtest.Round{{Text: "A pixel."}}, func(r run) {
		r.text(picture(llm.Media{MIME: "image/png", Data: pixel}))
		if !strings.Contains(r.body(0), "iVBORw0KGgo=") {
			r.Errorf("the picture is not in %s", r.body(0))
		}
	}},
	{"image input by address", []llmtest.Round{{Text: "A pixel."}}, func(r run) {
		r.text(picture(llm.Media{MIME: "image/png", URL: "https://pictures.example/1.png"}))
		if !strings.Contains(r.body(0), "https://pictures.example/1.png") {
			r.Errorf("the address is not in %s", r.body(0))
		}
	}},
	{"a tool call and its execution", []llmtest.Round{looks("the sky"), {Text: "It is blue."}}, func(r run) {
		got := r.text(generate.Call{Prompt: "look", Tools: []generate.Tool{look}})
		if got.Text() != "It is blue." || !strings.Contains(r.body(1), "seen: the sky") {
			r.Errorf("%q after %s", got.Text(), r.body(1))
		}
	}},
	{"parallel tool calls", []llmtest.Round{looks("left", "nowhere", "right"), {Text: "Done."}}, func(r run) {
		got := r.text(generate.Call{Prompt: "look", Tools: []generate.Tool{look}})
		var said []string
		for _, res := range got.Steps[0].Results {
			said = append(said, fmt.Sprint(res.Parts[0].Text, res.IsError))
		}
		if diff := cmp.Diff([]string{"seen: leftfalse", "there is nothingtrue", "seen: rightfalse"}, said); diff != "" {
			r.Error(diff)
		}
		if n := len(r.server.Requests()); n != 2 {
			r.Errorf("%d requests, want the results in one", n)
		}
	}},
	{"several rounds of tools", []llmtest.Round{looks("a"), looks("b"), looks("c"), {Text: "Done."}}, func(r run) {
		got := r.text(generate.Call{Prompt: "look", Tools: []generate.Tool{look}, MaxToolRounds: 5})
		if len(got.Steps) != 4 || got.Text() != "Done." {
			r.Errorf("%d steps, %q", len(got.Steps), got.Text())
		}
	}},
	{"streaming with tools", []llmtest.Round{looks("a"), {Text: "Done."}}, func(r run) {
		var kinds []llm.EventType
		for ev, err := range generate.Stream(r.Context(), r.model, r.call(generate.Call{Prompt: "look", Tools: []generate.Tool{look}})) {
			if err != nil {
				r.Fatal(err)
			}
			if ev.Type == llm.EventToolCallEnd || ev.Type == llm.EventTextEnd || ev.Type == llm.EventFinish {
				kinds = append(kinds, ev.Type)
			}
		}
		want := []llm.EventType{llm.EventToolCallEnd, llm.EventFinish, llm.EventTextEnd, llm.EventFinish}
		if diff := cmp.Diff(want, kinds); diff != "" {
			r.Error(diff)
		}
	}},
	{"structured output", []llmtest.Round{{Text: `{"x":3,"label":"here"}`}}, func(r run) {
		got, _, err := generate.Object[point](r.Context(), r.model, r.call(generate.Call{Prompt: "where?"}))
		if err != nil || got != (point{3, "here"}) {
			r.Errorf("%+v %v", got, err)
		}
		if !strings.Contains(r.body(0), `"label"`) {
			r.Errorf("the schema is not in %s", r.body(0))
		}
	}},
	{"reasoning tokens", []llmtest.Round{{Reasoning: "hm", Text: "Yes.", Usage: llm.Usage{Input: 10, Output: 9, Reasoning: 4, Known: true}}}, func(r run) {
		if got := r.text(generate.Call{Prompt: "hi"}).Usage.Reasoning; got != 4 {
			r.Errorf("%d reasoning tokens, want 4", got)
		}
	}},
	{"a wrong key", []llmtest.Round{{Status: 401, Body: `{"error":{"message":"no"}}`}}, func(r run) {
		r.fails(llm.ClassAuth)
	}},
	{"too many requests", []llmtest.Round{{Status: 429, Body: `{"error":{"message":"slow down"}}`}}, func(r run) {
		r.fails(llm.ClassRateLimit)
	}},
	{"usage", []llmtest.Round{
		{Calls: looks("a").Calls, Usage: llm.Usage{Input: 100, Output: 10, Known: true}},
		{Text: "Done.", Usage: llm.Usage{Input: 130, Output: 20, Known: true}},
	}, func(r run) {
		got := r.text(generate.Call{Prompt: "look", Tools: []generate.Tool{look}})
		if diff := cmp.Diff(llm.Usage{Input: 230, Output: 30, Known: true}, got.Usage); diff != "" {
			r.Error(diff)
		}
	}},
	{"prompt caching", []llmtest.Round{looks("a"), {Text: "Done.", Usage: llm.Usage{Input: 10, CacheRead: 90, Output: 5, Known: true}}}, func(r run) {
		got := r.text(generate.Call{Prompt: "look", Tools: []generate.Tool{look}, Request: llm.Request{System: "be brief", CacheKey: "k"}})
		if got.Answer().Usage.CacheRead != 90 {
			r.Errorf("%+v", got.Answer().Usage)
		}
	}},
	{"a provider's own options", []llmtest.Round{{Text: "Hello."}}, func(r run) {
		var req llm.Request
		req.Body = map[string]json.RawMessage{"flavour": json.RawMessage(`"plain"`)}
		r.text(generate.Call{Prompt: "hi", Request: req})
		if !strings.Contains(r.body(0), `"flavour":"plain"`) {
			r.Errorf("the option is not in %s", r.body(0))
		}
	}},
}

// LLM-60: each row holds for each provider.
func TestMatrix(t *testing.T) {
	t.Parallel()
	for _, row := range matrix {
		for _, p := range providers {
			t.Run(row.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				server := llmtest.Serve(t, row.rounds...)
				row.test(run{t, server, p.model(server)})
			})
		}
	}
}

func (r run) fails(want llm.Class) {
	r.Helper()
	_, err := generate.Text(r.Context(), r.model, r.call(generate.Call{Prompt: "hi"}))
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != want {
		r.Errorf("%v, want class %s", err, want)
	}
}

// LLM-60: this is the specification's smoke list, 8.10, of which the matrix has
// the first five: a model that does not exist is an error of the class
// not_found.
func TestUnknownModel(t *testing.T) {
	t.Parallel()
	for _, p := range providers {
		server := llmtest.Serve(t, llmtest.Round{Status: 404, Body: `{"error":{"message":"no such model"}}`})
		run{t, server, p.model(server)}.fails(llm.ClassNotFound)
	}
}
