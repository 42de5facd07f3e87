package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/responses"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// No sequence of events, one a line, makes the decoder panic or yield after
// the end.
func FuzzDecoder(f *testing.F) {
	for _, r := range []llmtest.Round{
		{Reasoning: "a b", Text: "c d", Calls: []llmtest.Call{{Name: "Read", Arguments: `{"a":1}`}}},
		{Calls: []llmtest.Call{llmtest.Custom("Patch", "+a\n"), {Name: "Read"}}},
		{Text: "x", Error: "server_error"}, {Text: "x", Finish: llm.FinishLength},
	} {
		f.Add(strings.ReplaceAll(llmtest.ResponsesStream(r, 1), "data: ", ""))
	}
	f.Add(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message"}}
{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","name":"x"}}
{"type":"response.function_call_arguments.delta","output_index":0,"delta":"x"}`)
	f.Add(`{"type":"response.output_item.added","output_index":0,"item":{"type":"custom_tool_call","name":"x"}}
{"type":"response.custom_tool_call_input.delta","output_index":1,"delta":"x"}
{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","name":"x","arguments":"1"}}`)
	endpoint := wire.NewEndpoint(wire.Config{Provider: name, AdapterConfig: Config{BaseURL: defaultBaseURL}})
	f.Fuzz(func(t *testing.T, lines string) {
		call, _, invalid := endpoint.Begin(t.Context(), llm.Request{})
		if invalid != nil {
			t.Fatal(invalid)
		}
		defer call.End()
		ended := false
		b := wire.NewBuilder(llm.Origin{}, func(ev llm.Event, err error) bool {
			if ended {
				t.Fatalf("%v %v after the end", ev, err)
			}
			ended = err != nil || ev.Type == llm.EventFinish
			return true
		})
		d := newDecoder(b, call)
		for line := range strings.Lines(lines) {
			var ev responses.ResponseStreamEventUnion
			if !d.done && json.Unmarshal([]byte(line), &ev) == nil {
				d.event(ev)
			}
		}
		if ended != d.done {
			t.Fatalf("ended %v, done %v", ended, d.done)
		}
	})
}
