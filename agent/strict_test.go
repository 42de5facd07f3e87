package agent_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
)

// endpoint is a provider that refuses what the real one refuses.
type endpoint struct {
	rules   llmtest.Rules
	adapter func(*llmtest.Server) llm.Adapter
	// objects says that arguments come as JSON values, which cannot be cut.
	objects bool
}

func preset(t *testing.T, id string, s *llmtest.Server) llm.Adapter {
	t.Helper()
	for _, p := range compat.Presets() {
		if p.ID == id {
			return p.New(compat.Config{BaseURL: s.URL, APIKey: "key"})
		}
	}
	t.Fatalf("no preset %s", id)
	return nil
}

func endpoints(t *testing.T) map[string]endpoint {
	named := func(id string) func(*llmtest.Server) llm.Adapter {
		return func(s *llmtest.Server) llm.Adapter { return preset(t, id, s) }
	}
	return map[string]endpoint{
		"messages": {rules: llmtest.AnthropicRules, adapter: func(s *llmtest.Server) llm.Adapter {
			return anthropic.New(anthropic.Config{BaseURL: s.Root, APIKey: "key"})
		}},
		"responses": {rules: llmtest.OpenAIRules, adapter: func(s *llmtest.Server) llm.Adapter {
			return openai.New(openai.Config{BaseURL: s.URL, APIKey: "key"})
		}},
		"generate": {rules: llmtest.GoogleRules, objects: true, adapter: func(s *llmtest.Server) llm.Adapter {
			return gemini.New(gemini.Config{BaseURL: s.Root, APIKey: "key"})
		}},
		"mistral":   {rules: llmtest.MistralRules, adapter: named("mistral")},
		"ollama":    {rules: llmtest.OllamaRules, adapter: named("ollama")},
		"llama.cpp": {rules: llmtest.LlamaCppRules, adapter: named("llamacpp")},
		"claude in chat": {rules: llmtest.AnthropicRules, adapter: func(s *llmtest.Server) llm.Adapter {
			return compat.New(compat.Config{BaseURL: s.URL, APIKey: "key"})
		}},
	}
}

// However a model writes a call, the session goes on: the call is answered with
// an error and every later request is accepted, also once the session was
// opened again.
func TestMalformedCallsDoNotWedgeASession(t *testing.T) {
	t.Parallel()
	half := llmtest.Call{Name: "Look", Arguments: `{"text": "abc`}
	use := func(id, name string) llmtest.Call {
		return llmtest.Call{ID: id, Name: name, Arguments: `{"text":"a"}`}
	}
	cases := map[string][]llmtest.Round{
		"cut by length":      {{Text: "I look.", Calls: []llmtest.Call{half}, Finish: llm.FinishLength}},
		"not JSON":           {{Reasoning: "Hm.", Calls: []llmtest.Call{half}}},
		"null":               {{Calls: []llmtest.Call{{Name: "Look", Arguments: "null"}}}},
		"nothing":            {{Calls: []llmtest.Call{{Name: "Look"}}}},
		"no id":              {{Calls: []llmtest.Call{use(llmtest.NoID, "Look")}}},
		"a list":             {{Calls: []llmtest.Call{{Name: "Look", Arguments: `["a"]`}}}},
		"half a pair":        {{Calls: []llmtest.Call{{Name: "Look", Arguments: `{"text":"\ud83d"}`}}}},
		"nested deeply":      {{Calls: []llmtest.Call{{Name: "Look", Arguments: `{"text":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`}}}},
		"no name":            {{Calls: []llmtest.Call{use("", "")}}},
		"a dotted name":      {{Calls: []llmtest.Call{use("", "functions.Look")}}},
		"a name with spaces": {{Calls: []llmtest.Call{use("", "Look at <this>")}}},
		"a long name":        {{Calls: []llmtest.Call{use("", strings.Repeat("Look", 50))}}},
		"an id twice":        {{Calls: []llmtest.Call{use("same", "Look"), use("same", "Look")}}},
		"an id again":        {{Calls: []llmtest.Call{use("same", "Look")}}, {Calls: []llmtest.Call{use("same", "Look")}}},
		"an odd id":          {{Calls: []llmtest.Call{use("call:1/x y", "Look")}}},
		"a long id":          {{Calls: []llmtest.Call{use(strings.Repeat("x", 5000), "Look")}}},
	}
	for name, e := range endpoints(t) {
		for problem, rounds := range cases {
			t.Run(name+"/"+problem, func(t *testing.T) {
				t.Parallel()
				if e.objects && (problem == "cut by length" || problem == "not JSON") {
					t.Skip("cannot be said in this format")
				}
				server := llmtest.Serve(t, append(rounds, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})...)
				server.Strict(e.rules)
				adapter := e.adapter(server)
				r := newRig(t, llm.NewClient(adapter))
				r.open()
				r.session.Configure(agent.Settings{Provider: adapter.Name(), Model: llmtest.ModelID, Mode: agent.ModeDefault})
				for _, input := range []string{"look", "and now?"} {
					if events := r.run(input); end(t, events) != agent.EndDone {
						t.Fatalf("%s: %+v", input, find[agent.Failure](events))
					}
				}
				r.open()
				if events := r.run("still there?"); end(t, events) != agent.EndDone {
					t.Fatalf("opened again: %+v", find[agent.Failure](events))
				}
				if got, want := len(server.Requests()), len(rounds)+3; got != want {
					t.Errorf("%d requests, want %d: some were refused first", got, want)
				}
			})
		}
	}
}

// An endpoint of many providers may give a call the id that one of them chose
// and then hand the conversation to another, which refuses it.
func TestRefusedIDIsRepaired(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Reasoning: "Hm.", Calls: []llmtest.Call{{ID: "functions.Look:0", Name: "Look", Arguments: `{"text":"a"}`}}},
		llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	server.Strict(llmtest.AnthropicRules)
	r := newRig(t, llm.NewClient(compat.New(compat.Config{BaseURL: server.URL, APIKey: "key"})))
	r.open()
	r.session.Configure(agent.Settings{Provider: "compat", Model: llmtest.ModelID, Mode: agent.ModeDefault})
	events := r.run("look")
	if repairs := find[agent.HistoryRepaired](events); len(repairs) != 1 || repairs[0].Repair != agent.RepairCalls || end(t, events) != agent.EndDone {
		t.Fatalf("repairs %+v, failures %+v", repairs, find[agent.Failure](events))
	}
	r.open()
	if events := r.run("and now?"); len(find[agent.HistoryRepaired](events)) != 0 || end(t, events) != agent.EndDone {
		t.Errorf("%+v", find[agent.Failure](events))
	}
	if n := len(server.Requests()); n != 4 {
		t.Errorf("%d requests", n)
	}
}

// A provider's answer with very many calls ends no turn: the first are run, and
// the model is told of all the others.
func TestVeryManyCallsOfAProvider(t *testing.T) {
	t.Parallel()
	const calls = 1_000
	round := llmtest.Round{Calls: make([]llmtest.Call, calls)}
	for i := range round.Calls {
		round.Calls[i] = llmtest.Call{Name: "Look", Arguments: `{"text":"a"}`}
	}
	server := llmtest.Serve(t, round, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Still here."})
	server.Strict(llmtest.OllamaRules)
	r := newRig(t, llm.NewClient(preset(t, "ollama", server)))
	r.open()
	r.session.Configure(agent.Settings{Provider: "ollama", Model: llmtest.ModelID, Mode: agent.ModeDefault})
	events := r.run("go")
	told := find[agent.SteeringInjected](events)
	if len(find[agent.ToolCallEnd](events)) != 128 || len(told) == 0 || !strings.Contains(told[0].Text, "the other 872 were left out") || end(t, events) != agent.EndDone {
		t.Errorf("%d calls ended, told %+v, failed %+v", len(find[agent.ToolCallEnd](events)), told, find[agent.Failure](events))
	}
	r.open()
	if events := r.run("and now?"); end(t, events) != agent.EndDone {
		t.Errorf("opened again: %+v", find[agent.Failure](events))
	}
}
