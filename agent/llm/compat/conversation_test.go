package compat_test

import (
	gocmp "cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// recorder is an HTTP client that records the last request and refuses it.
type recorder struct {
	url, body string
	header    http.Header
}

func (r *recorder) client() *http.Client { return &http.Client{Transport: r} }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	r.url, r.header, r.body = req.URL.String(), req.Header, string(body)
	return nil, errors.Join(err, errors.New("recorded"))
}

// foreign returns a conversation with a part by another provider's model: a
// call, its result with a picture, and the user's next message.
func foreign() []llm.Message {
	return []llm.Message{
		llm.Text(llm.RoleUser, "look"),
		{Role: llm.RoleAssistant, Origin: &llm.Origin{Provider: "another"}, Parts: []llm.Part{
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm"}, Native: json.RawMessage(`{"reasoning_content":"hm"}`)},
			{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "call_01J", Name: "Shot", Arguments: json.RawMessage("{}")}},
		}},
		{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "call_01J", Name: "Shot", Parts: []llm.Part{
			{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1}}},
		}}}}},
		llm.Text(llm.RoleUser, "and now?"),
	}
}

// spoken returns the messages of a request in short.
func spoken(t *testing.T, r llmtest.Request) []string {
	t.Helper()
	var body struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			Reasoning *string `json:"reasoning_content"`
			ToolCalls []struct{ ID string }
			ID        string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range body.Messages {
		line := m.Role
		if strings.HasPrefix(string(m.Content), `"`) {
			line += " " + string(m.Content)
		}
		var parts []struct{ Text, Type string }
		if json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				line += " " + gocmp.Or(strings.TrimSpace(p.Text), p.Type)
			}
		}
		if m.Reasoning != nil {
			line += " thought:" + *m.Reasoning
		}
		out = append(out, line)
	}
	return out
}

// OAS-706: a conversation is sent in the order and with the ids and fields that
// an endpoint demands, whichever models took part in it.
func TestConversations(t *testing.T) {
	t.Parallel()
	const picture = "user Returned by the tool Shot: image_url and now?"
	plain := []string{`user "look"`, "assistant", `tool "(no output)"`, picture}
	bridged := []string{`user "look"`, "assistant", `tool "(no output)"`, `assistant "Understood."`, picture}
	for id, want := range map[string][]string{
		"groq": plain, "ollama": plain, "glm": plain,
		"mistral": bridged, "llamacpp": bridged, "lmstudio": bridged,
		"deepseek": {`user "look"`, "assistant thought:", `tool "(no output)"`, picture},
	} {
		server := llmtest.Serve(t)
		r := sent(t, server, preset(t, id).New(compat.Config{BaseURL: server.URL}), llm.Request{Messages: foreign(), CacheKey: "s"})
		if diff := cmp.Diff(want, spoken(t, r)); diff != "" {
			t.Errorf("%s: %s", id, diff)
		}
	}
}

// K-49: no two messages of the user follow each other, whatever is between them in
// the conversation, and nothing of them is lost; request after request repeats the
// beginning of the one before.
func TestNeighboursAreJoined(t *testing.T) {
	t.Parallel()
	user := func(text string) llm.Message { return llm.Text(llm.RoleUser, text) }
	says := func(text string) llm.Message { return llm.Text(llm.RoleAssistant, text) }
	mute := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "Hm."}}}}
	calls := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "c1", Name: "Look", Arguments: json.RawMessage("{}")}}}}
	result := llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: "c1", Name: "Look", Parts: []llm.Part{{Kind: llm.PartText, Text: "seen"}}}}}}
	picture := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte("x")}}}}
	for name, tt := range map[string]struct {
		messages []llm.Message
		want     []string
	}{
		"an update":            {[]llm.Message{user("go on"), user("<update>")}, []string{`user "go on\n\n<update>"`}},
		"three":                {[]llm.Message{user("a"), user("b"), user("c")}, []string{`user "a\n\nb\n\nc"`}},
		"a turn that failed":   {[]llm.Message{user("a"), says("b"), user("c"), user("d")}, []string{`user "a"`, `assistant "b"`, `user "c\n\nd"`}},
		"thinking without end": {[]llm.Message{user("a"), mute, user("b")}, []string{`user "a\n\nb"`}},
		"a result":             {[]llm.Message{user("a"), calls, result, user("b"), user("c")}, []string{`user "a"`, "assistant", `tool "seen"`, `user "b\n\nc"`}},
		"a picture":            {[]llm.Message{picture, user("what is it?")}, []string{"user image_url what is it?"}},
		"alternating":          {[]llm.Message{user("a"), says("b"), user("c")}, []string{`user "a"`, `assistant "b"`, `user "c"`}},
	} {
		server := llmtest.Serve(t)
		adapter := preset(t, "groq").New(compat.Config{BaseURL: server.URL})
		for n := range len(tt.messages) { // as the conversation grew
			sent(t, server, adapter, llm.Request{Messages: tt.messages[:n+1], CacheKey: "s"})
		}
		for range 2 {
			r := sent(t, server, adapter, llm.Request{Messages: tt.messages, CacheKey: "s"})
			if diff := cmp.Diff(tt.want, spoken(t, r)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// OAS-706: the system prompt comes first, calls have their arguments as JSON
// text, each result is a message of its own, and a user's text beside results
// follows them.
func TestMessagesOfTools(t *testing.T) {
	t.Parallel()
	call := func(id, arguments string) llm.Part {
		return llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, Name: "Read", Arguments: json.RawMessage(arguments)}}
	}
	result := func(id, text string) llm.Part {
		return llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{CallID: id, Name: "Read", Parts: []llm.Part{{Kind: llm.PartText, Text: text}}}}
	}
	for _, role := range []llm.Role{llm.RoleTool, llm.RoleUser} {
		server := llmtest.Serve(t)
		r := sent(t, server, compat.New(compat.Config{BaseURL: server.URL}), llm.Request{System: "be brief", Messages: []llm.Message{
			llm.Text(llm.RoleUser, "look"),
			{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: "I look."}, call("a", `{"file_path": "x\"y"}`), call("b", `{}`)}},
			{Role: role, Parts: []llm.Part{{Kind: llm.PartText, Text: "and hurry"}, result("a", "one"), result("b", "two")}},
		}})
		var got struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(r.Body, &got); err != nil {
			t.Fatal(err)
		}
		var messages []string
		for _, m := range got.Messages {
			messages = append(messages, string(m))
		}
		want := []string{
			`{"content":"be brief","role":"system"}`, `{"content":"look","role":"user"}`,
			`{"content":"I look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"file_path\": \"x\\\"y\"}","name":"Read"},"id":"a","type":"function"},` +
				`{"function":{"arguments":"{}","name":"Read"},"id":"b","type":"function"}]}`,
			`{"content":"one","role":"tool","tool_call_id":"a"}`, `{"content":"two","role":"tool","tool_call_id":"b"}`,
			`{"content":"and hurry","role":"user"}`,
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("%s: %s", role, diff)
		}
	}
}

// Mistral accepts ids of nine letters and digits. A call and its result have
// the same one in every request.
func TestShortIDs(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	a := preset(t, "mistral").New(compat.Config{BaseURL: server.URL})
	id := regexp.MustCompile(`"id":"([a-zA-Z0-9]{9})".*"tool_call_id":"([a-zA-Z0-9]{9})"`)
	first := id.FindSubmatch(sent(t, server, a, llm.Request{Messages: foreign()}).Body)
	again := id.FindSubmatch(sent(t, server, a, llm.Request{Messages: foreign()}).Body)
	if first == nil || again == nil || string(first[1]) != string(first[2]) || string(first[1]) != string(again[1]) {
		t.Errorf("%q, then %q", first, again)
	}
	own := foreign()
	own[1].Parts[1].Call.ID, own[2].Parts[0].Result.CallID = "Ab3dEf7hI", "Ab3dEf7hI"
	if body := sent(t, server, a, llm.Request{Messages: own}).Body; strings.Count(string(body), "Ab3dEf7hI") != 2 {
		t.Errorf("an id that fits was changed: %s", body)
	}
}

// LLM-28: reasoning is sent back in the form in which it came: in its field, as
// a part of the content, or as the whole list of details.
func TestReasoningForms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		deltas []string
		want   string
	}{
		"field": {
			[]string{`{"reasoning":"a"}`, `{"reasoning":"b"}`, `{"content":"hi"}`},
			`{"content":"hi","reasoning":"ab","role":"assistant"}`,
		},
		"content": {
			[]string{`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"b"}]}]}`, `{"content":"hi"}`},
			`{"content":[{"thinking":[{"text":"ab","type":"text"}],"type":"thinking"},{"type":"text","text":"hi"}],"role":"assistant"}`,
		},
		"details": {
			[]string{
				`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0,"format":"f"}]}`,
				`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0,"signature":null}]}`,
				`{"content":"hi","reasoning_details":[{"type":"reasoning.text","signature":"s","index":0}]}`,
				`{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"x","index":1,"id":"r"}]}`,
			},
			`{"content":"hi","reasoning_details":[{"format":"f","index":0,"signature":"s","text":"ab","type":"reasoning.text"},{"data":"x","id":"r","index":1,"type":"reasoning.encrypted"}],"role":"assistant"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Body: body("stop", tt.deltas...)})
			req := llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
			answer := stream(t, server, req)
			req.Messages = append(req.Messages, answer.Message, llm.Text(llm.RoleUser, "more"))
			r := sent(t, server, compat.New(compat.Config{BaseURL: server.URL}), req)
			var got struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(r.Body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got.Messages[1])); diff != "" {
				t.Error(diff)
			}
		})
	}
}
