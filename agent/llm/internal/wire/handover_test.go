package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// proof is what each API seals or demands back of the first answer; no other
// API may see it.
var proof = map[string]string{
	"responses": `"encrypted_content":"sealed-1"`,
	"chat":      `"reasoning_content":"I wonder."`,
	"messages":  `"signature":"sealed-1"`,
	"generate":  `"thoughtSignature":"c2VhbGVkLTE="`,
}

// LLM-28: a conversation that began with one provider continues with every
// other one, and back again. Text, calls and results are complete, under ids
// that match. Proofs are sent to their own provider only.
func TestHandover(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		for _, b := range apis {
			t.Run("to "+b.name, func(t *testing.T) {
				t.Parallel()
				handOver(t, a, b)
			})
		}
	})
}

func handOver(t *testing.T, a, b api) {
	servers := map[string]*llmtest.Server{a.name: llmtest.Serve(t), b.name: llmtest.Serve(t)}
	req := ask("look around")
	req.Tools = []llm.ToolSpec{{
		Name: "Patch", Description: "Patches.", Freeform: &llm.Freeform{Grammar: "start: /.+/"},
		Schema: json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}}}`),
	}}
	req.Messages = append(req.Messages, llm.Text(llm.RoleUser, "and be quick"))
	say := func(to api, round llmtest.Round) string {
		t.Helper()
		s := servers[to.name]
		s.Add(round)
		_, answer, err := llmtest.Collect(to.adapter(to.url(s), secret, 0).Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, answer.Message)
		results := llm.Message{Role: llm.RoleTool}
		for _, c := range answer.Message.Calls() {
			results.Parts = append(results.Parts, llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{
				CallID: c.ID, WireID: c.WireID, Name: c.Name, Parts: []llm.Part{{Kind: llm.PartText, Text: "result of " + c.FreeformText()}},
			}})
		}
		if len(results.Parts) > 0 {
			req.Messages = append(req.Messages, results)
		}
		requests := s.Requests()
		return strings.NewReplacer(`\u003c`, "<", `\"`, `"`).Replace(string(requests[len(requests)-1].Body))
	}
	say(a, llmtest.Round{Reasoning: "I wonder.", Text: "I look.", Calls: []llmtest.Call{
		llmtest.Use("Read", map[string]any{"path": "a<b"}), llmtest.Use("Grep", map[string]any{"pattern": "x"}),
		llmtest.Custom("Patch", "+a<b"),
	}})
	calls := req.Messages[2].Calls()

	body := say(b, llmtest.Round{Text: "I think."})
	for _, want := range []string{"look around", "and be quick", "I look.", "Read", `{"path":"a<b"}`, `result of {"path":"a<b"}`, "Grep", `result of {"pattern":"x"}`, "Patch"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in %s", want, body)
		}
	}
	checkFreeform(t, body, b)
	for name, sealed := range proof {
		if got, want := strings.Contains(body, sealed), name == a.name && name == b.name; got != want {
			t.Errorf("%s is there: %v; want %v: %s", sealed, got, want, body)
		}
	}
	for _, c := range calls {
		id, other, times := c.ID, c.WireID, 2 // in the call and in its result
		if a.name == b.name {
			id, other = other, id
		} else if b.name == "generate" {
			times = 0 // it demands only ids of its own
		}
		if strings.Count(body, `"`+id+`"`) != times || strings.Contains(body, other) {
			t.Errorf("%d times %s, or %s, in %s", strings.Count(body, id), id, other, body)
		}
	}

	req.Messages = append(req.Messages, llm.Text(llm.RoleUser, "go on"))
	req.Tools = nil // as another profile may send it
	if back := say(a, llmtest.Round{Text: "Done."}); !strings.Contains(back, proof[a.name]) || !strings.Contains(back, "I think.") || !strings.Contains(back, `{"input":"+a<b"}`) {
		t.Errorf("back again: %s", back)
	}
}

// checkFreeform checks that a tool, a call of it and its result are sent in the
// same form: as text if the API has that, else as JSON.
func checkFreeform(t *testing.T, body string, to api) {
	t.Helper()
	custom := []string{`"syntax":"lark"`, `"input":"+a<b"`, `"type":"custom_tool_call"`, `"type":"custom_tool_call_output"`}
	if got := strings.Contains(body, `{"input":"+a<b"}`); got == to.freeform {
		t.Errorf("as JSON: %v; want %v: %s", got, !to.freeform, body)
	}
	for _, part := range custom[:1] {
		if got := strings.Contains(body, part); got != to.freeform {
			t.Errorf("%s is there: %v; want %v: %s", part, got, to.freeform, body)
		}
	}
	for _, part := range custom[2:] {
		if got := strings.Count(body, part) == 1; got != to.freeform {
			t.Errorf("%s is there: %v; want %v: %s", part, got, to.freeform, body)
		}
	}
}

// An answer with invalid UTF-8 and half of a surrogate pair is sent back as
// text that every provider can read.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		t.Parallel()
		body := a.stream(llmtest.Round{Reasoning: "why?", Text: "because?", Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"path": "file?"})}}, 1)
		server := llmtest.Serve(t, llmtest.Round{Body: strings.ReplaceAll(body, "?", "\xff"+`\ud800`)}, llmtest.Round{Text: "Done."})
		server.Strict(llmtest.GoogleRules)
		req := ask("look around")
		_, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		call := answer.Message.Calls()[0]
		req.Messages = append(req.Messages, answer.Message, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{
			Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: call.ID, WireID: call.WireID, Name: call.Name},
		}}})
		_, answer, err = llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), req))
		if err != nil || answer.Message.Text() != "Done." {
			requests := server.Requests()
			t.Errorf("answered %v, %v to %q", answer, err, requests[len(requests)-1].Body)
		}
	})
}
