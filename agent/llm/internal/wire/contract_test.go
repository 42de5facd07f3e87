package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

const secret = "sk-secret-0123456789/+x"

// api is an adapter under test and the wire format it reads.
type api struct {
	name    string
	adapter func(baseURL, key string, idle time.Duration) adapter
	stream  func(llmtest.Round, int) string
	// version is the end of the base URL.
	version string
	// authorization is the header that holds the key, with the text before the
	// key.
	authorization, scheme string
	// history is the request's field that holds the conversation.
	history string
	// filtered is the API's word for an answer that a filter ended.
	filtered llm.FinishReason
	// named says that the stream's events have names, without which they are
	// not read.
	named bool
	// objects says that arguments come as objects, which are always JSON.
	objects bool
	// freeform says that a call can be plain text.
	freeform bool
}

// url returns the address of a server that answers as the script says.
func (a api) url(s *llmtest.Server) string { return s.Root + a.version }

// event returns a line of a stream that is not a part of an answer.
func (a api) event(name, data string) string {
	if a.named {
		return "event: " + name + "\ndata: " + data + "\n\n"
	}
	return "data: " + data + "\n\n"
}

type adapter interface {
	llm.Adapter
	Models(context.Context) ([]llm.ListedModel, error)
}

// The tests below hold for every adapter.
var apis = []api{
	{
		name: "responses", stream: llmtest.ResponsesStream, version: "/v1", authorization: "Authorization", scheme: "Bearer ",
		history: "input", filtered: llm.FinishContentFilter, freeform: true,
		adapter: func(u, k string, idle time.Duration) adapter {
			return openai.New(openai.Config{BaseURL: u, APIKey: k, IdleTimeout: idle})
		},
	},
	{
		name: "chat", stream: llmtest.ChatStream, version: "/v1", authorization: "Authorization", scheme: "Bearer ",
		history: "messages", filtered: llm.FinishContentFilter,
		adapter: func(u, k string, idle time.Duration) adapter {
			return compat.New(compat.Config{BaseURL: u, APIKey: k, IdleTimeout: idle})
		},
	},
	{
		name: "messages", stream: llmtest.MessagesStream, authorization: "X-Api-Key",
		history: "messages", filtered: llm.FinishRefusal, named: true,
		adapter: func(u, k string, idle time.Duration) adapter {
			return anthropic.New(anthropic.Config{BaseURL: u, APIKey: k, IdleTimeout: idle})
		},
	},
	{
		name: "generate", stream: llmtest.GenerateStream, authorization: "X-Goog-Api-Key",
		history: "contents", filtered: llm.FinishContentFilter, objects: true,
		adapter: func(u, k string, idle time.Duration) adapter {
			return gemini.New(gemini.Config{BaseURL: u, APIKey: k, IdleTimeout: idle})
		},
	},
}

func each(t *testing.T, test func(*testing.T, api)) {
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) { test(t, a) })
	}
}

func ask(text string) llm.Request {
	return llm.Request{Model: llmtest.ModelID, Messages: []llm.Message{llm.Text(llm.RoleUser, text)}}
}

func failure(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %T %v, want *llm.Error", err, err)
	}
	return e
}

// patch is a text that has to be quoted in JSON.
const patch = "*** Begin Patch\n*** Add File: a\n+\"ü\" <&>\n*** End Patch\n"

// LLM-26 LLM-27 LLM-29 LLM-30 LLM-31 LLM-50 LLM-54 OAS-701 OAS-707
func TestAnswers(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 70, CacheRead: 20, CacheWrite: 10, Output: 30, Reasoning: 12, Known: true}
	tests := map[string]llmtest.Round{
		"text":           {Text: "Hello, wörld <&> 你好", Usage: usage},
		"reasoning":      {Reasoning: "let me think", Text: "done", Usage: usage},
		"no usage":       {Text: "hi"},
		"empty":          {},
		"one call":       {Text: "I read.", Calls: []llmtest.Call{llmtest.Use("Read", map[string]any{"file_path": "a<b>.go"})}},
		"no arguments":   {Calls: []llmtest.Call{{Name: "List"}}},
		"not JSON":       {Calls: []llmtest.Call{{Name: "List", Arguments: `{"a": `}}},
		"freeform":       {Text: "I patch.", Calls: []llmtest.Call{llmtest.Custom("Patch", patch), llmtest.Use("Read", map[string]any{"n": 1})}},
		"no text":        {Calls: []llmtest.Call{llmtest.Custom("Patch", "")}},
		"length":         {Text: "cut", Finish: llm.FinishLength, Usage: usage},
		"content filter": {Text: "cut", Finish: llm.FinishContentFilter},
		"three calls": {Reasoning: "three", Calls: []llmtest.Call{
			llmtest.Use("Read", map[string]any{"n": 1}), llmtest.Use("Read", map[string]any{"n": 2}), llmtest.Use("Grep", map[string]any{"n": 3}),
		}},
	}
	each(t, func(t *testing.T, a api) {
		for name, round := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if name == "not JSON" && a.objects {
					t.Skip("cannot be said in this format")
				}
				if round.Usage.CacheWrite > 0 && a.name == "generate" {
					round.Usage.Input += round.Usage.CacheWrite // is not reported apart
					round.Usage.CacheWrite = 0
				}
				if round.Finish == llm.FinishContentFilter {
					round.Finish = a.filtered
				}
				server := llmtest.Serve(t, round)
				events, answer, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
				if err != nil {
					t.Fatal(err)
				}
				llmtest.Check(t, events)
				checkAnswer(t, a, *answer, round)
			})
		}
	})
}

func checkAnswer(t *testing.T, a api, got llm.Answer, round llmtest.Round) {
	t.Helper()
	if got.Message.Text() != round.Text {
		t.Errorf("text %q, want %q", got.Message.Text(), round.Text)
	}
	var thought string
	for _, p := range got.Message.Parts {
		if p.Kind == llm.PartReasoning {
			thought += p.Reasoning.Text
		}
	}
	if thought != round.Reasoning {
		t.Errorf("reasoning %q, want %q", thought, round.Reasoning)
	}
	if got.Usage != round.Usage {
		t.Errorf("usage %+v, want %+v", got.Usage, round.Usage)
	}
	want := round.Finish
	if want == "" {
		want = llm.FinishStop
		if len(round.Calls) > 0 {
			want = llm.FinishToolCalls
		}
	}
	if got.Finish.Reason != want {
		t.Errorf("finish %q, want %q", got.Finish.Reason, want)
	}
	calls := got.Message.Calls()
	if len(calls) != len(round.Calls) {
		t.Fatalf("%d calls, want %d", len(calls), len(round.Calls))
	}
	ids := map[string]bool{}
	for i, c := range calls {
		arguments, custom := round.Calls[i].Arguments, round.Calls[i].Custom
		if custom && !a.freeform {
			arguments, custom = string(llmtest.Use("", map[string]any{"input": arguments}).Arguments), false
		} else if arguments == "" && !custom {
			arguments = "{}"
		}
		if c.Custom != custom {
			t.Errorf("call %d is custom: %v; want %v", i, c.Custom, custom)
		}
		if c.Name != round.Calls[i].Name || string(c.Arguments) != arguments {
			t.Errorf("call %d is %s(%s), want %s(%s)", i, c.Name, c.Arguments, round.Calls[i].Name, arguments)
		}
		if c.WireID != fmt.Sprintf("wire_1_%d", i) {
			t.Errorf("call %d has the wire id %q", i, c.WireID)
		}
		if !strings.HasPrefix(c.ID, "call_") || ids[c.ID] {
			t.Errorf("call %d has the id %q: not ours, or given twice", i, c.ID)
		}
		ids[c.ID] = true
	}
}

// LLM-42 LLM-43 LLM-44
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		round llmtest.Round
		class llm.Class
		retry bool
		says  string
	}{
		"401":               {llmtest.Round{Status: 401, Body: `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`}, llm.ClassAuth, false, "the key was not accepted"},
		"403":               {llmtest.Round{Status: 403, Body: `{"error":{"message":"no access to the model"}}`}, llm.ClassPermission, false, "no access"},
		"404":               {llmtest.Round{Status: 404, Body: `{"error":"model 'x' not found"}`}, llm.ClassNotFound, false, "model 'x' not found"},
		"400 detail":        {llmtest.Round{Status: 400, Body: `{"detail":[{"msg":"field required"}]}`}, llm.ClassInvalid, false, "field required"},
		"400 message":       {llmtest.Round{Status: 400, Body: `{"message":"bad","code":7}`}, llm.ClassInvalid, false, "bad"},
		"400 array":         {llmtest.Round{Status: 400, Body: `[{"error":{"message":"from a list"}}]`}, llm.ClassInvalid, false, "from a list"},
		"400 overflow":      {llmtest.Round{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`}, llm.ClassContextOverflow, false, "context window"},
		"400 bad call Groq": {llmtest.Round{Status: 400, Body: `{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<f>"}}`}, llm.ClassServer, true, "Failed to call"},
		"400 overflow GLM":  {llmtest.Round{Status: 400, Body: `{"error":{"message":"…","code":"1261"}}`}, llm.ClassContextOverflow, false, "context window"},
		"400 filter":        {llmtest.Round{Status: 400, Body: `{"error":{"message":"no","code":"content_filter"}}`}, llm.ClassContentFilter, false, "filter"},
		"402":               {llmtest.Round{Status: 402, Body: `{"error":{"message":"pay"}}`}, llm.ClassQuota, false, "pay"},
		"408":               {llmtest.Round{Status: 408}, llm.ClassTimeout, false, "gave up"},
		"400 key":           {llmtest.Round{Status: 400, Body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***Cd. You can obtain an API key from https://console.x.ai."}`}, llm.ClassAuth, false, "key was not accepted"},
		"400 no model":      {llmtest.Round{Status: 400, Body: `{"error":{"message":"The model has been decommissioned","code":"model_decommissioned"}}`}, llm.ClassNotFound, false, "decommissioned"},
		"403 no credits":    {llmtest.Round{Status: 403, Body: `{"error":"Your team has used all available credits or reached its monthly spending limit."}`}, llm.ClassQuota, false, "credit is used up"},
		"429 no credits":    {llmtest.Round{Status: 429, Body: `{"error":"Your team has either used all available credits"}`}, llm.ClassQuota, false, "credit is used up"},
		"429 plan":          {llmtest.Round{Status: 429, Body: `{"error":{"code":"1308","message":"Usage limit reached for 5 hour."}}`}, llm.ClassQuota, false, "Usage limit"},
		"429 free models":   {llmtest.Round{Status: 429, Body: `{"error":{"message":"Rate limit exceeded: free-models-per-day","code":429}}`}, llm.ClassQuota, false, "free-models"},
		"400 usage limit":   {llmtest.Round{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`}, llm.ClassQuota, false, "usage limits"},
		"relayed":           {llmtest.Round{Status: 400, Body: `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"bad \\\"x\\\"\"}}","provider_name":"Google"}}}`}, llm.ClassInvalid, false, `Google: bad "x"`},
		"relayed overflow":  {llmtest.Round{Status: 400, Body: `{"error":{"message":"Provider returned error","code":400,"metadata":{"error_type":"context_length_exceeded"}}}`}, llm.ClassContextOverflow, false, "context window"},
		"413":               {llmtest.Round{Status: 413}, llm.ClassContextOverflow, false, "context window"},
		"422":               {llmtest.Round{Status: 422}, llm.ClassInvalid, false, "not accepted"},
		"429":               {llmtest.Round{Status: 429, Body: `{"error":{"message":"too many tokens per minute"}}`, RetryAfter: 7 * time.Second}, llm.ClassRateLimit, true, "too many requests"},
		"429 quota":         {llmtest.Round{Status: 429, Body: `{"error":{"message":"x","code":"insufficient_quota"}}`}, llm.ClassQuota, false, "quota"},
		"500":               {llmtest.Round{Status: 500, Body: "oops"}, llm.ClassServer, true, "oops"},
		"502 HTML":          {llmtest.Round{Status: 502, Body: "<html><head><title>Bad &amp; gone</title></head></html>"}, llm.ClassServer, true, "Bad & gone"},
		"503":               {llmtest.Round{Status: 503}, llm.ClassOverloaded, true, "overloaded"},
		"529":               {llmtest.Round{Status: 529}, llm.ClassOverloaded, true, "overloaded"},
	}
	each(t, func(t *testing.T, a api) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server := llmtest.Serve(t, tt.round)
				events, _, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
				e := failure(t, err)
				if e.Class != tt.class || e.Retryable != tt.retry || e.Status != tt.round.Status {
					t.Errorf("got class %s, retryable %v, status %d; want %s, %v", e.Class, e.Retryable, e.Status, tt.class, tt.retry)
				}
				if !strings.Contains(e.Message, tt.says) {
					t.Errorf("message %q does not say %q", e.Message, tt.says)
				}
				if e.RetryAfter != tt.round.RetryAfter || e.RequestID != "req_test" {
					t.Errorf("retry after %s, request %q", e.RetryAfter, e.RequestID)
				}
				if len(events) != 0 || e.Sent || len(server.Requests()) != 1 {
					t.Errorf("%d events, sent %v, %d requests; want none, false, one", len(events), e.Sent, len(server.Requests()))
				}
			})
		}
	})
}

func TestNoStream(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body, event string // the event's data
		class       llm.Class
	}{
		"web page":      {"<!doctype html><title>Router</title>", "", llm.ClassConfig},
		"error, 200":    {`{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, "", llm.ClassRateLimit},
		"whole answer":  {`{"id":"x","choices":[]}`, "", llm.ClassInvalid},
		"plain garbage": {"hello there\n\nhow are you\n", "", llm.ClassTruncated},
		"error":         {"", `{"error":{"message":"slow down","code":429}}`, llm.ClassRateLimit},
		"broken":        {"", `{"a": `, llm.ClassServer},
		"llama.cpp":     {"error: {\"code\":500,\"message\":\"the model crashed\",\"type\":\"server_error\"}\n\n", "", llm.ClassServer},
	}
	each(t, func(t *testing.T, a api) {
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if tt.event != "" {
					tt.body = a.event(name, tt.event)
				}
				server := llmtest.Serve(t, llmtest.Round{Body: tt.body})
				_, _, err := llmtest.Collect(a.adapter(a.url(server), secret, 0).Stream(t.Context(), ask("hi")))
				if e := failure(t, err); e.Class != tt.class {
					t.Errorf("class %s (%s), want %s", e.Class, e.Message, tt.class)
				}
			})
		}
	})
}

func TestErrorInStream(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, a api) {
		server := llmtest.Serve(t, llmtest.Round{Text: "half of", Error: "server_error"}, llmtest.Round{Error: "context_length_exceeded"})
		model := a.adapter(a.url(server), secret, 0)
		events, _, err := llmtest.Collect(model.Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Class != llm.ClassServer || !e.Sent || !e.Retryable || e.RequestID != "req_test" {
			t.Errorf("got %+v, want a retryable server error after delivered text", e)
		}
		if len(events) == 0 || events[len(events)-1].Type == llm.EventFinish {
			t.Errorf("events %v: want some, and no finish", events)
		}
		_, _, err = llmtest.Collect(model.Stream(t.Context(), ask("hi")))
		if e := failure(t, err); e.Class != llm.ClassContextOverflow || e.Sent {
			t.Errorf("got %+v, want an overflow with nothing delivered", e)
		}
	})
}

// cuts returns the places at which a stream is cut: every byte near the ends of a
// line and inside a character, and every 23rd byte between, where a cut loses the
// same line.
func cuts(body string) []int {
	const near, apart = 7, 23
	var at []int
	start := 0
	for line := range strings.Lines(body) {
		for i := range len(line) {
			if i < near || i >= len(line)-near || i%apart == 0 || !utf8.RuneStart(line[i]) {
				at = append(at, start+i)
			}
		}
		start += len(line)
	}
	return append(at, len(body))
}

// LLM-31 OAS-708: a stream that is cut off anywhere is an error, or the whole
// answer if only bytes after its end were lost, but never a part of it.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	round := llmtest.Round{
		Reasoning: "so", Text: "one two", Calls: []llmtest.Call{{Name: "Read", Arguments: `{"a":"ü"}`}, llmtest.Custom("Patch", "ü\n")},
		Usage: llm.Usage{Input: 5, Output: 4, Known: true},
	}
	each(t, func(t *testing.T, a api) {
		t.Parallel()
		body := a.stream(round, 1)
		var cut int
		var abort bool
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write([]byte(body[:cut]))
			if abort {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		}))
		t.Cleanup(server.Close)
		model := a.adapter(server.URL, secret, 0)
		complete := 0
		for _, cut = range cuts(body) {
			abort = cut%2 == 1 // with a regular end, or with a broken connection
			_, answer, err := llmtest.Collect(model.Stream(t.Context(), ask("hi")))
			if err != nil {
				if e := failure(t, err); e.Class != llm.ClassTruncated && e.Class != llm.ClassNetwork {
					t.Fatalf("cut at %d: %v", cut, e)
				}
				continue
			}
			complete++
			whole := round
			whole.Usage = answer.Usage // may have been lost
			checkAnswer(t, a, *answer, whole)
		}
		if complete == 0 || complete > len(cuts(body))/3 {
			t.Errorf("%d of %d cuts gave an answer", complete, len(cuts(body)))
		}
	})
}
