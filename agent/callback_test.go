package agent_test

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

func opinion(d agent.Decision, input string) *agent.CanUseToolResult {
	o := &agent.CanUseToolResult{Decision: d, Reason: "So says the program."}
	if input != "" {
		o.Input = json.RawMessage(input)
	}
	return o
}

// OAS-627, K-34: what a program says replaces what the mode says and nothing that is
// final. Changed arguments are judged from the start.
func TestCanUseTool(t *testing.T) {
	t.Parallel()
	ask := agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
	allow := agent.Verdict{Decision: agent.Allow}
	refuse := agent.Verdict{Decision: agent.Deny, Reason: "Nobody is asked."}
	final := func(v agent.Verdict) agent.Verdict { v.Final = true; return v }
	for name, tt := range map[string]struct {
		verdict, changed agent.Verdict // about the call as the model made it, and about another text
		says             *agent.CanUseToolResult
		asked            int
		want             agent.Outcome
		output           string
		by               agent.Authoriser
		hook             bool // allows what a person would be asked about
	}{
		"no opinion":                         {verdict: ask, asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"no opinion about an allowed call":   {verdict: allow, want: agent.OutcomeDone, output: "Note: a", by: agent.ByMode},
		"allowed":                            {verdict: ask, says: opinion(agent.Allow, ""), want: agent.OutcomeDone, output: "Note: a", by: agent.ByCallback},
		"allowed where nobody is asked":      {verdict: refuse, says: opinion(agent.Allow, ""), want: agent.OutcomeDone, output: "Note: a", by: agent.ByCallback},
		"denied":                             {verdict: allow, says: opinion(agent.Deny, ""), want: agent.OutcomeDenied, by: agent.ByCallback},
		"denied what would be asked":         {verdict: ask, says: opinion(agent.Deny, ""), want: agent.OutcomeDenied, by: agent.ByCallback},
		"asked":                              {verdict: allow, says: opinion(agent.Ask, ""), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"a rule denies":                      {verdict: final(refuse), says: opinion(agent.Allow, ""), want: agent.OutcomeDenied, by: agent.ByMode},
		"a rule asks":                        {verdict: final(ask), says: opinion(agent.Allow, ""), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"a rule asks, and so does it":        {verdict: final(ask), says: opinion(agent.Ask, ""), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson, hook: true},
		"a rule asks, and it has no opinion": {verdict: final(ask), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson, hook: true},
		"asked, and a hook answers":          {verdict: allow, says: opinion(agent.Ask, ""), want: agent.OutcomeDone, by: agent.ByHook, hook: true},
		"a rule asks, changed to a question": {verdict: final(ask), changed: ask, says: opinion(agent.Allow, `{"text":"b"}`), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"a rule asks, changed and allowed":   {verdict: final(ask), changed: allow, says: opinion(agent.Allow, `{"text":"b"}`), want: agent.OutcomeDone, output: "Note: b", by: agent.ByMode},
		"changed and as free":                {verdict: allow, changed: allow, says: opinion(agent.Allow, `{"text":"b"}`), want: agent.OutcomeDone, output: "Note: b", by: agent.ByCallback},
		"changed and freer":                  {verdict: ask, changed: allow, says: opinion(agent.Allow, `{"text":"b"}`), want: agent.OutcomeDone, output: "Note: b", by: agent.ByCallback},
		"changed to what is denied":          {verdict: ask, changed: final(refuse), says: opinion(agent.Allow, `{"text":"b"}`), want: agent.OutcomeDenied, by: agent.ByMode},
		"changed to what is asked about":     {verdict: allow, changed: ask, says: opinion(agent.Allow, `{"text":"b"}`), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"changed to what a rule asks about":  {verdict: ask, changed: final(ask), says: opinion(agent.Allow, `{"text":"b"}`), asked: 1, want: agent.OutcomeDenied, by: agent.ByPerson},
		"changed to what is not valid":       {verdict: allow, changed: allow, says: opinion(agent.Allow, `{"txt":1}`), want: agent.OutcomeDenied, by: agent.ByCallback},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
			r.cfg.Gate = agent.GateFunc(func(_ context.Context, c agent.GateCall) agent.Verdict {
				if textOf(c.Input) == "a" {
					return tt.verdict
				}
				return tt.changed
			})
			if tt.hook {
				r.cfg.Hooks = at(agent.HookPermissionRequest, agent.HookAdvice{Decision: agent.Allow})
			}
			asked := 0
			r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
				asked++
				return agent.Answer{Decision: agent.Deny}, nil
			})
			r.open().SetCanUseTool(func(context.Context, agent.GateCall) *agent.CanUseToolResult { return tt.says })
			ends := find[agent.ToolCallEnd](r.run("go"))
			if len(ends) != 1 || ends[0].Outcome != tt.want || asked != tt.asked || ends[0].Authority.By != tt.by || tt.output != "" && ends[0].Output != tt.output {
				t.Errorf("asked %d times, %+v by %+v", asked, ends, ends[0].Authority)
			}
		})
	}
}

// A program that fails is not taken for one that allows.
func TestCanUseToolThatPanics(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."}))
	r.open().SetCanUseTool(func(context.Context, agent.GateCall) *agent.CanUseToolResult { panic("no") })
	if ends := find[agent.ToolCallEnd](r.run("go")); len(ends) != 1 || ends[0].Outcome != agent.OutcomeDenied {
		t.Errorf("%+v", ends)
	}
}

// Settings are changed while the session's goroutine records earlier ones.
func TestSettingsFromOtherGoroutines(t *testing.T) {
	t.Parallel()
	s := newRig(t, llmtest.Script()).open()
	var changing sync.WaitGroup
	var enough atomic.Bool
	for _, change := range []func(){
		func() { s.SetPermissionMode(agent.ModePlan) },
		func() { s.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeAuto}) },
	} {
		changing.Go(func() {
			for !enough.Load() {
				change()
				runtime.Gosched()
			}
		})
	}
	for recorded := 0; recorded < 100; runtime.Gosched() {
		if _, ok := s.RecordSettings(); ok {
			recorded++
		}
	}
	enough.Store(true)
	changing.Wait()
}

// OAS-629: setting the mode, or no function, returns to what the gate decides.
func TestModeClearsCanUseTool(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*agent.Session)
		want   agent.Outcome
	}{
		"nothing":       {func(*agent.Session) {}, agent.OutcomeDenied},
		"no function":   {func(s *agent.Session) { s.SetCanUseTool(nil) }, agent.OutcomeDone},
		"the same mode": {func(s *agent.Session) { s.SetPermissionMode(agent.ModeDefault) }, agent.OutcomeDone},
		"another mode":  {func(s *agent.Session) { s.SetPermissionMode(agent.ModeAuto) }, agent.OutcomeDone},
		"settings with another mode": {func(s *agent.Session) {
			s.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeAuto})
		}, agent.OutcomeDone},
		"settings with the same mode": {func(s *agent.Session) {
			s.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m2", Mode: agent.ModeDefault})
		}, agent.OutcomeDenied},
	} {
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."}))
		s := r.open()
		s.SetCanUseTool(func(context.Context, agent.GateCall) *agent.CanUseToolResult { return opinion(agent.Deny, "") })
		tt.change(s)
		if ends := find[agent.ToolCallEnd](r.run("go")); len(ends) != 1 || ends[0].Outcome != tt.want {
			t.Errorf("%s: %+v", name, ends)
		}
	}
}
