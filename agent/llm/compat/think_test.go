package compat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// says returns a delta of the content.
func says(t *testing.T, text string) string {
	t.Helper()
	encoded, err := json.Marshal(map[string]string{"content": text})
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// thoughtOf joins the reasoning of an answer.
func thoughtOf(m llm.Message) (thought string) {
	for _, p := range m.Parts {
		if p.Reasoning != nil {
			thought += p.Reasoning.Text
		}
	}
	return thought
}

// Text between tags at the beginning of an answer is reasoning, wherever the
// deltas split the tags. Text that only looks like it stays text.
func TestThinkTags(t *testing.T) {
	t.Parallel()
	const call = `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Read","arguments":"{}"}}]}`
	for name, tt := range map[string]struct {
		content, finish string
		before, after   string // deltas around the content
		thought, text   string
		back            string // the message as it is sent back
	}{
		"tags": {
			content: "<think>\nhm</think>\n\nhi", thought: "\nhm", text: "hi",
			back: `{"content":"<think>\nhm</think>\n\nhi","role":"assistant"}`,
		},
		"space before":       {content: "\n <think>hm</think>hi", thought: "hm", text: "hi"},
		"nothing thought":    {content: "<think>\n\n</think>\n\nhi", thought: "\n\n", text: "hi"},
		"in the midst":       {content: "so <think>hm</think>hi", text: "so <think>hm</think>hi"},
		"another tag":        {content: "<thinking>hm</thinking>hi", text: "<thinking>hm</thinking>hi"},
		"half a tag":         {content: "<thin", text: "<thin"},
		"only space":         {content: " \n", text: " \n"},
		"far from the start": {content: strings.Repeat(" ", 65) + "<think>hm</think>hi", text: strings.Repeat(" ", 65) + "<think>hm</think>hi"},
		"signs inside":       {content: "<think>a </thin b < c</think>hi", thought: "a </thin b < c", text: "hi"},
		"a second one":       {content: "<think>a</think>b <think>c</think>", thought: "a", text: "b <think>c</think>"},
		"never closed": {
			content: "<think> is a tag of </thi", thought: " is a tag of </thi", text: "<think> is a tag of </thi",
			back: `{"content":"<think> is a tag of </thi","role":"assistant"}`,
		},
		"cut": {content: "<think>hm", finish: "length", thought: "hm"},
		"closed by a call": {
			content: "<think>hm", after: call, thought: "hm",
			back: `{"content":"<think>hm</think>\n\n","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"Read"},"id":"a","type":"function"}]}`,
		},
		"held before a call": {content: "<thi", after: call, text: "<thi"},
		"beside a field":     {before: `{"reasoning":"hm"}`, content: "<think>hm</think>hi", thought: "hm", text: "<think>hm</think>hi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at := range len(tt.content) + 1 {
				deltas := []string{says(t, tt.content[:at]), says(t, tt.content[at:])}
				if at == len(tt.content) { // byte by byte
					deltas = nil
					for _, c := range strings.Split(tt.content, "") {
						deltas = append(deltas, says(t, c))
					}
				}
				if tt.before != "" {
					deltas = append([]string{tt.before}, deltas...)
				}
				if tt.after != "" {
					deltas = append(deltas, tt.after)
				}
				finish := "stop"
				if tt.finish != "" {
					finish = tt.finish
				}
				server := llmtest.Serve(t, llmtest.Round{Body: body(finish, deltas...)})
				req := llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
				answer := stream(t, server, req)
				if got := thoughtOf(answer.Message); got != tt.thought || answer.Message.Text() != tt.text {
					t.Fatalf("cut at %d: thought %q, text %q", at, got, answer.Message.Text())
				}
				if parts := answer.Message.Parts; tt.after != "" && parts[len(parts)-1].Kind != llm.PartToolCall {
					t.Fatalf("cut at %d: said after the call: %+v", at, parts)
				}
				if tt.back == "" {
					continue
				}
				req.Messages = append(req.Messages, answer.Message, llm.Text(llm.RoleUser, "more"))
				r := sent(t, server, compat.New(compat.Config{BaseURL: server.URL}), req)
				var got struct{ Messages []json.RawMessage }
				if err := json.Unmarshal(r.Body, &got); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.back, string(got.Messages[1])); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

// Snowflake sends reasoning only in the details, OpenRouter in a field as well.
func TestReasoningInDetails(t *testing.T) {
	t.Parallel()
	for name, deltas := range map[string][]string{
		"details alone": {
			`{"content":"","reasoning_details":[{"type":"reasoning.text","text":"h","index":0}]}`,
			`{"content":"","reasoning_details":[{"type":"reasoning.text","text":"m","index":0}]}`, `{"content":"hi"}`,
		},
		"beside a field": {
			`{"reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","index":0}]}`,
			`{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","index":0}]}`, `{"content":"hi"}`,
			`{"content":"","reasoning_details":[{"type":"reasoning.text","text":" ","signature":"s","index":0}]}`,
		},
		"summary": {`{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"},{"type":"reasoning.encrypted","data":"x"}]}`, `{"content":"hi"}`},
	} {
		answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: body("stop", deltas...)}), llm.Request{})
		if thought := thoughtOf(answer.Message); thought != "hm" || answer.Message.Text() != "hi" {
			t.Errorf("%s: thought %q, said %q", name, thought, answer.Message.Text())
		}
	}
}

// Details whose members have unexpected types are kept unchanged.
func TestReasoningInStrangeDetails(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		`{"type":{},"text":"h"}`, `{"type":[1],"text":"h"}`,
		`{"type":"x","index":{},"text":"h"}`, `{"type":"x","id":["a"],"text":"h"}`,
	} {
		delta := `{"reasoning_details":[` + piece + `]}`
		answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: body("stop", delta, delta, `{"content":"hi"}`)}), llm.Request{})
		if thought := thoughtOf(answer.Message); thought != "hh" || answer.Message.Text() != "hi" {
			t.Errorf("%s: thought %q, said %q", piece, thought, answer.Message.Text())
		}
	}
}

// A server cannot fill the memory with details, neither in one event nor in
// many.
func TestTooManyDetails(t *testing.T) {
	t.Parallel()
	for what, deltas := range map[string][]string{
		"in one event":   {`{"reasoning_details":[` + strings.Repeat(`{},`, 1_000_000) + `{}]}`, `{"content":"hi"}`},
		"in many events": slices.Repeat([]string{`{"reasoning_details":[` + strings.Repeat(`{},`, 999) + `{}]}`}, 20),
	} {
		server := llmtest.Serve(t, llmtest.Round{Body: body("stop", deltas...)})
		_, _, err := llmtest.Collect(compat.New(compat.Config{BaseURL: server.URL}).Stream(t.Context(), llm.Request{Model: "m"}))
		var e *llm.Error
		if !errors.As(err, &e) || e.Class != llm.ClassTooLarge || e.Retryable {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Details in many pieces are not copied for each piece. The test is not
// parallel, because it measures the allocations of the process.
func TestDetailsInManyPieces(t *testing.T) {
	piece := strings.Repeat("x", 1000)
	deltas := slices.Repeat([]string{`{"reasoning_details":[{"type":"reasoning.text","text":"` + piece + `","index":0}]}`}, 5000)
	server := llmtest.Serve(t, llmtest.Round{Body: body("stop", deltas...)})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, answer, err := llmtest.Collect(compat.New(compat.Config{BaseURL: server.URL}).Stream(t.Context(), llm.Request{Model: "m"}))
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(thoughtOf(answer.Message)); got != 5000*len(piece) {
		t.Errorf("%d bytes were thought", got)
	}
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 1000 { // copied for each piece, they are 12 GB
		t.Errorf("%d MB were allocated", mb)
	}
}

// named returns the deltas of two calls: one of n pieces that each repeat the
// call's name, and one whose arguments come at once.
func named(n int) []string {
	piece := func(arguments string) string {
		return `{"tool_calls":[{"index":0,"function":{"name":"Write","arguments":"` + arguments + `"}}]}`
	}
	deltas := append([]string{piece(`{\"a\":\"`)}, slices.Repeat([]string{piece(strings.Repeat("x", 500))}, n)...)
	return append(deltas, piece(`\"}`), piece(`{}`))
}

func TestNamedPiecesOfACall(t *testing.T) {
	t.Parallel()
	answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: body("stop", named(100)...)}), llm.Request{})
	if calls := answer.Message.Calls(); len(calls) != 2 || len(calls[0].Arguments) != 50_008 || string(calls[1].Arguments) != "{}" {
		t.Errorf("%d calls, the first with %d bytes", len(calls), len(calls[0].Arguments))
	}
}

// Twice the pieces take twice the time, because the arguments are not read
// again for each piece.
func BenchmarkNamedPiecesOfACall(b *testing.B) {
	for _, n := range []int{2000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				server := llmtest.NewServer(llmtest.Round{Body: body("stop", named(n)...)})
				if _, _, err := llmtest.Collect(compat.New(compat.Config{BaseURL: server.URL}).Stream(b.Context(), llm.Request{Model: "m"})); err != nil {
					b.Fatal(err)
				}
				server.Close()
			}
		})
	}
}
