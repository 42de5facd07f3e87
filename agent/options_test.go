package agent_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/provider"
)

// optioned are profiles with options.
type optioned struct {
	agent.Profiles
	options agent.ProviderOptions
}

func (o optioned) Profile(provider, model string) agent.Profile {
	p := o.Profiles.Profile(provider, model)
	p.Options = o.options
	return p
}

// LOOP-10, LOOP-21, LOOP-30, LOOP-31: the options of a profile and a host are in every
// request to their provider, over its wire format, and in none to another. What they
// keep changing afterwards is not.
func TestProviderOptions(t *testing.T) {
	t.Parallel()
	members := map[string]map[string]json.RawMessage{
		"openai":    {"safety_identifier": json.RawMessage(`"u1"`)},
		"anthropic": {"context_management": json.RawMessage(`{"edits":[]}`)},
		"gemini": {
			"safetySettings": json.RawMessage(`[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}]`),
			"tools":          json.RawMessage(`[{"googleSearch":{}}]`),
		},
		"compat": {"provider": json.RawMessage(`{"order":["a"]}`)},
	}
	for name, body := range members {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."})
			r := newRig(t, clientOf(server))
			betas := []string{"one", "two"}
			options := agent.ProviderOptions{Header: http.Header{"anthropic-beta": betas}, Body: body}
			r.cfg.Profiles = optioned{r.cfg.Profiles, agent.ProviderOptions{
				Header: http.Header{"Anthropic-Beta": {"the profile's"}, "X-Profile": {"yes"}}, Body: map[string]json.RawMessage{"metadata": json.RawMessage(`{"a":"b"}`)},
			}}
			r.cfg.Options = map[string]agent.ProviderOptions{name: options, "another": {Header: http.Header{"X-Another": {"yes"}}}}
			r.open()
			betas[0] = "changed"
			delete(r.cfg.Options, name)
			r.session.Configure(agent.Settings{Provider: name, Model: llmtest.ModelID, Mode: agent.ModeDefault})
			if got := end(t, r.run("go")); got != agent.EndDone {
				t.Fatalf("ended as %s: %+v", got, find[agent.Failure](r.log))
			}
			requests := server.Requests()
			if len(requests) != 2 {
				t.Fatalf("%d requests", len(requests))
			}
			for i, req := range requests {
				if got := req.Header.Get("Anthropic-Beta"); got != "one,two" || req.Header.Get("X-Profile") != "yes" || req.Header.Get("X-Another") != "" {
					t.Errorf("request %d: headers %v", i, req.Header)
				}
				var sent map[string]json.RawMessage
				if err := json.Unmarshal(req.Body, &sent); err != nil {
					t.Fatal(err)
				}
				for member, want := range body {
					if diff := cmp.Diff(string(want), string(sent[member])); diff != "" {
						t.Errorf("request %d: %s: %s", i, member, diff)
					}
				}
				if string(sent["metadata"]) != `{"a":"b"}` {
					t.Errorf("request %d: metadata %s", i, sent["metadata"])
				}
			}
		})
	}
}

// LOOP-31, LLM-08: Gemini searches and reads pages itself beside the session's
// tools; what it found goes back with its answer.
func TestGrounding(t *testing.T) {
	t.Parallel()
	const searched = `{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["go"]},"id":"s1"},"thoughtSignature":"c2ln"}`
	server := llmtest.Serve(t, llmtest.Round{Body: `data: {"candidates":[{"content":{"role":"model","parts":[` + searched +
		`,{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","response":{},"id":"s1"}},{"functionCall":{"id":"a","name":"Look","args":{"text":"x"}},"thoughtSignature":"c2lh"}]},"finishReason":"STOP"}]}` + "\n\n"},
		llmtest.Round{Text: "Done."})
	r := newRig(t, clientOf(server))
	own := []json.RawMessage{json.RawMessage(`{"googleSearch":{}}`), json.RawMessage(`{"urlContext":{}}`)}
	r.cfg.Profiles = optioned{r.cfg.Profiles, agent.ProviderOptions{Tools: own[:1]}}
	r.cfg.Options = map[string]agent.ProviderOptions{"gemini": {Tools: own[1:]}}
	r.open()
	r.session.Configure(agent.Settings{Provider: "gemini", Model: llmtest.ModelID, Mode: agent.ModeDefault})
	if got := end(t, r.run("go")); got != agent.EndDone {
		t.Fatalf("ended as %s: %+v", got, find[agent.Failure](r.log))
	}
	requests := server.Requests()
	for i, req := range requests {
		var sent struct {
			Tools      []map[string]json.RawMessage
			ToolConfig struct{ IncludeServerSideToolInvocations bool }
		}
		if err := json.Unmarshal(req.Body, &sent); err != nil {
			t.Fatal(err)
		}
		if len(sent.Tools) != 3 || sent.Tools[0]["functionDeclarations"] == nil || sent.Tools[1]["googleSearch"] == nil || sent.Tools[2]["urlContext"] == nil ||
			!sent.ToolConfig.IncludeServerSideToolInvocations {
			t.Errorf("request %d: %s", i, req.Body)
		}
	}
	if last := string(requests[len(requests)-1].Body); len(requests) != 2 || !strings.Contains(last, searched) || !strings.Contains(last, `"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB"`) {
		t.Errorf("what it searched for does not go back: %s", last)
	}
}

// Tools that Gemini would not take, or that are the session's, are refused.
func TestGroundingIsChecked(t *testing.T) {
	t.Parallel()
	for tool, want := range map[string]string{
		`["googleSearch"]`:              "is not a JSON object",
		`{}`:                            "is not a JSON object",
		`{"googleSearch":`:              "is not a JSON object",
		`{"functionDeclarations":[{}]}`: "functions are the session's own tools",
	} {
		cfg := newRig(t, llmtest.Script()).cfg
		cfg.Options = map[string]agent.ProviderOptions{"gemini": {Tools: []json.RawMessage{json.RawMessage(tool)}}}
		if _, err := agent.New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	cfg := newRig(t, llmtest.Script()).cfg
	cfg.Options = map[string]agent.ProviderOptions{"gemini": {
		Tools: []json.RawMessage{json.RawMessage(`{"googleSearch":{}}`)}, Body: map[string]json.RawMessage{"tools": json.RawMessage("[]")},
	}}
	if _, err := agent.New(cfg); err == nil || !strings.Contains(err.Error(), `the member "tools" of the body`) {
		t.Errorf("%v", err)
	}
}

// LOOP-138, LOOP-16: each effort reaches each provider as something else, what a
// provider adds to the three too, and none at all leaves it to the provider.
func TestEffortOnTheWire(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"openai", "anthropic", "gemini", "compat"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := map[string]llm.Effort{}
			for _, effort := range []llm.Effort{llm.EffortDefault, llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortXHigh} {
				server := llmtest.Serve(t, llmtest.Round{Text: "Done."})
				r := newRig(t, clientOf(server))
				r.open()
				r.session.Configure(agent.Settings{Provider: name, Model: llmtest.ModelID, Mode: agent.ModeDefault, Effort: effort})
				r.run("go")
				body := string(server.Requests()[0].Body)
				speaks := strings.Contains(body, "effort") || strings.Contains(body, "thinking")
				if speaks != (effort != llm.EffortDefault) {
					t.Errorf("%q: %s", effort, body)
				}
				if same, ok := said[body]; ok && effort != llm.EffortXHigh { // which not everyone has
					t.Errorf("%q is asked for as %q is", effort, same)
				}
				said[body] = effort
			}
		})
	}
}

// clientOf is a client of all providers, on a scripted server.
func clientOf(server *llmtest.Server) *llm.Client {
	return provider.Client(func(variable string) string {
		switch {
		case strings.HasSuffix(variable, "_API_KEY"):
			return "sk-test"
		case variable == "OPENAI_BASE_URL", variable == "COMPAT_BASE_URL":
			return server.URL
		case strings.HasSuffix(variable, "_BASE_URL"):
			return server.Root
		}
		return ""
	})
}

// Options that no provider takes, or that would take the place of the key or the
// conversation, are refused: a host's with the session, a profile's with the turn.
func TestProviderOptionsAreChecked(t *testing.T) {
	t.Parallel()
	body := func(name, value string) agent.ProviderOptions {
		return agent.ProviderOptions{Body: map[string]json.RawMessage{name: json.RawMessage(value)}}
	}
	header := func(name, value string) agent.ProviderOptions {
		return agent.ProviderOptions{Header: http.Header{name: {value}}}
	}
	for want, options := range map[string]agent.ProviderOptions{
		"is not the name of a header":                          header("a b", "c"),
		"the header X-Api-Key is the session's own":            header("x-api-key", "sk"),
		"the header Authorization is the session's own":        header("authorization", "Bearer sk"),
		"the value of the header X-A holds control characters": header("X-A", "b\r\nX-C: d"),
		`the member "messages" of the body is the session's`:   body("messages", "[]"),
		`the member "stream" of the body is the session's own`: body("stream", "false"),
		`the member "a" of the body is not JSON`:               body("a", "{"),
		"a member of the body has no name":                     body("", "1"),
		"takes no tools of its own beside the session's":       {Tools: []json.RawMessage{json.RawMessage(`{"googleSearch":{}}`)}},
	} {
		model := llmtest.Script(llmtest.Round{Text: "Never."})
		r := newRig(t, model)
		cfg := r.cfg
		cfg.Options = map[string]agent.ProviderOptions{"openai": options}
		if _, err := agent.New(cfg); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "openai") {
			t.Errorf("want %q, got %v", want, err)
		}
		r.cfg.Profiles = optioned{r.cfg.Profiles, options}
		events := r.run("go")
		failures := find[agent.Failure](events)
		if len(failures) != 1 || failures[0].Code != string(llm.ClassConfig) || !strings.Contains(failures[0].Message, want) || len(model.Requests()) != 0 {
			t.Errorf("want %q, got %+v", want, failures)
		}
	}
}
