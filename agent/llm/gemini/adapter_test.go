package gemini_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func collect(t *testing.T, s *llmtest.Server, req llm.Request) ([]llm.Event, *llm.Answer, error) {
	t.Helper()
	req.Model = llmtest.ModelID
	return llmtest.Collect(gemini.New(gemini.Config{BaseURL: s.Root, APIKey: "key"}).Stream(t.Context(), req))
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
	Contents []struct {
		Role  string
		Parts []json.RawMessage
	}
	System     json.RawMessage  `json:"systemInstruction"`
	Tools      json.RawMessage  `json:"tools"`
	Generation generationConfig `json:"generationConfig"`
}

type generationConfig struct {
	MaxOutput int             `json:"maxOutputTokens"`
	Thinking  json.RawMessage `json:"thinkingConfig"`
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

// conversation returns one line for each turn: its role and its parts.
func conversation(r sentRequest) []string {
	var out []string
	for _, c := range r.Contents {
		line := c.Role
		for _, part := range c.Parts {
			line += " " + string(part)
		}
		out = append(out, line)
	}
	return out
}

func results(parts ...llm.ToolResult) llm.Message {
	m := llm.Message{Role: llm.RoleTool}
	for _, r := range parts {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.PartToolResult, Result: &r})
	}
	return m
}

func picture() llm.Part {
	return llm.Part{Kind: llm.PartMedia, Media: &llm.Media{MIME: "image/png", Data: []byte{1, 2, 3}}}
}

// LLM-20 LLM-22 LLM-24 LLM-40 LLM-52: the first call of each step by another
// model has a stand-in for a signature; its ids are not sent.
func TestRequest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{}, llmtest.Round{})
	call := func(id, arguments string) llm.Part {
		return llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, WireID: "toolu_1", Name: "Read", Arguments: json.RawMessage(arguments)}}
	}
	req := llm.Request{
		System: "Be brief.", MaxOutput: 99,
		Tools: []llm.ToolSpec{{Name: "Read", Description: "reads <b>", Schema: json.RawMessage(`{"type":"object","$defs":{"z":{"maximum":9007199254740993},"a":{}}}`)}},
		Messages: []llm.Message{
			llm.Text(llm.RoleDeveloper, "rules"),
			llm.Text(llm.RoleUser, "hi"),
			{Role: llm.RoleUser, Parts: []llm.Part{
				picture(),
				{Kind: llm.PartMedia, Media: &llm.Media{MIME: "application/zip", Name: "a.zip", Data: []byte{1}}},
			}},
			{Role: llm.RoleAssistant, Origin: &llm.Origin{Provider: "anthropic"}, Parts: []llm.Part{
				{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hm"}, Native: json.RawMessage(`{"type":"thinking"}`)},
				call("call_a", `{"z":9007199254740993,"a":1}`), call("call_b", `{"n": `),
			}},
			results(llm.ToolResult{CallID: "call_a", WireID: "toolu_1", Name: "Read", Parts: []llm.Part{picture()}},
				llm.ToolResult{CallID: "call_b", WireID: "toolu_1", Name: "Read", IsError: true, Parts: []llm.Part{{Kind: llm.PartText, Text: "no JSON"}}}),
			llm.Text(llm.RoleUser, "and quickly"),
		},
	}
	stream(t, server, req)
	r := sent(t, server)
	if got := string(r.System); got != `{"parts":[{"text":"Be brief."},{"text":"rules"}],"role":"user"}` {
		t.Errorf("system %s", got)
	}
	if got := string(r.Tools); got != `[{"functionDeclarations":[{"name":"Read","description":"reads <b>","parametersJsonSchema":{"type":"object","$defs":{"z":{"maximum":9007199254740993},"a":{}}}}]}]` {
		t.Errorf("tools %s", got)
	}
	if r.Generation.MaxOutput != 99 || r.Generation.Thinking != nil {
		t.Errorf("generation config %+v", r.Generation)
	}
	png := `{"inlineData":{"data":"AQID","mimeType":"image/png"}}`
	user := `user {"text":"hi"} ` + png + ` {"text":"[a.zip (application/zip) was left out: it cannot be sent to this model]"}`
	calls := `{"functionCall":{"name":"Read","args":{"z":9007199254740993,"a":1}}SIGNED}` +
		` {"functionCall":{"name":"Read","args":{"invalid_arguments":"{\"n\": "}}}`
	failed := `{"functionResponse":{"name":"Read","response":{"error":"no JSON"}}}`
	want := []string{
		user,
		"model " + strings.Replace(calls, "SIGNED", `,"thoughtSignature":"skip_thought_signature_validator"`, 1),
		`user {"functionResponse":{"parts":[` + png + `],"name":"Read","response":{"output":"(no output)"}}} ` +
			failed + ` {"text":"and quickly"}`,
	}
	if diff := cmp.Diff(want, conversation(r)); diff != "" {
		t.Error(diff)
	}
	// Models up to 2.5 have no signatures, and media stand beside the results.
	req.Reasoning.Modes = []llm.ReasoningMode{llm.ReasoningBudget}
	stream(t, server, req)
	want[1] = "model " + strings.Replace(calls, "SIGNED", "", 1)
	want[2] = `user {"functionResponse":{"name":"Read","response":{"output":"(no output)"}}} ` + failed +
		` {"text":"Returned by the tool Read:"} ` + png + ` {"text":"and quickly"}`
	if diff := cmp.Diff(want, conversation(sent(t, server))); diff != "" {
		t.Error(diff)
	}
}

// LOOP-16 OAS-720: thinking is requested in the form of each generation of
// models.
func TestThinking(t *testing.T) {
	t.Parallel()
	level := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningEffort}, Levels: []llm.Effort{llm.EffortLow, llm.EffortMedium, llm.EffortHigh}}
	pro := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningBudget}, MinBudget: 128, MaxBudget: 32768}
	flash := llm.ReasoningControl{Modes: []llm.ReasoningMode{llm.ReasoningToggle, llm.ReasoningBudget}, MaxBudget: 24576}
	none := llm.ReasoningControl{Levels: []llm.Effort{llm.EffortNone}}
	tests := map[string]struct {
		control llm.ReasoningControl
		effort  llm.Effort
		want    string
	}{
		"level":          {level, llm.EffortDefault, `{"includeThoughts":true}`},
		"level, max":     {level, llm.EffortMax, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`},
		"level, medium":  {level, llm.EffortMedium, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`},
		"level, none":    {level, llm.EffortNone, `{"includeThoughts":true,"thinkingLevel":"LOW"}`},
		"pro":            {pro, llm.EffortDefault, `{"includeThoughts":true}`},
		"pro, none":      {pro, llm.EffortNone, `{"includeThoughts":true,"thinkingBudget":128}`},
		"pro, high":      {pro, llm.EffortHigh, `{"includeThoughts":true,"thinkingBudget":10240}`},
		"flash, none":    {flash, llm.EffortNone, `{"thinkingBudget":0}`},
		"flash, max":     {flash, llm.EffortMax, `{"includeThoughts":true,"thinkingBudget":24576}`},
		"cannot":         {none, llm.EffortHigh, ""},
		"unknown":        {llm.ReasoningControl{}, llm.EffortDefault, ""},
		"unknown, none":  {llm.ReasoningControl{}, llm.EffortNone, ""},
		"unknown, small": {llm.ReasoningControl{}, llm.EffortMinimal, `{"includeThoughts":true,"thinkingLevel":"MINIMAL"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{})
			stream(t, server, llm.Request{Effort: tt.effort, Reasoning: tt.control, Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}})
			if got := string(sent(t, server).Generation.Thinking); got != tt.want {
				t.Errorf("thinking %s, want %s", got, tt.want)
			}
		})
	}
}

// recorded has comments, Windows line ends, events with names, an unknown part
// and an unknown chunk, signatures in all places, and calls with and without an
// id.
const recorded = ": keep-alive\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":"so ","thought":true}]}}],"responseId":"r1"}` + "\r\n\r\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":"then","thought":true},{"text":"sealed thought","thought":true,"thoughtSignature":"AAAA"}]}}]}` + "\r\n\r\n" +
	"event: message\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":", you"},{"text":"!","thoughtSignature":"BBBB"}]}}]}` + "\n\n" +
	`data: {"shiny":{"new":1}}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"hologram":{"zebra":1,"apple":"<é>"}}]}}]}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"fc1","name":"Read","args":{"z":9007199254740993,"a":"<&>"}},"thoughtSignature":"CCCC"},{"functionCall":{"name":"List"}}]}}]}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":""}]}}],"usageMetadata":{"promptTokenCount":1}}` + "\n\n" +
	`data: {"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"DDDD"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"toolUsePromptTokenCount":5,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":9,"totalTokenCount":121}}` + "\n\n"

// LLM-28 LLM-29 LLM-30 LLM-52: unknown content passes through. Signed parts are
// sent back unchanged to their provider, and to no other.
func TestRecorded(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: recorded}, llmtest.Round{}, llmtest.Round{})
	req := llm.Request{Messages: []llm.Message{llm.Text(llm.RoleUser, "hi")}}
	events, answer := stream(t, server, req)
	var unknown []string
	for _, ev := range events {
		if ev.Type == llm.EventProvider {
			unknown = append(unknown, string(ev.Raw))
		}
	}
	hologram, last := `{"hologram":{"zebra":1,"apple":"<é>"}}`, `{"text":"","thoughtSignature":"DDDD"}`
	if diff := cmp.Diff([]string{`{"shiny":{"new":1}}`, hologram, last}, unknown); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(llm.Usage{Input: 45, CacheRead: 60, Output: 16, Reasoning: 9, Known: true}, answer.Usage); diff != "" {
		t.Error(diff)
	}
	calls := answer.Message.Calls()
	if len(calls) != 2 || calls[0].WireID != "fc1" || calls[1].WireID != "" || string(calls[0].Arguments) != `{"z":9007199254740993,"a":"<&>"}` || string(calls[1].Arguments) != "{}" {
		t.Errorf("calls %+v", calls)
	}
	if answer.Message.Text() != "Hello, you!" || answer.Finish.Reason != llm.FinishToolCalls || answer.Message.Origin.ResponseID != "r1" {
		t.Errorf("answer %+v", answer)
	}

	req.Messages = append(req.Messages, answer.Message, results(
		llm.ToolResult{CallID: calls[0].ID, WireID: "fc1", Name: "Read", Parts: []llm.Part{{Kind: llm.PartText, Text: "one"}}},
		llm.ToolResult{CallID: calls[1].ID, Name: "List", Parts: []llm.Part{{Kind: llm.PartText, Text: "two"}}}))
	stream(t, server, req)
	want := []string{
		`user {"text":"hi"}`,
		`model {"text":"sealed thought","thought":true,"thoughtSignature":"AAAA"} {"text":"Hello, you"} {"text":"!","thoughtSignature":"BBBB"} ` + hologram +
			` {"functionCall":{"id":"fc1","name":"Read","args":{"z":9007199254740993,"a":"<&>"}},"thoughtSignature":"CCCC"} {"functionCall":{"name":"List"}} ` + last,
		`user {"functionResponse":{"id":"fc1","name":"Read","response":{"output":"one"}}} {"functionResponse":{"name":"List","response":{"output":"two"}}}`,
	}
	if diff := cmp.Diff(want, conversation(sent(t, server))); diff != "" {
		t.Error(diff)
	}

	foreign := *answer.Message.Origin
	foreign.Model = "another"
	req.Messages[1].Origin = &foreign
	stream(t, server, req)
	want[1] = `model {"text":"Hello, you"} {"text":"!"} {"functionCall":{"name":"Read","args":{"z":9007199254740993,"a":"<&>"}},"thoughtSignature":"skip_thought_signature_validator"}` +
		` {"functionCall":{"name":"List","args":{}}}`
	want[2] = strings.Replace(want[2], `"id":"fc1",`, "", 1)
	if diff := cmp.Diff(want, conversation(sent(t, server))); diff != "" {
		t.Errorf("to another model:\n%s", diff)
	}
}

// LLM-27
func TestFinish(t *testing.T) {
	t.Parallel()
	for chunk, want := range map[string]llm.Finish{
		`{"candidates":[{"finishReason":"STOP"}]}`:                                                              {Reason: llm.FinishStop, Raw: "STOP"},
		`{"candidates":[{"finishReason":"STOP"}],"responseId":7}`:                                               {Reason: llm.FinishStop, Raw: "STOP"},
		`{"candidates":[{"finishReason":"MAX_TOKENS"}]}`:                                                        {Reason: llm.FinishLength, Raw: "MAX_TOKENS"},
		`{"candidates":[{"finishReason":"SAFETY","finishMessage":"no"}]}`:                                       {Reason: llm.FinishContentFilter, Raw: "SAFETY", Detail: "no"},
		`{"candidates":[{"finishReason":"RECITATION"}]}`:                                                        {Reason: llm.FinishContentFilter, Raw: "RECITATION"},
		`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed: call(x"}]}`:       {Reason: llm.FinishBadToolCall, Raw: "MALFORMED_FUNCTION_CALL", Detail: "Malformed: call(x"},
		`{"candidates":[{"content":null,"finishReason":"TOO_MANY_TOOL_CALLS"}]}`:                                {Reason: llm.FinishBadToolCall, Raw: "TOO_MANY_TOOL_CALLS"},
		`{"candidates":[{"finishReason":"OTHER"}]}`:                                                             {Reason: llm.FinishError, Raw: "OTHER"},
		`{"candidates":[{"finishReason":"LANGUAGE"}]}`:                                                          {Reason: llm.FinishOther, Raw: "LANGUAGE"},
		`{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"blocked"},"usageMetadata":{}}`:          {Reason: llm.FinishContentFilter, Raw: "OTHER", Detail: "blocked"},
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"List"}}]},"finishReason":"MAX_TOKENS"}]}`: {Reason: llm.FinishLength, Raw: "MAX_TOKENS"},
	} {
		_, answer := stream(t, llmtest.Serve(t, llmtest.Round{Body: "data: " + chunk + "\n\n"}), llm.Request{})
		if diff := cmp.Diff(want, answer.Finish); diff != "" {
			t.Errorf("%s: %s", chunk, diff)
		}
	}
}

// LLM-42 LLM-44: the details of Google's errors are more precise than their
// status.
func TestErrors(t *testing.T) {
	t.Parallel()
	body := func(code, status, message, details string) string {
		return `{"error":{"code":` + code + `,"status":"` + status + `","message":"` + message + `","details":[` + details + `]}}`
	}
	const (
		spent  = "You exceeded your current quota, please check your plan and billing details."
		minute = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]}`
		day    = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]}`
		later  = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}`
		badKey = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`
	)
	tests := map[string]struct {
		status     int
		body       string
		class      llm.Class
		retry      bool
		retryAfter time.Duration
	}{
		"bad key":   {400, body("400", "INVALID_ARGUMENT", "API key not valid.", badKey), llm.ClassAuth, false, 0},
		"argument":  {400, body("400", "INVALID_ARGUMENT", "missing a thought_signature", ""), llm.ClassInvalid, false, 0},
		"too long":  {400, body("400", "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ""), llm.ClassContextOverflow, false, 0},
		"minute":    {429, body("429", "RESOURCE_EXHAUSTED", spent, minute+","+later), llm.ClassRateLimit, true, 17 * time.Second},
		"day":       {429, body("429", "RESOURCE_EXHAUSTED", spent, minute+","+day+","+later), llm.ClassQuota, false, 17 * time.Second},
		"a list":    {429, "[" + body("429", "RESOURCE_EXHAUSTED", spent, later+","+minute) + "]", llm.ClassRateLimit, true, 17 * time.Second},
		"overload":  {503, body("503", "UNAVAILABLE", "The model is overloaded.", ""), llm.ClassOverloaded, true, 0},
		"deadline":  {504, body("504", "DEADLINE_EXCEEDED", "late", ""), llm.ClassServer, true, 0},
		"in stream": {0, "data: " + body("503", "UNAVAILABLE", "overloaded", later) + "\n\n", llm.ClassOverloaded, true, 17 * time.Second},
		"forbidden": {403, body("403", "PERMISSION_DENIED", "no", ""), llm.ClassPermission, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := collect(t, llmtest.Serve(t, llmtest.Round{Status: tt.status, Body: tt.body}), llm.Request{})
			var e *llm.Error
			if !errors.As(err, &e) || e.Class != tt.class || e.Retryable != tt.retry || e.RetryAfter != tt.retryAfter || e.Status != tt.status {
				t.Errorf("got %+v, want %+v", e, tt)
			}
		})
	}
}

// An answer in pieces is distinguished from one that was cut off. The SDK
// repeats no request, as it would for a continuation token.
func TestOneRequest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: `data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"continuationToken":"AAAA","finishReason":"CONTINUATION"}],"continuationToken":"AAAA"}` + "\n\n"})
	_, answer := stream(t, server, llm.Request{})
	if len(server.Requests()) != 1 || answer.Finish.Reason != llm.FinishOther {
		t.Errorf("%d requests, finish %+v", len(server.Requests()), answer.Finish)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	var asked http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1beta/models" {
			http.NotFound(w, r)
			return
		}
		asked = r.Header.Clone()
		_, _ = io.WriteString(w, `{"models":[{"name":"models/b","supportedGenerationMethods":["countTokens","generateContent"]},`+
			`{"name":"models/embedder","supportedGenerationMethods":["embedContent"]},{"name":"models/a"}]}`)
	}))
	defer server.Close()
	for _, base := range []string{server.URL, server.URL + "/v1beta/"} {
		got, err := gemini.New(gemini.Config{BaseURL: base, APIKey: "key"}).Models(t.Context())
		if diff := cmp.Diff([]string{"a", "b"}, llmtest.IDs(got)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", base, err, diff)
		}
	}
	if got := asked.Get("X-Goog-Api-Key"); got != "key" {
		t.Errorf("key %q", got)
	}
}

// A call whose arguments are null is sent back without them and with its
// signature.
func TestNullArguments(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: `data: {"candidates":[{"content":{"parts":[{"functionCall":{"id":"a","name":"Look","args":null},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}` + "\n\n"})
	_, answer, err := llmtest.Collect(gemini.New(gemini.Config{BaseURL: server.Root}).Stream(t.Context(), llm.Request{Model: llmtest.ModelID}))
	if err != nil {
		t.Fatal(err)
	}
	part := answer.Message.Parts[0]
	if got, want := string(part.Native), `{"functionCall":{"id":"a","name":"Look"},"thoughtSignature":"c2ln"}`; got != want || string(part.Call.Arguments) != "{}" {
		t.Errorf("is sent back as %s, with the arguments %s", got, part.Call.Arguments)
	}
}

// Fields of an unexpected type do not hide a call, and are not sent back.
func TestMistypedPart(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Body: `data: {"candidates":[{"content":{"parts":[` +
		`{"text":5},{"inlineData":5,"thought":"yes"},` +
		`{"functionCall":{"id":7,"name":"Look","args":{"at":"a"}},"thoughtSignature":"c2ln"},{"functionCall":"Look"}` +
		`]},"finishReason":"STOP"}]}` + "\n\n"})
	_, answer := stream(t, server, llm.Request{})
	var got []string
	for _, p := range answer.Message.Parts {
		got = append(got, string(p.Kind)+" "+string(p.Native))
	}
	want := []string{
		`tool_call {"thoughtSignature":"c2ln","functionCall":{"name":"Look","args":{"at":"a"}}}`,
		`tool_call {"functionCall":{"name":""}}`, // which is sent back under another name
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
