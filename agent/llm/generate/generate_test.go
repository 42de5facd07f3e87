package generate_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/generate"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func failed(t *testing.T, err error, want llm.Class) {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != want {
		t.Errorf("%v, want class %s", err, want)
	}
}

// A program that forgot the model is told so.
func TestNoModel(t *testing.T) {
	t.Parallel()
	_, err := generate.Text(t.Context(), nil, generate.Call{Prompt: "Hello"})
	failed(t, err, llm.ClassConfig)
}

// LLM-33: a call has either a prompt or a conversation.
func TestPromptOrMessages(t *testing.T) {
	t.Parallel()
	both := generate.Call{Prompt: "hi", Request: llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}}
	for _, c := range []generate.Call{{}, both} {
		_, err := generate.Text(t.Context(), llmtest.Script(llmtest.Round{Text: "never"}), c)
		failed(t, err, llm.ClassConfig)
	}
}

// LLM-33: tools run for as many rounds as allowed, for one by default, and no
// longer than StopWhen permits.
func TestRounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call  generate.Call
		steps int
	}{
		"once":    {generate.Call{}, 2},
		"thrice":  {generate.Call{MaxToolRounds: 3}, 4},
		"stopped": {generate.Call{MaxToolRounds: 3, StopWhen: func(s []generate.Step) bool { return len(s) == 2 }}, 2},
	} {
		m := llmtest.Script(looks("a"), looks("b"), looks("c"), looks("d"))
		tt.call.Prompt, tt.call.Tools = "go", []generate.Tool{look}
		got, err := generate.Text(t.Context(), m, tt.call)
		if err != nil || len(got.Steps) != tt.steps {
			t.Errorf("%s: %d steps, want %d (%v)", name, len(got.Steps), tt.steps, err)
		}
	}
}

// A call of a tool that the caller runs itself ends the rounds.
func TestPassiveTool(t *testing.T) {
	t.Parallel()
	passive := look
	passive.Run = nil
	got, err := generate.Text(t.Context(), llmtest.Script(looks("a")), generate.Call{Prompt: "go", Tools: []generate.Tool{passive}})
	if err != nil {
		t.Fatal(err)
	}
	if calls := got.Answer().Message.Calls(); len(calls) != 1 || got.Steps[0].Results != nil {
		t.Errorf("%+v", got.Steps)
	}
}

// LLM-41: the model is told of a tool that does not exist, of arguments that
// its schema does not allow, and of a tool that panics.
func TestBadCalls(t *testing.T) {
	t.Parallel()
	bad := look
	bad.Name = "Break"
	bad.Run = func(context.Context, json.RawMessage) (string, error) { panic("glass") }
	m := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Hear", map[string]any{}), llmtest.Use("Look", map[string]any{"where": "up"}),
		{Name: "Look", Arguments: "{"}, llmtest.Use("Break", map[string]any{"at": "it"}),
	}}, llmtest.Round{Text: "Sorry."})
	got, err := generate.Text(t.Context(), m, generate.Call{Prompt: "go", Tools: []generate.Tool{look, bad}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`no tool "Hear"`, "additional properties", "unexpected end", "glass"} {
		r := got.Steps[0].Results[i]
		if !r.IsError || !strings.Contains(r.Parts[0].Text, want) {
			t.Errorf("call %d: %+v", i, r.Parts[0].Text)
		}
	}
}

// LLM-33, LLM-46: a step is retried twice, with growing waits, but not if the
// policy says never. An answer that broke off is counted.
func TestRetries(t *testing.T) {
	t.Parallel()
	busy := llmtest.Round{Status: 503}
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.Script(busy, busy, llmtest.Round{Text: "at last"})
		start := time.Now()
		got, err := generate.Text(t.Context(), m, generate.Call{Prompt: "hi"})
		if err != nil || got.Text() != "at last" {
			t.Fatalf("%q %v", got.Text(), err)
		}
		if waited := time.Since(start); waited < 1500*time.Millisecond || waited > 4500*time.Millisecond {
			t.Errorf("waited %v", waited)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.Script(busy, llmtest.Round{Text: "half", Error: "server_error"}, llmtest.Round{Text: "whole"})
		if got, err := generate.Text(t.Context(), m, generate.Call{Prompt: "hi"}); err != nil || got.Lost != 1 {
			t.Errorf("%d requests were lost, %v", got.Lost, err)
		}
	})
	m := llmtest.Script(busy, llmtest.Round{Text: "never"})
	_, err := generate.Text(t.Context(), m, generate.Call{Prompt: "hi", Retry: once})
	failed(t, err, llm.ClassOverloaded)
}

// LLM-46: an answer of which a part was shown is not requested again.
func TestNoRetryAfterPartOfAnAnswer(t *testing.T) {
	t.Parallel()
	m := llmtest.Script(llmtest.Round{Text: "half", Cut: -1}, llmtest.Round{Text: "whole"})
	var last error
	for _, err := range generate.Stream(t.Context(), m, generate.Call{Prompt: "hi"}) {
		last = err
	}
	failed(t, last, llm.ClassTruncated)
	if n := len(m.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// LLM-35: a step ends at its time limit.
func TestStepTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.Script(llmtest.Round{Text: "x", Hang: true})
		start := time.Now()
		_, err := generate.Text(t.Context(), m, generate.Call{Prompt: "hi", StepTimeout: time.Minute, Retry: once})
		if err == nil || time.Since(start) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// A caller that leaves a stream closes it.
func TestLeaving(t *testing.T) {
	t.Parallel()
	m := llmtest.Script(llmtest.Round{Text: "one two three"}, llmtest.Round{Text: "never"})
	for _, err := range generate.Stream(t.Context(), m, generate.Call{Prompt: "hi"}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if n := len(m.Requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// LLM-34: an answer that is not a valid value is a separate error, is not
// requested again, and can be read.
func TestNoObject(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"I would rather not.", `{"x":"three","label":"l"}`, `{"x":3}`, `[1]`, ""} {
		m := llmtest.Script(llmtest.Round{Text: said}, llmtest.Round{Text: `{"x":1,"label":"never"}`})
		_, result, err := generate.Object[point](t.Context(), m, generate.Call{Prompt: "where?"})
		failed(t, err, llm.ClassBadObject)
		if len(m.Requests()) != 1 || result.Text() != said {
			t.Errorf("%q: %d requests, %q kept", said, len(m.Requests()), result.Text())
		}
	}
}

// An endpoint without support for schemas is asked in words, and may fence its
// JSON.
func TestObjectInWords(t *testing.T) {
	t.Parallel()
	m := llmtest.Script(llmtest.Round{Status: 400, Body: "unknown field response_format"}, llmtest.Round{Text: "```json\n{\"x\":3,\"label\":\"here\"}\n```"})
	got, _, err := generate.Object[point](t.Context(), m, generate.Call{Prompt: "where?", Request: llm.Request{System: "You navigate."}})
	if err != nil || got != (point{3, "here"}) {
		t.Fatalf("%+v %v", got, err)
	}
	again := m.Requests()[1]
	if again.Format != nil || !strings.HasPrefix(again.System, "You navigate.\n\n") || !strings.Contains(again.System, `"label"`) {
		t.Errorf("%+v", again)
	}
}

// Only structs are accepted as objects.
func TestObjectMustBeAStruct(t *testing.T) {
	t.Parallel()
	if _, _, err := generate.Object[int](t.Context(), llmtest.Script(), generate.Call{Prompt: "how many?"}); err == nil {
		t.Error("an int was asked for")
	}
}

// LLM-33: a value can be watched as it grows.
func TestObjectStream(t *testing.T) {
	t.Parallel()
	type list struct {
		Name  string  `json:"name"`
		Items []point `json:"items"`
	}
	const whole = `{"name":"way, {far}","items":[{"x":1,"label":"a"},{"x":2,"label":"b\"]"}]}`
	var seen []list
	for v, err := range generate.ObjectStream[list](t.Context(), letters(whole), generate.Call{Prompt: "the way?"}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) == 0 || !cmp.Equal(seen[len(seen)-1], v) {
			seen = append(seen, v)
		}
	}
	a, b := point{1, "a"}, point{2, `b"]`}
	want := []list{
		{}, {Name: "way, {far}"}, {"way, {far}", []point{}}, {"way, {far}", []point{{}}}, {"way, {far}", []point{{X: 1}}},
		{"way, {far}", []point{a}}, {"way, {far}", []point{a, {}}}, {"way, {far}", []point{a, {X: 2}}}, {"way, {far}", []point{a, b}},
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// letters is a model that sends one text, letter by letter.
type letters string

func (l letters) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for _, r := range string(l) {
			if !yield(llm.Event{Type: llm.EventTextDelta, Delta: string(r)}, nil) {
				return
			}
		}
		yield(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, string(l))}}, nil)
	}
}
