package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

func stream(t *testing.T, s *llmtest.Server, req llm.Request) ([]llm.Event, *llm.Answer) {
	t.Helper()
	req.Model = llmtest.ModelID
	events, answer, err := llmtest.Collect(openai.New(openai.Config{BaseURL: s.URL, APIKey: "key"}).Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Check(t, events)
	return events, answer
}

type sentRequest struct {
	Input     []json.RawMessage `json:"input"`
	Store     *bool             `json:"store"`
	Include   []string          `json:"include"`
	Reasoning json.RawMessage   `json:"reasoning"`
	CacheKey  string            `json:"prompt_cache_key"`
	MaxOutput int               `json:"max_output_tokens"`
	System    string            `json:"instructions"`
	Tools     []struct {
		Strict *bool `json:"strict"`
	} `json:"tools"`
}

// sent decodes the body of the last request.
func sent(t *testing.T, s *llmtest.Server) sentRequest {
	t.Helper()
	requests := s.Requests()
	var r sentRequest
	if err := json.Unmarshal(requests[len(requests)-1].Body, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func inputs(r sentRequest) []string {
	var out []string
	for _, raw := range r.Input {
		out = append(out, string(raw))
	}
	return out
}

// LLM-50
func TestRequest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{}, llmtest.Round{})
	stream(t, server, llm.Request{
		System: "Be brief.", Effort: llm.EffortHigh, MaxOutput: 99, CacheKey: "session",
		Messages: []llm.Message{
			llm.Text(llm.RoleDeveloper, "rules"),
			{Role: llm.RoleUser, Parts: []llm.Part{
				{Kind: llm.PartText, Text: "look"},
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1, 2, 3}}},
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "audio/wav", Name: "a.wav", Data: []byte{1}}},
			}},
		},
		Tools: []llm.ToolSpec{{Name: "Read", Schema: json.RawMessage(`{"type":"object"}`)}},
	})
	r := sent(t, server)
	if r.Store == nil || *r.Store || r.Tools[0].Strict == nil || *r.Tools[0].Strict {
		t.Error("store and strict must be sent as false")
	}
	want := sentRequest{
		Include: []string{"reasoning.encrypted_content"}, Reasoning: json.RawMessage(`{"effort":"high","summary":"auto"}`),
		CacheKey: "session", MaxOutput: 99, System: "Be brief.",
	}
	got := r
	got.Input, got.Store, got.Tools = nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		`{"content":"rules","role":"developer"}`,
		`{"content":[{"text":"look","type":"input_text"},{"detail":"auto","image_url":"data:image/png;base64,AQID","type":"input_image"},` +
			`{"text":"[a.wav (audio/wav) was left out: it cannot be sent to this model]","type":"input_text"}],"role":"user"}`,
	}, inputs(r)); diff != "" {
		t.Error(diff)
	}
	stream(t, server, llm.Request{Effort: llm.EffortNone, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}})
	if got := string(sent(t, server).Reasoning); got != `{"effort":"none"}` {
		t.Errorf("reasoning %s", got)
	}
}

const recorded = `event: response.created
data: {"type":"response.created","response":{"id":"resp_x","status":"in_progress"}}

event: response.shiny_new_thing
data: {"type":"response.shiny_new_thing","payload":{"a":[1,2]}}

: keep-alive

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed<&>","future":1e400}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"type":"hologram","zebra":1,"apple":{"b":2,"a":"<é>"}}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"type":"message","id":"msg_1","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"refusal","refusal":"I will not."}]}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_x","status":"completed"}}

`

// LLM-28 LLM-30: unknown content passes through and is sent back byte for byte.
func TestUnknownThingsSurvive(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: recorded}, llmtest.Round{}, llmtest.Round{})
	req := llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	events, answer := stream(t, server, req)
	if diff := cmp.Diff(`{"type":"response.shiny_new_thing","payload":{"a":[1,2]}}`, strings.TrimSpace(string(events[1].Raw))); diff != "" {
		t.Error(diff)
	}
	if answer.Finish.Reason != llm.FinishRefusal || answer.Finish.Detail != "I will not." || answer.Message.Origin.ResponseID != "resp_x" {
		t.Errorf("finish %+v, origin %+v", answer.Finish, answer.Message.Origin)
	}

	req.Messages = append(req.Messages, reloaded(t, answer.Message))
	stream(t, server, req)
	want := []string{
		`{"content":"hi","role":"user"}`,
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed<&>","future":1e400}`,
		`{"type":"hologram","zebra":1,"apple":{"b":2,"a":"<é>"}}`,
		`{"type":"message","id":"msg_1","role":"assistant","phase":"commentary","status":"completed","content":[{"type":"refusal","refusal":"I will not."}]}`,
	}
	if diff := cmp.Diff(want, inputs(sent(t, server))); diff != "" {
		t.Error(diff)
	}

	foreign := *answer.Message.Origin
	foreign.Model = "another"
	req.Messages[1].Origin = &foreign
	stream(t, server, req)
	want = []string{want[0], `{"content":"I will not.","role":"assistant"}`}
	if diff := cmp.Diff(want, inputs(sent(t, server))); diff != "" {
		t.Errorf("to another model:\n%s", diff)
	}
}

// reloaded returns a message as the store would return it.
func reloaded(t *testing.T, m llm.Message) llm.Message {
	t.Helper()
	var buf strings.Builder
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		t.Fatal(err)
	}
	var out llm.Message
	if err := json.Unmarshal([]byte(buf.String()), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// LLM-28: the API refuses reasoning without the item that followed it.
func TestReasoningNeedsItsFollower(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{})
	origin := &llm.Origin{Provider: "openai", API: "responses", Model: llmtest.ModelID, BaseURL: server.URL}
	thought := llm.Part{
		Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm", Encrypted: "sealed"},
		Native: json.RawMessage(`{"type":"reasoning","id":"rs_1"}`),
	}
	unsealed := thought
	unsealed.Reasoning = &llm.Reasoning{Text: "hm"}
	text := llm.Part{Kind: llm.PartText, Text: "cut off"}
	call := llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "call_1", Name: "Read", Arguments: json.RawMessage(`{}`)}}
	native := llm.Part{Kind: llm.PartText, Text: "x", Native: json.RawMessage(`{"type":"message","id":"m"}`)}
	stream(t, server, llm.Request{Messages: []llm.Message{
		{Role: llm.RoleAssistant, Origin: origin, Parts: []llm.Part{thought}},
		{Role: llm.RoleAssistant, Origin: origin, Parts: []llm.Part{thought, text, call}},
		{Role: llm.RoleAssistant, Origin: origin, Parts: []llm.Part{unsealed, native}},
		{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{
			CallID: "call_1", IsError: true, Parts: []llm.Part{
				{Kind: llm.PartText, Text: "no such file"},
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1}}},
			},
		}}}},
	}})
	if diff := cmp.Diff([]string{
		`{"content":"cut off","role":"assistant"}`,
		`{"arguments":"{}","call_id":"call_1","name":"Read","type":"function_call"}`,
		`{"type":"message","id":"m"}`,
		`{"output":[{"text":"Error: no such file","type":"input_text"},{"image_url":"data:image/png;base64,AQ==","type":"input_image"}],` +
			`"call_id":"call_1","type":"function_call_output"}`,
	}, inputs(sent(t, server))); diff != "" {
		t.Error(diff)
	}
}
