package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func collect(t *testing.T, s *llmtest.Server, req llm.Request) ([]llm.Event, *llm.Answer, error) {
	t.Helper()
	req.Model = llmtest.ModelID
	return llmtest.Collect(anthropic.New(anthropic.Config{BaseURL: s.Root, APIKey: "key"}).Stream(t.Context(), req))
}

func stream(t *testing.T, s *llmtest.Server, req llm.Request) ([]llm.Event, *llm.Answer) {
	t.Helper()
	events, answer, err := collect(t, s, req)
	if err != nil {
		t.Fatal(err)
	}
	llmtest.Check(t, events)
	return events, answer
}

type sentRequest struct {
	Messages []struct {
		Role    string
		Content []json.RawMessage
	}
	System    []json.RawMessage
	Tools     []json.RawMessage
	MaxTokens int             `json:"max_tokens"`
	Thinking  json.RawMessage `json:",omitempty"`
	Output    json.RawMessage `json:"output_config,omitempty"`
	Stream    bool
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

// unescaped reverts the SDK's escapes of < > & in the JSON that it is given.
var unescaped = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// conversation returns one line for each message: its role and its blocks.
func conversation(r sentRequest) []string {
	var out []string
	for _, m := range r.Messages {
		line := m.Role
		for _, block := range m.Content {
			line += " " + string(block)
		}
		out = append(out, unescaped.Replace(line))
	}
	return out
}

func toolResult(call llm.ToolCall, isError bool, parts ...llm.Part) llm.Message {
	return llm.Message{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{
		CallID: call.ID, WireID: call.WireID, Name: call.Name, Parts: parts, IsError: isError,
	}}}}
}

func picture() llm.Part {
	return llm.Part{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1, 2, 3}}}
}

// LLM-20 LLM-22 LLM-24 LLM-40 LLM-51
func TestRequest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{})
	call := func(id, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, WireID: "functions.Read:0", Name: "Read", Arguments: json.RawMessage(arguments)}
	}
	part := func(c llm.ToolCall) llm.Part { return llm.Part{Kind: llm.PartToolCall, Call: &c} }
	text := func(s string) llm.Part { return llm.Part{Kind: llm.PartText, Text: s} }
	a, b := call("call_a", `{"n":1}`), call("call_b", `{"n": `)
	stream(t, server, llm.Request{
		System: "Be brief.", MaxOutput: 99,
		Messages: []llm.Message{
			llm.Text(llm.RoleDeveloper, "rules"),
			llm.Text(llm.RoleUser, "hi"),
			{Role: llm.RoleUser, Parts: []llm.Part{
				text(" \n"), picture(),
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "application/pdf", Data: []byte{1}}},
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/gif", URL: "https://example.com/a.gif"}},
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "audio/wav", Name: "a.wav", Data: []byte{1}}},
			}},
			{Role: llm.RoleAssistant, Parts: []llm.Part{text(""), part(a), part(b)}},
			llm.Text(llm.RoleUser, "and quickly"),
			toolResult(a, false, picture()),
			toolResult(b, true, text("no JSON")),
			{Role: llm.RoleAssistant},
			llm.Text(llm.RoleDeveloper, "stop soon"),
		},
	})
	r := sent(t, server)
	if !r.Stream || r.MaxTokens != 99 || r.Thinking != nil || r.Output != nil {
		t.Errorf("sent %+v", r)
	}
	png := `"source":{"data":"AQID","media_type":"image/png","type":"base64"},"type":"image"`
	mark := `,"cache_control":{"type":"ephemeral"},"type":"text"}`
	if diff := cmp.Diff([]string{
		`user {"text":"hi","type":"text"} {` + png + `}` +
			` {"source":{"data":"AQ==","media_type":"application/pdf","type":"base64"},"type":"document"}` +
			` {"source":{"url":"https://example.com/a.gif","type":"url"},"type":"image"}` +
			` {"text":"[a.wav (audio/wav) was left out: it cannot be sent to this model]"` + mark,
		`assistant {"id":"call_a","input":{"n":1},"name":"Read","type":"tool_use"}` +
			` {"id":"call_b","input":{"invalid_arguments":"{\"n\": "},"name":"Read","type":"tool_use"}`,
		`user {"tool_use_id":"call_a","content":[{` + png + `}],"type":"tool_result"}` +
			` {"tool_use_id":"call_b","is_error":true,"content":[{"text":"no JSON","type":"text"}],"type":"tool_result"}` +
			` {"text":"and quickly","type":"text"} {"text":"stop soon"` + mark,
	}, conversation(r)); diff != "" {
		t.Error(diff)
	}
}

// LLM-16: if the cache is to be kept for an hour, every mark says so, because
// the API refuses a longer lifetime after a shorter one. Tokens written for an
// hour are counted separately.
func TestLongCache(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 3, CacheWrite: 50, CacheWriteLong: 40, Output: 2, Known: true}
	server := llmtest.Serve(t, llmtest.Round{Text: "done", Usage: usage}, llmtest.Round{})
	req := llm.Request{
		System: "Be brief.", Tools: []llm.ToolSpec{{Name: "A", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{llm.Text(llm.RoleUser, "hi"), llm.Text(llm.RoleAssistant, "hello"), llm.Text(llm.RoleUser, "go on")},
		Options:  llm.Options{LongCache: true},
	}
	if _, answer := stream(t, server, req); answer.Usage != usage {
		t.Errorf("counted %+v", answer.Usage)
	}
	req.NoCache = true
	stream(t, server, req)
	for i, want := range []int{4, 0} {
		body := string(server.Requests()[i].Body)
		all, long := strings.Count(body, `"cache_control"`), strings.Count(body, `"cache_control":{"ttl":"1h","type":"ephemeral"}`)
		long += strings.Count(body, `"cache_control":{"type":"ephemeral","ttl":"1h"}`)
		if all != want || long != want {
			t.Errorf("request %d: %d marks, %d of them for an hour; want %d: %s", i, all, long, want, body)
		}
	}
}

// LLM-16: there are at most four breakpoints, and each request reads what the
// previous one wrote.
func TestCacheBreakpoints(t *testing.T) {
	t.Parallel()
	const mark = `"cache_control":{"type":"ephemeral"}`
	server := llmtest.Serve(t, llmtest.Round{}, llmtest.Round{}, llmtest.Round{})
	req := llm.Request{
		System: "Be brief.",
		Tools:  []llm.ToolSpec{{Name: "A", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "B", Schema: json.RawMessage(`{"type":"object","$defs":{"x":{}}}`)}},
	}
	for turn := range 3 {
		req.Messages = append(req.Messages, llm.Text(llm.RoleUser, "go on"))
		stream(t, server, req)
		req.Messages = append(req.Messages, llm.Text(llm.RoleAssistant, "done"))
		r := sent(t, server)
		body := string(server.Requests()[turn].Body)
		if got, want := strings.Count(body, mark), 2+min(turn+1, 2); got != want {
			t.Errorf("turn %d: %d breakpoints, want %d: %s", turn, got, want, body)
		}
		if strings.Contains(string(r.Tools[0]), mark) || !strings.Contains(string(r.Tools[1]), mark) || !strings.Contains(string(r.System[0]), mark) {
			t.Errorf("marked: tools %s, system %s", r.Tools, r.System)
		}
		for i, m := range r.Messages {
			if got, want := strings.Contains(string(m.Content[0]), mark), m.Role == "user" && i >= len(r.Messages)-3; got != want {
				t.Errorf("turn %d, message %d: marked is %v", turn, i, got)
			}
		}
	}
	if got := string(sent(t, server).Tools[1]); !strings.Contains(got, `"input_schema":{"type":"object","$defs":{"x":{}}}`) {
		t.Errorf("schema: %s", got)
	}
}

func controls(levels []llm.Effort, modes ...llm.ReasoningMode) llm.ReasoningControl {
	return llm.ReasoningControl{Modes: modes, Levels: levels, MinBudget: 1024}
}

// LOOP-16 OAS-714 OAS-720: thinking is requested in the form of each generation
// of models.
func TestThinking(t *testing.T) {
	t.Parallel()
	all := []llm.Effort{llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortXHigh, llm.EffortMax}
	newest := controls(all, llm.ReasoningEffort, llm.ReasoningAdaptive)
	toggle := controls(all, llm.ReasoningToggle, llm.ReasoningEffort)
	both := controls(all[:3], llm.ReasoningEffort, llm.ReasoningBudget)
	budget := controls(nil, llm.ReasoningBudget)
	const adaptive = `{"display":"summarized","type":"adaptive"}`
	tests := map[string]struct {
		control   llm.ReasoningControl
		effort    llm.Effort
		maxOutput int
		thinking  string
		output    string
	}{
		"newest":               {newest, llm.EffortDefault, 0, adaptive, ""},
		"newest, high":         {newest, llm.EffortHigh, 0, adaptive, `{"effort":"high"}`},
		"newest, none":         {newest, llm.EffortNone, 0, adaptive, `{"effort":"low"}`},
		"toggle, none":         {toggle, llm.EffortNone, 0, `{"type":"disabled"}`, ""},
		"toggle, xhigh":        {toggle, llm.EffortXHigh, 0, adaptive, `{"effort":"xhigh"}`},
		"both, max":            {both, llm.EffortMax, 64000, `{"budget_tokens":32768,"type":"enabled"}`, `{"effort":"high"}`},
		"both, default":        {both, llm.EffortDefault, 64000, "", ""},
		"budget":               {budget, llm.EffortDefault, 0, "", ""},
		"budget, none":         {budget, llm.EffortNone, 0, "", ""},
		"budget, medium":       {budget, llm.EffortMedium, 64000, `{"budget_tokens":5120,"type":"enabled"}`, ""},
		"budget, high, capped": {budget, llm.EffortHigh, 0, `{"budget_tokens":7168,"type":"enabled"}`, ""},
		"budget, no room":      {budget, llm.EffortHigh, 2000, "", ""},
		"unknown":              {llm.ReasoningControl{}, llm.EffortDefault, 0, "", ""},
		"unknown, none":        {llm.ReasoningControl{}, llm.EffortNone, 0, "", ""},
		"unknown, minimal":     {llm.ReasoningControl{}, llm.EffortMinimal, 0, adaptive, `{"effort":"low"}`},
		"unknown, high":        {llm.ReasoningControl{}, llm.EffortHigh, 0, adaptive, `{"effort":"high"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{})
			stream(t, server, llm.Request{
				Effort: tt.effort, Reasoning: tt.control, MaxOutput: tt.maxOutput,
				Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")},
			})
			r := sent(t, server)
			if string(r.Thinking) != tt.thinking || string(r.Output) != tt.output {
				t.Errorf("thinking %s, output %s", r.Thinking, r.Output)
			}
			if tt.maxOutput == 0 && r.MaxTokens != 8192 {
				t.Errorf("max_tokens %d", r.MaxTokens)
			}
		})
	}
}

// The API demands a cap: the most that the model writes, unless the request has
// its own.
func TestCap(t *testing.T) {
	t.Parallel()
	for want, req := range map[int]llm.Request{
		8192: {}, 64_000: {MostOutput: 64_000}, 99: {MaxOutput: 99, MostOutput: 64_000}, 8193: {MaxOutput: -1, MostOutput: 8193},
	} {
		server := llmtest.Serve(t, llmtest.Round{})
		req.Messages = []llm.Message{llm.Text(llm.RoleUser, "hi")}
		stream(t, server, req)
		if got := sent(t, server).MaxTokens; got != want {
			t.Errorf("max_tokens %d, want %d", got, want)
		}
	}
}

// A turn that another model began cannot continue with a thinking budget,
// because its calls are not preceded by thinking.
func TestBudgetNeedsThinkingInTheTurn(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{}, llmtest.Round{})
	call := llm.ToolCall{ID: "call_1", Name: "Read", Arguments: json.RawMessage(`{}`)}
	req := llm.Request{
		Effort: llm.EffortHigh, Reasoning: controls(nil, llm.ReasoningBudget), MaxOutput: 64000,
		Messages: []llm.Message{
			llm.Text(llm.RoleUser, "hi"),
			{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &call}}},
			toolResult(call, false),
		},
	}
	stream(t, server, req)
	if got := sent(t, server).Thinking; got != nil {
		t.Errorf("in the turn: %s", got)
	}
	req.Messages = append(req.Messages, llm.Text(llm.RoleAssistant, "done"), llm.Text(llm.RoleUser, "more"))
	stream(t, server, req)
	if got := sent(t, server).Thinking; got == nil {
		t.Error("in the next turn: no thinking")
	}
}

// recorded has a ping, interleaved blocks, an unknown event and an unknown
// block, redacted thinking and a call without arguments.
const recorded = `event: message_start
data: {"type":"message_start","message":{"id":"msg_x","type":"message","role":"assistant","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

event: shiny_new_thing
data: {"type":"shiny_new_thing","payload":{"a":[1,2]}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"","future":1e400}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so <&> "}}

: keep-alive

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"sealed<&>"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"then"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ="}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"hologram","zebra":1,"apple":{"b":2,"a":"<é>"}}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"server_tool_use","id":"srv","name":"search","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"text","text":"done"}}

event: content_block_start
data: {"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"toolu_1","name":"List","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":5,"delta":{"type":"mood_delta","mood":"good"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}}

event: message_delta
data: {"type":"message_delta","delta":{},"usage":{"output_tokens":11}}

event: message_stop
data: {"type":"message_stop"}

`

// LLM-28 LLM-29 LLM-30 OAS-702: unknown content passes through. Thinking is
// sent back unchanged to its provider, and to no other.
func TestRecorded(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: recorded}, llmtest.Round{}, llmtest.Round{})
	req := llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	events, answer := stream(t, server, req)
	var unknown []string
	for _, ev := range events {
		if ev.Type == llm.EventProvider {
			unknown = append(unknown, strings.TrimSpace(string(ev.Raw)))
		}
	}
	hologram := `{"type":"hologram","zebra":1,"apple":{"b":2,"a":"<é>"}}`
	search := `{"id":"srv","input":{"q":1},"name":"search","type":"server_tool_use"}`
	if diff := cmp.Diff([]string{
		`{"type":"shiny_new_thing","payload":{"a":[1,2]}}`, hologram, search,
		`{"type":"content_block_delta","index":5,"delta":{"type":"mood_delta","mood":"good"}}`,
	}, unknown); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(llm.Usage{Input: 5, CacheRead: 7, Output: 11, Reasoning: 4, Known: true}, answer.Usage); diff != "" {
		t.Error(diff)
	}
	if f := answer.Finish; f.Reason != llm.FinishToolCalls || f.Raw != "tool_use" {
		t.Errorf("finish %+v", f)
	}
	call := answer.Message.Calls()[0]
	if string(call.Arguments) != "{}" || answer.Message.Origin.ResponseID != "msg_x" || answer.Message.Text() != "done" {
		t.Errorf("call %+v, origin %+v", call, answer.Message.Origin)
	}

	req.Messages = append(req.Messages, reloaded(t, answer.Message), toolResult(call, false))
	stream(t, server, req)
	list := ` {"text":"done","type":"text"} {"id":"toolu_1","input":{},"name":"List","type":"tool_use"}`
	result := `user {"tool_use_id":"toolu_1","cache_control":{"type":"ephemeral"},"content":[{"text":"(no output)","type":"text"}],"type":"tool_result"}`
	want := []string{
		`user {"text":"hi","cache_control":{"type":"ephemeral"},"type":"text"}`,
		`assistant {"future":1e400,"signature":"EqQ=","thinking":"so <&> then","type":"thinking"}` +
			` {"type":"redacted_thinking","data":"sealed<&>"} ` + hologram + ` ` + search + list,
		result,
	}
	if diff := cmp.Diff(want, conversation(sent(t, server))); diff != "" {
		t.Error(diff)
	}

	foreign := *answer.Message.Origin
	foreign.Model = "another"
	req.Messages[1].Origin = &foreign
	stream(t, server, req)
	want[1] = "assistant" + list
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "toolu_1", call.ID)
	}
	if diff := cmp.Diff(want, conversation(sent(t, server))); diff != "" {
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

// LLM-28: an answer that was cut off while thinking leaves nothing to replay.
func TestThinkingNeedsItsFollower(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{})
	origin := &llm.Origin{Provider: "anthropic", API: "messages", Model: llmtest.ModelID, BaseURL: server.Root}
	thought := llm.Part{
		Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm", Signature: "s"},
		Native: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"s"}`),
	}
	unsigned := llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm"}}
	text := llm.Part{Kind: llm.PartText, Text: "ok"}
	stream(t, server, llm.Request{Messages: []llm.Message{
		llm.Text(llm.RoleUser, "a"),
		{Role: llm.RoleAssistant, Origin: origin, Parts: []llm.Part{thought}},
		llm.Text(llm.RoleUser, "b"),
		{Role: llm.RoleAssistant, Origin: origin, Parts: []llm.Part{unsigned, thought, text, thought}},
		llm.Text(llm.RoleUser, "c"),
	}})
	mark := `,"cache_control":{"type":"ephemeral"},"type":"text"}`
	if diff := cmp.Diff([]string{
		`user {"text":"a","type":"text"} {"text":"b"` + mark,
		`assistant {"type":"thinking","thinking":"hm","signature":"s"} {"text":"ok","type":"text"}`,
		`user {"text":"c"` + mark,
	}, conversation(sent(t, server))); diff != "" {
		t.Error(diff)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	for _, base := range []string{server.Root, server.Root + "/v1", server.Root + "/v1/"} {
		got, err := anthropic.New(anthropic.Config{BaseURL: base, APIKey: "key"}).Models(t.Context())
		if diff := cmp.Diff([]string{llmtest.ModelID}, llmtest.IDs(got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", base, err, diff)
		}
	}
	want := http.Header{"X-Api-Key": {"key"}, "Anthropic-Version": {"2023-06-01"}}
	for name := range want {
		if got := server.AllRequests()[0].Header.Get(name); got != want.Get(name) {
			t.Errorf("%s is %q", name, got)
		}
	}
}
