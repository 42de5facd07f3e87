package compat

import (
	"strings"
	"testing"
	"unicode"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// No stream makes the decoder panic or yield after the end.
func FuzzDecoder(f *testing.F) {
	for _, r := range []llmtest.Round{
		{Reasoning: "a b", Text: "c d", Calls: []llmtest.Call{{Name: "Read", Arguments: `{"a":1}`}}},
		{Text: "x", Error: "server_error"}, {Text: "x", Finish: llm.FinishLength},
	} {
		f.Add(llmtest.ChatStream(r, 1))
	}
	f.Add("data: {\"error\":null,\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"arguments\":[1]}}]}}]}\r\n\r\ndata:[DONE]")
	endpoint := wire.NewEndpoint(wire.Config{AdapterConfig: Config{BaseURL: "http://127.0.0.1"}})
	f.Fuzz(func(t *testing.T, stream string) {
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
		if err := read(wire.NewEvents(strings.NewReader(stream)), d); err != nil && !b.Stopped() {
			b.Fail(err)
		}
		if !ended {
			t.Fatal("no end")
		}
	})
}

// Only printable ids are read from a server that listens at a local server's
// port.
func FuzzLocalModels(f *testing.F) {
	f.Add([]byte(`{"object":"list","data":[{"id":"qwen3:8b","object":"model"}]}`))
	f.Add([]byte(`{"object":"list","data":[{"id":"\u0000","object":"model"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ids, err := localModels(body)
		if (err == nil) != (len(ids) > 0) {
			t.Fatalf("%q, %v", ids, err)
		}
		for _, id := range ids {
			if id == "" || len(id) > maxModelID || strings.ContainsFunc(id, unicode.IsControl) {
				t.Fatalf("%q", id)
			}
		}
	})
}
