package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// skills is a tool with which the model begins "NAME TOOL,TOOL" and ends "end NAME".
type skills struct{ note }

func newSkills() skills {
	return skills{note{name: "Skill", readOnly: true, run: func(_ context.Context, call agent.Invocation) agent.Result {
		name, tools, limited := strings.Cut(textOf(call.Input), " ")
		use := agent.SkillUse{Name: name, Limited: limited}
		if name == "end" {
			use = agent.SkillUse{Name: tools, Ended: true}
		} else if tools != "" {
			use.Tools = strings.Split(tools, ",")
		}
		return agent.Result{Output: fmt.Sprint(len(call.Skills)), Details: &agent.Details{Skill: &use}}
	}}}
}

func (skills) EndsSkill(input json.RawMessage) bool { return strings.HasPrefix(textOf(input), "end ") }

// OAS-502: the limits of an agent's definition hold for every call, whatever skill is in use.
func TestLimitsOfAnAgent(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, calls("Look:1", "See:2", "Note:3", "Skill:inner See,Look,Note,Skill", "See:4", "Look:5", "Note:6"))
	limit := agent.SkillUse{Name: "looker", Agent: true, Limited: true, Tools: []string{"Look", "Skill"}}
	r.open()
	r.store(r.session.Record(agent.SessionStart{Helper: &agent.Helper{Parent: "p", Skills: []agent.SkillUse{limit}}}))
	var got []string
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if end, ok := ev.Data.(agent.ToolCallEnd); ok {
			got = append(got, end.Tool+" "+string(end.Outcome))
			if end.Outcome == agent.OutcomeDenied && (end.Authority.Code != agent.ReasonAgent || !strings.Contains(end.Output, "looker")) {
				t.Errorf("%+v", end)
			}
		}
	}
	want := []string{"Look done", "See denied", "Note denied", "Skill done", "See denied", "Look done", "Note denied"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// ran runs a session and tells what became of each call: "Tool" or "Tool refused".
func ran(t *testing.T, r *rig, events iter.Seq2[agent.Event, error]) []string {
	t.Helper()
	var out []string
	for ev, err := range events {
		if err != nil {
			t.Fatal(err)
		}
		r.store(ev)
		if end, ok := ev.Data.(agent.ToolCallEnd); ok {
			what := end.Tool
			if end.Outcome == agent.OutcomeDenied {
				what += " refused"
				if end.Authority.By != agent.BySkill || end.Authority.Code != agent.ReasonSkill {
					t.Errorf("%+v", end.Authority)
				}
			}
			out = append(out, what)
		}
	}
	return out
}

func calls(names ...string) []llmtest.Round {
	var script []llmtest.Round
	for _, name := range names {
		tool, text, _ := strings.Cut(name, ":")
		script = append(script, llmtest.Round{Calls: []llmtest.Call{use(tool, text)}})
	}
	return append(script, llmtest.Round{Text: "Done."})
}

func skillRig(t *testing.T, script []llmtest.Round) (*rig, *llmtest.Model) {
	model := llmtest.Script(script...)
	return newRig(t, model, note{name: "Look", readOnly: true}, note{name: "See", readOnly: true}, note{name: "Note"}, note{name: "Put"}, newSkills()), model
}

// OAS-213, OAS-814, K-14: the innermost skill decides what may look, all of them what may
// change something; what ends gives back what held before.
func TestSkillStack(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, calls(
		"See:1", "Skill:outer Look,Note,Skill", "See:2", "Look:3", "Note:4", "Put:5",
		"Skill:inner See,Put,Skill", "See:6", "Look:7", "Note:8", "Put:9",
		"Skill:end inner", "Look:10", "See:11", "Note:12", "Skill:end outer", "See:13", "Put:14"))
	want := []string{
		"See", "Skill", "See refused", "Look", "Note", "Put refused",
		"Skill", "See", "Look refused", "Note refused", "Put refused",
		"Skill", "Look", "See refused", "Note", "Skill", "See", "Put",
	}
	if diff := cmp.Diff(want, ran(t, r, r.open().Run(t.Context(), "go"))); diff != "" {
		t.Error(diff)
	}
}

// A skill whose tools are all unknown allows none; one without a list allows all but what it
// denies.
func TestSkillLists(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		use  agent.SkillUse
		want []string
	}{
		"none":      {agent.SkillUse{Limited: true}, []string{"Look refused", "Put refused"}},
		"unknown":   {agent.SkillUse{Limited: true, Tools: []string{"look", "Look(*)"}}, []string{"Look refused", "Put refused"}},
		"unlimited": {agent.SkillUse{}, []string{"Look", "Put"}},
		"denied":    {agent.SkillUse{Denied: []string{"Put"}}, []string{"Look", "Put refused"}},
		"both":      {agent.SkillUse{Limited: true, Tools: []string{"Put", "Look"}, Denied: []string{"Look"}}, []string{"Look refused", "Put"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := skillRig(t, calls("Look:1", "Put:2"))
			tt.use.Name, tt.use.ByUser = "x", true
			if diff := cmp.Diff(tt.want, ran(t, r, r.open().RunInput(t.Context(), agent.Queued{Text: "go", Typed: "/x", Skill: &tt.use}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// K-46: a skill's approval in advance answers what the mode would ask a person about, and
// nothing else: neither a rule's question nor one that is asked each time, nor plan mode.
func TestSkillApproves(t *testing.T) {
	t.Parallel()
	ask := agent.Verdict{Decision: agent.Ask, Reason: "The mode asks."}
	with := func(change func(*agent.Verdict)) agent.Verdict {
		v := ask
		change(&v)
		return v
	}
	for name, c := range map[string]struct {
		mode    agent.Mode
		verdict agent.Verdict
		use     agent.SkillUse
		runs    bool
	}{
		"approved":              {agent.ModeDefault, ask, agent.SkillUse{Approved: []string{"Put"}}, true},
		"approved among others": {agent.ModeAuto, ask, agent.SkillUse{Approved: []string{"Look", "Put"}}, true},
		"another tool":          {agent.ModeDefault, ask, agent.SkillUse{Approved: []string{"Note"}}, false},
		"none":                  {agent.ModeDefault, ask, agent.SkillUse{}, false},
		"a limit is none":       {agent.ModeDefault, ask, agent.SkillUse{Limited: true, Tools: []string{"Put"}}, false},
		"denied as well":        {agent.ModeDefault, ask, agent.SkillUse{Approved: []string{"Put"}, Denied: []string{"Put"}}, false},
		"a rule asks":           {agent.ModeDefault, with(func(v *agent.Verdict) { v.Rule = &agent.RuleRef{Text: "Put"} }), agent.SkillUse{Approved: []string{"Put"}}, false},
		"a final question":      {agent.ModeDefault, with(func(v *agent.Verdict) { v.Final = true }), agent.SkillUse{Approved: []string{"Put"}}, false},
		"asked each time":       {agent.ModeDefault, with(func(v *agent.Verdict) { v.EachTime = true }), agent.SkillUse{Approved: []string{"Put"}}, false},
		"plan mode":             {agent.ModePlan, ask, agent.SkillUse{Approved: []string{"Put"}}, false},
		"denied by the mode":    {agent.ModeDontAsk, agent.Verdict{Decision: agent.Deny, Reason: "No."}, agent.SkillUse{Approved: []string{"Put"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := skillRig(t, calls("Put:1"))
			r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict { return c.verdict })
			r.cfg.Approver = nil
			s := r.open()
			s.SetPermissionMode(c.mode)
			c.use.Name, c.use.ByUser = "x", true
			for ev, err := range s.RunInput(t.Context(), agent.Queued{Text: "go", Typed: "/x", Skill: &c.use}) {
				if err != nil {
					t.Fatal(err)
				}
				r.store(ev)
				end, ok := ev.Data.(agent.ToolCallEnd)
				if !ok {
					continue
				}
				if ran := end.Outcome == agent.OutcomeDone; ran != c.runs {
					t.Errorf("it ran: %v, %+v", ran, end.Authority)
				}
				if c.runs && (end.Authority.By != agent.BySkill || end.Authority.Code != agent.ReasonSkillApproved) {
					t.Errorf("%+v", end.Authority)
				}
			}
		})
	}
}

// OAS-816: what a person began holds until their next input, also when the session is
// opened again in between; no model, hook, callback or mode lifts it.
func TestSkillOfTheUser(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, append(calls("Put:1", "Skill:end x", "Put:2"), calls("Put:3")...))
	r.cfg.Hooks = allowingHooks{}
	s := r.open()
	s.SetPermissionMode(agent.ModeBypass)
	s.SetCanUseTool(func(context.Context, agent.GateCall) *agent.CanUseToolResult {
		return &agent.CanUseToolResult{Decision: agent.Allow}
	})
	use := agent.SkillUse{Name: "x", Limited: true, Tools: []string{"Look"}, ByUser: true}
	got := ran(t, r, s.RunInput(t.Context(), agent.Queued{Text: "go", Typed: "/x", Skill: &use}))
	if diff := cmp.Diff([]string{"Put refused", "Skill", "Put refused"}, got); diff != "" {
		t.Error(diff)
	}
	s = r.open()
	if diff := cmp.Diff([]agent.SkillUse{use}, s.Transcript().Skills()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Put"}, ran(t, r, s.Run(t.Context(), "and now"))); diff != "" {
		t.Error(diff)
	}
}

type allowingHooks struct{}

func (allowingHooks) Fire(_ context.Context, call agent.HookCall, _ func(agent.Payload)) agent.HookAdvice {
	if call.Data.Point() == agent.HookPreToolUse {
		return agent.HookAdvice{Decision: agent.Allow}
	}
	return agent.HookAdvice{}
}

// A skill that waits as a follow-up holds once it is delivered.
func TestQueuedSkill(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, append(calls("Put:1"), calls("Put:2")...))
	s := r.open()
	s.Queue().Add(agent.Queued{ID: "q", Verb: agent.FollowUp, Text: "long", Typed: "/x", Skill: &agent.SkillUse{Name: "x", Limited: true, ByUser: true}})
	if diff := cmp.Diff([]string{"Put", "Put refused"}, ran(t, r, s.Run(t.Context(), "go"))); diff != "" {
		t.Error(diff)
	}
	at := slices.IndexFunc(r.log, func(ev agent.Event) bool {
		in, ok := ev.Data.(agent.UserInput)
		return ok && in.Typed == "/x" && in.Text == "long" && in.Skill != nil
	})
	if at < 0 {
		t.Error("the input does not say what began it")
	}
}

// At most so many skills are in use inside each other.
func TestSkillDepth(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, calls("Skill:a", "Skill:b", "Skill:c", "Skill:d", "Skill:e", "Skill:end e"))
	s := r.open()
	ran(t, r, s.Run(t.Context(), "go"))
	if n := len(s.Transcript().Skills()); n != agent.MaxSkillDepth-1 {
		t.Errorf("%d skills are in use", n)
	}
}

// The model of a skill answers while it is in use, and the session's afterwards.
func TestSkillModel(t *testing.T) {
	t.Parallel()
	r, model := skillRig(t, append(calls("Look:1"), calls()...))
	s := r.open()
	use := agent.SkillUse{Name: "x", Provider: llmtest.Provider, Model: "small", Effort: "low", ByUser: true}
	ran(t, r, s.RunInput(t.Context(), agent.Queued{Text: "go", Typed: "/x", Skill: &use}))
	ran(t, r, s.Run(t.Context(), "and now"))
	var models []string
	for _, req := range model.Requests() {
		models = append(models, req.Model+" "+string(req.Effort))
	}
	if diff := cmp.Diff([]string{"small low", "small low", "m "}, models); diff != "" {
		t.Error(diff)
	}
	if s.Transcript().Settings.Model != "m" {
		t.Error("the session's own model changed")
	}
}

// An agent keeps to the skills that were in use where it was started, whatever its own inputs
// and skills are. A copy of its session is not an agent.
func TestSkillOfAnAgent(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, append(calls("Put:1", "Look:2", "Skill:own Put,See", "See:3", "Put:4"), calls("Put:5")...))
	r.open()
	r.store(r.session.Record(agent.SessionStart{Helper: &agent.Helper{Skills: []agent.SkillUse{{Name: "x", Limited: true, Tools: []string{"Look", "Skill"}, ByUser: true}}}}))
	r.open()
	want := []string{"Put refused", "Look", "Skill", "See", "Put refused"}
	if diff := cmp.Diff(want, ran(t, r, r.session.Run(t.Context(), "go"))); diff != "" {
		t.Error(diff)
	}
	r.store(r.session.Record(agent.Forked{}))
	if diff := cmp.Diff([]string{"Put"}, ran(t, r, r.open().Run(t.Context(), "and now"))); diff != "" {
		t.Error(diff)
	}
}

// A skill that a person began still holds in a turn that was taken back, brought back and
// goes on.
func TestSkillThatIsBroughtBack(t *testing.T) {
	t.Parallel()
	r, _ := skillRig(t, calls("Look:1", "Put:2"))
	r.cfg.Limits.Rounds = 1
	ran(t, r, r.open().RunInput(t.Context(), agent.Queued{Text: "go", Typed: "/x", Skill: &agent.SkillUse{Name: "x", Limited: true, Tools: []string{"Look"}, ByUser: true}}))
	r.rewind("r", r.before("go"))
	if skills := r.session.Transcript().Skills(); len(skills) > 0 {
		t.Errorf("after it was taken back: %+v", skills)
	}
	r.store(r.session.Record(agent.RewindUndone{ID: "r"}))
	if diff := cmp.Diff([]string{"Put refused"}, ran(t, r, r.open().Continue(t.Context()))); diff != "" {
		t.Error(diff)
	}
}
