package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// No chunk makes the decoder panic or yield after the end, and every decoded
// answer can be sent again.
func FuzzDecoder(f *testing.F) {
	for _, r := range []llmtest.Round{
		{Reasoning: "a b", Text: "c d", Calls: []llmtest.Call{{Name: "Read", Arguments: `{"a":1}`}}},
		{Text: "x", Finish: llm.FinishLength, Usage: llm.Usage{Input: 1, Output: 2, Known: true}},
	} {
		f.Add(llmtest.GenerateStream(r, 1))
	}
	f.Add("data: {\"candidates\":[{\"content\":{\"parts\":[null,7,{\"functionCall\":{\"args\":[1]}}]},\"finishReason\":\"STOP\"}]}\r\n\r\n: x\ndata:\ndata: cut")
	f.Fuzz(func(t *testing.T, body string) {
		var answer *llm.Answer
		b := wire.NewBuilder(llm.Origin{}, func(ev llm.Event, err error) bool {
			if answer != nil {
				t.Fatalf("%v %v after the end", ev, err)
			}
			answer = ev.Answer
			return true
		})
		d := &decoder{builder: b, open: none}
		events := wire.NewEvents(strings.NewReader(body))
		for events.Next() && d.chunk(events.Data()) == nil {
		}
		d.finish()
		sent, err := wire.Encode(lower(llm.Request{Messages: []llm.Message{answer.Message}}, llm.Origin{}))
		if err != nil || !json.Valid(sent) {
			t.Fatalf("cannot be sent again: %v: %+v", err, answer.Message)
		}
	})
}
