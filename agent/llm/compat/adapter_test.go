package compat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func stream(t *testing.T, s *llmtest.Server, req llm.Request) *llm.Answer {
	t.Helper()
	req.Model = llmtest.ModelID
	events, answer, err := llmtest.Collect(compat.New(compat.Config{BaseURL: s.URL}).Stream(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Check(t, events)
	return answer
}

// body returns a stream of chunks with the given deltas, followed by a finish
// reason.
func body(finish string, deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"error":null,"choices":[{"delta":` + d + `}]}` + "\n\n")
	}
	b.WriteString(`data: {"error": null, "choices":[{"delta":{},"finish_reason":"` + finish + `"}]}` + "\n\n")
	return b.String()
}

// OAS-707 OAS-708: tool calls are read in the forms that real endpoints send.
// Every chunk here has "error": null.
func TestCalls(t *testing.T) {
	t.Parallel()
	call := func(fields string) string { return `{"tool_calls":[{` + fields + `}]}` }
	tests := map[string]struct {
		deltas []string
		want   []string // wire id, name, arguments
	}{
		"index 0 repeated with new ids": {
			[]string{
				call(`"index":0,"id":"a","function":{"name":"Read","arguments":"{\"n\":1}"}`),
				call(`"index":0,"id":"b","function":{"name":"Read","arguments":"{\"n\":2}"}`),
			},
			[]string{`a Read {"n":1}`, `b Read {"n":2}`},
		},
		"index 0 repeated without ids": {
			[]string{
				call(`"index":0,"function":{"name":"Read","arguments":"{\"n\":1}"}`),
				call(`"index":0,"function":{"name":"Read","arguments":"{\"n\":2}"}`),
				call(`"index":0,"function":{"name":"Grep","arguments":"{"}`),
				call(`"index":0,"function":{"arguments":"}"}`),
			},
			[]string{` Read {"n":1}`, ` Read {"n":2}`, ` Grep {}`},
		},
		"name and id in every piece": {
			[]string{
				call(`"index":0,"id":"a","function":{"name":"Read","arguments":"{\"n\""}`),
				call(`"index":0,"id":"a","function":{"name":"Read","arguments":":1}"}`),
			},
			[]string{`a Read {"n":1}`},
		},
		"interleaved": {
			[]string{
				call(`"index":0,"id":"a","function":{"name":"Read","arguments":"{"}`),
				call(`"index":1,"id":"b","function":{"name":"Grep","arguments":"{"}`),
				call(`"index":0,"function":{"arguments":"}"}`),
				call(`"index":1,"function":{"arguments":" }"}`),
			},
			[]string{`a Read {}`, `b Grep { }`},
		},
		"object": {
			[]string{call(`"index":0,"id":"a","function":{"name":"Read","arguments":{"n":1}}`)},
			[]string{`a Read {"n":1}`},
		},
		"null and nothing": {
			[]string{
				call(`"index":0,"id":"a","function":{"name":"Read","arguments":null}`),
				call(`"index":1,"id":"b","function":{"name":"Read"}`),
			},
			[]string{`a Read {}`, `b Read {}`},
		},
		"id later": {
			[]string{
				call(`"index":0,"function":{"name":"Read","arguments":"{"}`),
				call(`"index":0,"id":"a","function":{"arguments":"}"}`),
			},
			[]string{`a Read {}`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: body("stop", tt.deltas...)}), llm.Request{})
			var got []string
			ids := map[string]bool{}
			for _, c := range answer.Message.Calls() {
				got = append(got, c.WireID+" "+c.Name+" "+string(c.Arguments))
				ids[c.ID] = true
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(ids) != len(tt.want) || ids[""] {
				t.Errorf("ids %v are not one a call", ids)
			}
			if answer.Finish.Reason != llm.FinishToolCalls || answer.Finish.Raw != "stop" {
				t.Errorf("finish %+v: calls decide, not the server's word", answer.Finish)
			}
		})
	}
}

func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body, text, reasoning string
		finish                llm.FinishReason
	}{
		"parts":           {body("stop", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"}]}`), "hi", "hm", llm.FinishStop},
		"reasoning field": {body("eos", `{"reasoning":"h"}`, `{"reasoning":"m"}`, `{"content":"hi"}`), "hi", "hm", llm.FinishStop},
		"refusal":         {body("stop", `{"refusal":"no"}`), "no", "", llm.FinishRefusal},
		"sensitive":       {body("sensitive", `{"content":"h"}`), "h", "", llm.FinishContentFilter},
		"only DONE":       {"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n", "hi", "", llm.FinishStop},
		"CRLF, comments":  {strings.ReplaceAll(": ping\n\n"+body("stop", `{"content":"hi"}`), "\n", "\r\n"), "hi", "", llm.FinishStop},
		"mistyped field":  {body("stop", `{"content":"hi","refusal":7}`), "hi", "", llm.FinishStop},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: tt.body}), llm.Request{})
			var reasoning string
			for _, p := range answer.Message.Parts {
				if p.Reasoning != nil {
					reasoning += p.Reasoning.Text
				}
			}
			if answer.Message.Text() != tt.text || reasoning != tt.reasoning || answer.Finish.Reason != tt.finish {
				t.Errorf("text %q, reasoning %q, finish %+v", answer.Message.Text(), reasoning, answer.Finish)
			}
		})
	}
}

// LLM-28 OAS-706: reasoning is sent back to its provider in the field in which
// it came, among messages of this format.
func TestReasoningGoesBack(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Reasoning: "think <hard>", Calls: []llmtest.Call{llmtest.Use("Shot", map[string]any{})}},
		llmtest.Round{}, llmtest.Round{})
	req := llm.Request{System: "Be brief.", MaxOutput: 9, Effort: llm.EffortLow, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	answer := stream(t, server, req)
	call := answer.Message.Calls()[0]
	req.Messages = append(req.Messages, answer.Message, llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{
		Kind: llm.PartToolResult, Result: &llm.ToolResult{
			CallID: call.ID, WireID: call.WireID, Name: "Shot",
			Parts: []llm.Part{{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1}}}},
		},
	}}})
	stream(t, server, req)
	assistant := `"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"Shot"},"id":"wire_1_0","type":"function"}]}`
	want := []string{
		`{"content":"Be brief.","role":"system"}`,
		`{"content":"hi","role":"user"}`,
		`{"reasoning_content":"think <hard>",` + assistant,
		`{"content":"(no output)","role":"tool","tool_call_id":"wire_1_0"}`,
		`{"content":[{"type":"text","text":"Returned by the tool Shot:"},{"image_url":{"url":"data:image/png;base64,AQ=="},"type":"image_url"}],"role":"user"}`,
	}
	if diff := cmp.Diff(want, messages(t, server)); diff != "" {
		t.Error(diff)
	}
	foreign := *answer.Message.Origin
	foreign.Provider = "another"
	req.Messages[1].Origin = &foreign
	stream(t, server, req)
	want[2] = "{" + assistant
	for i := range want { // another provider's ids may be refused, or may repeat
		want[i] = strings.ReplaceAll(want[i], "wire_1_0", call.ID)
	}
	if diff := cmp.Diff(want, messages(t, server)); diff != "" {
		t.Errorf("to another provider:\n%s", diff)
	}
}

// messages returns the messages of the last request.
func messages(t *testing.T, s *llmtest.Server) []string {
	t.Helper()
	requests := s.Requests()
	var sent struct {
		Messages []json.RawMessage `json:"messages"`
		Options  struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		MaxTokens int    `json:"max_tokens"`
		Effort    string `json:"reasoning_effort"`
	}
	if err := json.Unmarshal(requests[len(requests)-1].Body, &sent); err != nil {
		t.Fatal(err)
	}
	if !sent.Options.Usage || sent.MaxTokens != 9 || sent.Effort != "low" {
		t.Errorf("sent %+v", sent)
	}
	var out []string
	for _, m := range sent.Messages {
		out = append(out, string(m))
	}
	return out
}
