package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// No sequence of events, one a line, makes the decoder panic or yield after the
// end, and every decoded answer can be sent again.
func FuzzDecoder(f *testing.F) {
	for _, r := range []llmtest.Round{
		{Reasoning: "a b", Text: "c d", Calls: []llmtest.Call{{Name: "Read", Arguments: `{"a":1}`}}},
		{Text: "x", Finish: llm.FinishLength, Usage: llm.Usage{Input: 1, Output: 2, Known: true}},
	} {
		f.Add(strings.ReplaceAll(llmtest.MessagesStream(r, 1), "data: ", ""))
	}
	f.Add(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":[1]}}
{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}
{"type":"content_block_stop","index":7}
{"type":"message_stop"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		var answer *llm.Answer
		b := wire.NewBuilder(llm.Origin{}, func(ev llm.Event, err error) bool {
			if answer != nil {
				t.Fatalf("%v %v after the end", ev, err)
			}
			answer = ev.Answer
			return true
		})
		d := newDecoder(b)
		for line := range strings.Lines(lines) {
			var ev sdk.MessageStreamEventUnion
			if !d.done && json.Unmarshal([]byte(line), &ev) == nil {
				d.event(ev)
			}
		}
		if (answer != nil) != d.done {
			t.Fatalf("answer %v, done %v", answer, d.done)
		}
		if answer != nil {
			body, err := lower(llm.Request{Messages: []llm.Message{answer.Message}}, llm.Origin{}).MarshalJSON()
			if err != nil || !json.Valid(body) {
				t.Fatalf("%v: %s", err, body)
			}
		}
	})
}
