package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// spoken shows the tool Note as jot, which is told words instead of a text.
var spoken = agent.Binding{
	Tool: "Note", Aliases: []string{"scribble"},
	ToolSpec: llm.ToolSpec{
		Name: "jot", Description: "Jots down.",
		Schema: json.RawMessage(`{"type":"object","properties":{"words":{"type":"array","items":{"type":"string"}}},"required":["words"],"additionalProperties":false}`),
	},
	Input: func(args json.RawMessage) (json.RawMessage, error) {
		var in struct{ Words []string }
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]string{"text": strings.Join(in.Words, " ")})
	},
	Output: func(r agent.Result, cut func(string) string) string { return "<" + cut(r.Output) + ">" },
}

// bindings shows the tools under other names to one model only.
type bindings struct {
	agent.Profiles
	model string
	tools *agent.Toolset
}

func (b bindings) Profile(provider, model string) agent.Profile {
	if model == b.model {
		return agent.Profile{ID: "bound", Tools: b.tools}
	}
	return b.Profiles.Profile(provider, model)
}

func show(t *testing.T, tools []agent.Tool, shown ...agent.Binding) *agent.Toolset {
	t.Helper()
	registry, err := agent.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return registry.Show(shown...)
}

// LOOP-115, LOOP-175, K-04: a call by the name that the model was shown runs the
// tool with its own arguments; events, the approval, the rules and the limits
// know it by its canonical name, and the model gets the result in its own form.
func TestBoundCall(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"jot", "scribble"} {
		model := llmtest.Script(
			llmtest.Round{Calls: []llmtest.Call{llmtest.Use(name, map[string]any{"words": []string{"buy", "milk"}})}},
			llmtest.Round{Text: "ok"},
		)
		r := newRig(t, model)
		r.cfg.Profiles = bindings{r.cfg.Profiles, "m", show(t, []agent.Tool{note{name: "Look", readOnly: true}, note{name: "Note"}}, spoken)}
		r.cfg.Reduce = func(tool, output string, _ int) string { return tool + " said " + output[:3] + "…" }
		r.cfg.Approver = approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
			if req.Tool != "Note" || req.Input != `{"text":"buy milk"}` || !cmp.Equal(req.Access.Writes, []string{"/notes/buy milk"}) {
				t.Errorf("asked about %+v", req)
			}
			return agent.Answer{Decision: agent.Allow}, nil
		})
		events := r.run("go")
		for _, d := range find[agent.CallDraft](events) {
			if d.Tool != "Note" {
				t.Errorf("draft of %s", d.Tool)
			}
		}
		if s := find[agent.ToolCallStart](events)[0]; s.Tool != "Note" || s.Input != `{"text":"buy milk"}` {
			t.Errorf("start %+v", s)
		}
		if e := find[agent.ToolCallEnd](events)[0]; e.Tool != "Note" || e.Output != "Note: buy milk" || e.ForModel() != "<Note said Not…>" {
			t.Errorf("end %+v", e)
		}
		requests := model.Requests()
		if names := toolNames(requests[0].Tools); names != "jot Look" {
			t.Errorf("the model was shown %s", names)
		}
		call := requests[1].Messages[1].Calls()[0] // as it was made
		if call.Name != name || string(call.Arguments) != `{"words":["buy","milk"]}` {
			t.Errorf("the history has %s %s", call.Name, call.Arguments)
		}
	}
}

func toolNames(specs []llm.ToolSpec) string {
	var names []string
	for _, s := range specs {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// LOOP-117: what is wrong with a call is said in the terms that the model was
// shown.
func TestBoundCallIsValidated(t *testing.T) {
	t.Parallel()
	broken := spoken
	broken.Schema = json.RawMessage(`{"type":`)
	for takes, binding := range map[string]agent.Binding{"It takes words.": spoken, "It takes other arguments.": broken} {
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("jot", map[string]any{})}}, llmtest.Round{Text: "ok"}))
		r.cfg.Profiles = bindings{r.cfg.Profiles, "m", show(t, []agent.Tool{note{name: "Note"}}, binding)}
		end := find[agent.ToolCallEnd](r.run("go"))[0]
		if end.Tool != "Note" || end.Outcome != agent.OutcomeFailed || !strings.Contains(end.Output, "jot") || !strings.Contains(end.Output, takes) {
			t.Errorf("%+v", end)
		}
	}
}

// LOOP-32, LOOP-113, LOOP-114: a custom tool takes the place of a built-in one
// by registering its canonical name, the name that a profile shows it under, or
// another name of it, and is shown under the name that it registered.
func TestCustomToolOverrides(t *testing.T) {
	t.Parallel()
	for custom, want := range map[string]string{"Note": "Look Note", "jot": "Look jot", "scribble": "Look scribble", "Other": "jot Look Other"} {
		set := show(t, []agent.Tool{note{name: "Look"}, note{name: "Note"}, note{name: custom, readOnly: true}}, spoken)
		if got := strings.Join(set.Names(), " "); got != want {
			t.Errorf("with %s the model is shown %s, want %s", custom, got, want)
		}
		if got := set.Canonical(custom); got != custom {
			t.Errorf("%s runs %s", custom, got)
		}
	}
}

// LOOP-33: what a model is shown is the same, in the same order, every time; a
// hidden binding is understood all the same.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	hidden := spoken
	hidden.Hidden = true
	tools := []agent.Tool{note{name: "Look"}, note{name: "Note"}}
	set := show(t, tools, hidden)
	if diff := cmp.Diff(set.Definitions(), show(t, tools, hidden).Definitions()); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(set.Names(), set.Canonical("jot"), set.Canonical("Note"), set.Canonical("Nothing")); got != "[Look]NoteNoteNothing" {
		t.Error(got)
	}
}

// LOOP-33: tools are registered, found, listed and removed one by one. One that
// was removed is neither shown nor understood, under any binding; a toolset that
// was shown before still has it.
func TestRegistry(t *testing.T) {
	t.Parallel()
	registry, err := agent.NewRegistry(note{name: "Look"})
	if err != nil {
		t.Fatal(err)
	}
	if err := registry.Register(note{name: "Note"}); err != nil {
		t.Fatal(err)
	}
	before := registry.Show(spoken)
	if tool, ok := registry.Get("Note"); !ok || tool.Spec().Name != "Note" {
		t.Errorf("got %+v, %t", tool, ok)
	}
	if !registry.Unregister("Note") || registry.Unregister("Note") {
		t.Error("it was not removed once")
	}
	if _, ok := registry.Get("Note"); ok {
		t.Error("it is still there")
	}
	after := registry.Show(spoken)
	if got := fmt.Sprint(registry.Names(), before.Names(), after.Names(), after.Canonical("jot")); got != "[Look] [jot Look] [Look]jot" {
		t.Error(got)
	}
	if err := registry.Register(note{name: "Note"}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(registry.Names(), registry.Show(spoken).Names()); got != "[Look Note] [jot Look]" { // it took nothing's place
		t.Error(got)
	}
	definition := after.Definitions()[0]
	if definition.Name != "Look" || definition.Description != "Takes a note." || !json.Valid(definition.Schema) {
		t.Errorf("%+v", definition)
	}
}

// LOOP-10: a change of the model changes what is shown from the next round on.
// Earlier calls keep the names they were made under, and a call is read as the
// model meant it that made it.
func TestProfileChangesWithTheModel(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("jot", map[string]any{"words": []string{"a"}})}},
		llmtest.Round{Calls: []llmtest.Call{use("Note", "b")}},
		llmtest.Round{Text: "ok"},
	)
	r := newRig(t, model)
	r.cfg.Profiles = bindings{r.cfg.Profiles, "m", show(t, []agent.Tool{note{name: "Look"}, note{name: "Note"}}, spoken)}
	r.cfg.Approver = approver(func(ctx context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
		r.session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "other", Mode: agent.ModeBypass})
		return allowAll(ctx, req)
	})
	events := r.run("go")
	for i, want := range []string{"Note: a", "Note: b"} {
		if e := find[agent.ToolCallEnd](events)[i]; e.Tool != "Note" || e.Output != want {
			t.Errorf("%+v", e)
		}
	}
	requests := model.Requests()
	if a, b := toolNames(requests[0].Tools), toolNames(requests[1].Tools); a != "jot Look" || b != "Look Note" {
		t.Errorf("shown %s, then %s", a, b)
	}
	if got := requests[2].Messages[1].Calls()[0].Name; got != "jot" {
		t.Errorf("the first call is now %s", got)
	}
	if diff := cmp.Diff([]string{"m bound", "other plain"}, briefed(events)); diff != "" {
		t.Error(diff)
	}
}

func briefed(events []agent.Event) []string {
	var out []string
	for _, b := range find[agent.Briefing](events) {
		out = append(out, b.Model+" "+b.Profile)
	}
	return out
}

// counting counts how often a model is briefed.
type counting struct {
	agent.Profiles
	briefs int
}

func (c *counting) Brief(context.Context, agent.BriefingInput) agent.Briefing {
	c.briefs++
	return agent.Briefing{System: fmt.Sprintf("Briefing %d.", c.briefs)}
}

// LOOP-10, LOOP-46: a model is briefed once in a session's life, also when the
// session is opened again.
func TestBriefedOnce(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "a"}, llmtest.Round{Text: "b"})
	r := newRig(t, model)
	profiles := &counting{Profiles: r.cfg.Profiles}
	r.cfg.Profiles = profiles
	r.run("one")
	r.open()
	r.run("two")
	for _, req := range model.Requests() {
		if req.System != "Briefing 1." {
			t.Errorf("system prompt %q", req.System)
		}
	}
}

// LOOP-10: a fallback of another vendor is shown the tools as it knows them, and
// its calls are read so.
func TestFallbackHasItsOwnProfile(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Status: 503},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("jot", map[string]any{"words": []string{"a"}})}},
		llmtest.Round{Text: "ok"},
	)
	r := newRig(t, model)
	r.cfg.Profiles = bindings{r.cfg.Profiles, "spare", show(t, []agent.Tool{note{name: "Note"}}, spoken)}
	s := r.open()
	s.Configure(agent.Settings{
		Provider: llmtest.Provider, Model: "m", Mode: agent.ModeBypass, FallbackProvider: llmtest.Provider, FallbackModel: "spare",
	})
	events := r.run("go")
	if e := find[agent.ToolCallEnd](events)[0]; e.Tool != "Note" || e.Output != "Note: a" {
		t.Errorf("%+v", e)
	}
	if diff := cmp.Diff([]string{"m plain", "spare bound"}, briefed(events)); diff != "" {
		t.Error(diff)
	}
}
