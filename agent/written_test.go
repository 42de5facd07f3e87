package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// K-49: an answer that is nothing but a call in the form of some model's training is
// run as a call; one of which that is not certain is asked for again once; what is
// only shown stays text.
func TestCallsWrittenAsText(t *testing.T) {
	t.Parallel()
	const called, reminded, shown = "called", "reminded", "shown"
	for text, want := range map[string]string{
		"<tool_call>\n{\"name\": \"Look\", \"arguments\": {\"text\": \"a\"}}\n</tool_call>":                                                   called,
		"<tool_call>{\"name\":\"Look\",\"arguments\":{\"text\":\"a\"}}":                                                                       called,
		"<function=Look>\n<parameter=text>\na\n</parameter>\n</function>":                                                                     called,
		"<tool_call>\n<function=Look>\n<parameter=text>\na\n</parameter>\n</function>\n</tool_call>":                                          called,
		"<tool_call><function=Look><parameter=text>a</parameter>":                                                                             called,
		"<function=Look>{\"text\": \"a\"}</function>":                                                                                         called,
		"<invoke name=\"Look\"><parameter name=\"text\">a</parameter></invoke>":                                                               called,
		"<function_calls>\n<invoke name=\"Look\">\n<parameter name=\"text\">a</parameter>\n</invoke>\n</function_calls>":                      called,
		"<minimax:tool_call><invoke name=\"Look\"><parameter name=\"text\">a</parameter></invoke></minimax:tool_call>":                        called,
		"{\"name\": \"Look\", \"arguments\": {\"text\": \"a\"}}":                                                                              called,
		"{\"tool\": \"look\", \"parameters\": {\"text\": \"a\"}}":                                                                             called,
		"[{\"type\":\"function\",\"function\":{\"name\":\"Look\",\"arguments\":\"{\\\"text\\\":\\\"a\\\"}\"}}]":                               called,
		"{\"tool_calls\":[{\"name\":\"Look\",\"arguments\":{\"text\":\"a\"}}]}":                                                               called,
		"[TOOL_CALLS][{\"name\": \"Look\", \"arguments\": {\"text\": \"a\"}}]":                                                                called,
		"[TOOL_CALLS]Look[ARGS]{\"text\": \"a\"}":                                                                                             called,
		"<|python_tag|>{\"name\": \"Look\", \"parameters\": {\"text\": \"a\"}}<|eom_id|>":                                                     called,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>Look\n```json\n{\"text\": \"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>": called,
		"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>Look<｜tool▁sep｜>{\"text\":\"a\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>":                          called,
		"<|tool_calls_section_begin|><|tool_call_begin|>functions.Look:0<|tool_call_argument_begin|>{\"text\":\"a\"}<|tool_call_end|>":        called,
		"<tool_call>Look\n<arg_key>text</arg_key>\n<arg_value>a</arg_value>\n</tool_call>":                                                    called,
		"<|channel|>commentary to=functions.Look <|constrain|>json<|message|>{\"text\":\"a\"}<|call|>":                                        called,

		"I look.\n<tool_call>{\"name\":\"Look\",\"arguments\":{\"text\":\"a\"}}</tool_call>": reminded,
		"<function=Look>\n<parameter=text>\na":                                               reminded,
		"<tool_call>\n{\"name\": \"Look\", \"arguments\": {\"te":                             reminded,

		"```xml\n<tool_call>{\"name\":\"Look\",\"arguments\":{\"text\":\"a\"}}</tool_call>\n```": shown,
		"```json\n{\"name\": \"Look\", \"arguments\": {\"text\": \"a\"}}\n```":                   shown,
		"Write `<function=Look>` to call it.":                                                    shown,
		"<tool_call>{\"name\":\"Other\",\"arguments\":{\"text\":\"a\"}}</tool_call>":             shown,
		"{\"name\": \"Look\", \"version\": \"1.0\"}":                                             shown,
		"The tool is called Look.":                                                               shown,
	} {
		model := llmtest.Script(llmtest.Round{Text: text}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "More."})
		r := newRig(t, model)
		events := r.run("go")
		ends := find[agent.ToolCallEnd](events)
		got := shown
		switch warnings := find[agent.Warning](events); {
		case len(warnings) == 1 && warnings[0].ID == agent.WarnCallWritten && len(ends) == 1 && ends[0].Output == "Look: a":
			got = called
		case len(warnings) == 1 && warnings[0].ID == agent.WarnCallInText && len(ends) == 0 && len(model.Requests()) == 2:
			got = reminded
		case len(warnings) > 0 || len(ends) > 0:
			got = "something else"
		}
		if got != want || end(t, events) != agent.EndDone {
			t.Errorf("%s: is %s, want %s: %+v", text, got, want, ends)
		}
		if got == called {
			said := model.Requests()[1].Messages[1]
			if said.Text() != "" || len(said.Calls()) != 1 || said.Calls()[0].Name != "Look" {
				t.Errorf("%s: the model is told that it said %+v", text, said)
			}
		}
	}
}

// A tool that is shown under another name is meant by its own as well.
func TestWrittenCallsByOtherNames(t *testing.T) {
	t.Parallel()
	registry, err := agent.NewRegistry(note{name: "Look", readOnly: true}, note{name: "Note"})
	if err != nil {
		t.Fatal(err)
	}
	tools := registry.Show(
		agent.Binding{Tool: "Look", ToolSpec: llm.ToolSpec{Name: "look_at", Description: "Looks."}},
		agent.Binding{Tool: "Note", ToolSpec: llm.ToolSpec{Name: "memo", Description: "Notes."}, Hidden: true},
	)
	for name, want := range map[string]int{"look_at": 2, "Look": 2, "look": 2, "functions.look_at": 2, "memo": 1, "Note": 1, "Other": 1} {
		model := llmtest.Script(llmtest.Round{Text: `{"name":"` + name + `","arguments":{"text":"a"}}`}, llmtest.Round{Text: "Done."})
		r := newRig(t, model)
		r.cfg.Profiles = shownAs{tools}
		if r.run("go"); len(model.Requests()) != want {
			t.Errorf("%s: %d requests, want %d", name, len(model.Requests()), want)
		}
	}
}

// shownAs shows every model the same tools.
type shownAs struct{ tools *agent.Toolset }

func (s shownAs) Profile(string, string) agent.Profile { return agent.Profile{Tools: s.tools} }

func (s shownAs) Brief(context.Context, agent.BriefingInput) agent.Briefing { return agent.Briefing{} }

// K-49: an answer with nothing in it is asked for again once, and then named.
func TestEmptyAnswers(t *testing.T) {
	t.Parallel()
	empty := llmtest.Round{}
	call := llmtest.Round{Calls: []llmtest.Call{look}}
	for name, tt := range map[string]struct {
		rounds   []llmtest.Round
		end      agent.EndReason
		requests int
	}{
		"once":             {[]llmtest.Round{empty, {Text: "Done."}}, agent.EndDone, 2},
		"twice":            {[]llmtest.Round{empty, empty}, agent.EndFailed, 2},
		"after a result":   {[]llmtest.Round{call, empty, empty}, agent.EndFailed, 3},
		"each round":       {[]llmtest.Round{empty, call, empty, {Text: "Done."}}, agent.EndDone, 4},
		"only space":       {[]llmtest.Round{{Text: " \n"}, {Text: "\n"}}, agent.EndFailed, 2},
		"only thought":     {[]llmtest.Round{{Reasoning: "Hm."}, {Reasoning: "Hm."}}, agent.EndFailed, 2},
		"then a call":      {[]llmtest.Round{empty, call, {Text: "Done."}}, agent.EndDone, 3},
		"one short answer": {[]llmtest.Round{{Text: "."}}, agent.EndDone, 1},
	} {
		model := llmtest.Script(tt.rounds...)
		r := newRig(t, model)
		events := r.run("go")
		if got := end(t, events); got != tt.end || len(model.Requests()) != tt.requests {
			t.Errorf("%s: ended as %s after %d requests", name, got, len(model.Requests()))
		}
		failures := find[agent.Failure](events)
		if failed := tt.end == agent.EndFailed; (len(failures) == 1 && failures[0].ID == agent.FailureEmpty) != failed {
			t.Errorf("%s: %+v", name, failures)
		}
	}
}

// A prompt or an answer that is filtered does not end as if all were done, and the
// session goes on with the next message.
func TestFilteredAnswers(t *testing.T) {
	t.Parallel()
	for _, reason := range []llm.FinishReason{llm.FinishContentFilter, llm.FinishRefusal} {
		for _, text := range []string{"", "I can"} {
			r := newRig(t, llmtest.Script(llmtest.Round{Text: text, Finish: reason}, llmtest.Round{Text: "Hello."}))
			result := agent.NewQueryResult()
			for _, ev := range r.run("go") {
				result.Apply(ev)
			}
			if result.Status != agent.StatusFailed || result.Failure == nil {
				t.Errorf("%s %q: %+v", reason, text, result)
			}
			if got := end(t, r.run("hello")); got != agent.EndDone {
				t.Errorf("%s %q: hello ended as %s", reason, text, got)
			}
		}
	}
}

// Models add to names and to arguments what their servers do not take away again.
func TestNamesAndArgumentsAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, arguments, want string }{
		{"functions.Look", `{"text":"a"}`, "Look: a"},
		{"default_api.Look", `{"text":"a"}`, "Look: a"},
		{"Look<|channel|>commentary", `{"text":"a"}`, "Look: a"},
		{"functions.Look:3", `{"text":"a"}`, "Look: a"},
		{"look", `{"text":"a"}`, "Look: a"},
		{"LOOK", `{"text":"a"}`, "Look: a"},
		{"tools/Look", `{"text":"a"}`, "Look: a"},
		{"Look", `{}{"text":"a"}`, "Look: a"},
		{"Look", `{"text":"a"}{}`, "Look: a"},
		{"Look", `{"text":"a"}""`, "Look: a"},
		{"Look", `{"text":"a"}{"text":"a"}`, "Look: a"},
		{"Look", "{}\n{\"text\":\"a\"}", "Look: a"},
		{"Look", `{"text":{"a":1}}`, `Look: {"a":1}`},
		{"Look", `{}""`, "The arguments of Look are not valid"},
		{"Look", `{"text":"a"}{"text":"b"}`, "The arguments of Look are not valid"},
		{"Lookout", `{"text":"a"}`, "Unknown tool: Lookout."},
		{"functions.", `{"text":"a"}`, "Unknown tool"},
	} {
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{{Name: tt.name, Arguments: tt.arguments}}}, llmtest.Round{Text: "Done."})
		ends := find[agent.ToolCallEnd](newRig(t, model).run("go"))
		if len(ends) != 1 || !strings.HasPrefix(ends[0].Output, tt.want) {
			t.Errorf("%s %s: %+v", tt.name, tt.arguments, ends)
		}
	}
}

// A refusal of arguments does not repeat them.
func TestRefusalsAreShort(t *testing.T) {
	t.Parallel()
	long, _ := json.Marshal(strings.Repeat("v", 100_000))
	for name, arguments := range map[string]string{
		"a list":     `{"text":["a",` + string(long) + `]}`,
		"a number":   `{"text":"a","count":` + string(long) + `}`,
		"a choice":   `{"text":"a","mode":` + string(long) + `}`,
		"an unknown": `{"text":"a",` + string(long) + `:1}`,
		"no JSON":    `{"text":` + string(long),
	} {
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{{Name: "Look", Arguments: arguments}}}, llmtest.Round{Text: "Done."}), choosy{})
		ends := find[agent.ToolCallEnd](r.run("go"))
		if len(ends) != 1 || len(ends[0].ForModel()) > 1000 {
			t.Errorf("%s: %d bytes: %.300s", name, len(ends[0].ForModel()), ends[0].Output)
		}
	}
}

// choosy is a tool with several kinds of arguments.
type choosy struct{}

func (choosy) Spec() agent.Spec {
	return agent.Spec{Name: "Look", Description: "Looks.", ReadOnly: true, Schema: json.RawMessage(
		`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"mode":{"type":"string","enum":["a","b"]}},"required":["text"],"additionalProperties":false}`)}
}

func (choosy) Run(context.Context, agent.Invocation) agent.Result { return agent.Result{Output: "ok"} }

// An empty text where a number, a truth or a list may be stands for nothing.
func TestEmptyTextsStandForNothing(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"text":"a","count":""}`:   `{"text":"a"}`,
		`{"text":"a","count":null}`: `{"text":"a"}`,
		`{"text":"","count":" "}`:   "",
		`{"text":""}`:               `{"text":""}`,
		`{"text":"a","count":"3"}`:  `{"text":"a","count":3}`,
	} {
		var got map[string]any
		result := agent.Run(t.Context(), recording{&got}, agent.Invocation{Input: json.RawMessage(arguments)})
		var wanted map[string]any
		_ = json.Unmarshal([]byte(want), &wanted)
		if result.IsError != (want == "") || !cmp.Equal(got, wanted) {
			t.Errorf("%s: %v, %+v", arguments, got, result)
		}
	}
}

// recording keeps what it is called with.
type recording struct{ into *map[string]any }

func (recording) Spec() agent.Spec { return choosy{}.Spec() }

func (r recording) Run(_ context.Context, call agent.Invocation) agent.Result {
	_ = json.Unmarshal(call.Input, r.into)
	return agent.Result{Output: "ok"}
}
