package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// inputsOf returns what hooks were told at one point, without what calls touch.
func (h *hooks) inputsOf(point agent.HookPoint) (out []agent.HookInput) {
	for _, in := range h.inputs {
		if in.Point() == point {
			out = append(out, in)
		}
	}
	return out
}

// about describes a call to hooks.
func about(tool, text string, writes bool) agent.HookTool {
	t := agent.HookTool{Tool: tool, Input: json.RawMessage(`{"text":"` + text + `"}`), CallID: "any"}
	if writes {
		t.Access.Writes = []string{"/notes/" + text}
	}
	return t
}

// anyID takes the ids of calls for equal, as long as there is one.
var anyID = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".CallID" }, cmp.Comparer(func(a, b string) bool { return a != "" && b != "" }))

// OAS-661, K-10: each point that a session's own loop has is fired once, and its
// hooks are told what it is about.
func TestEachPointFiresOnce(t *testing.T) {
	t.Parallel()
	usage := llm.Usage{Input: 5, Output: 2, Known: true}
	note1, look1 := use("Note", "a"), use("Look", "b")
	one := func(in agent.HookInput) []agent.HookInput { return []agent.HookInput{in} }
	for point, c := range map[agent.HookPoint]struct {
		rounds []llmtest.Round
		run    func(*rig)
		want   []agent.HookInput
	}{
		agent.HookSessionStart: {run: func(r *rig) { r.run("go"); r.open(); r.run("on") }, want: []agent.HookInput{
			agent.SessionStartInput{Source: "startup", Model: "m"}, // a session that is read again has not been opened again
		}},
		agent.HookUserPromptSubmit: {want: one(agent.UserPromptSubmitInput{Prompt: "go"})},
		agent.HookPreToolUse:       {rounds: []llmtest.Round{{Calls: []llmtest.Call{note1}}}, want: one(agent.PreToolUseInput{HookTool: about("Note", "a", true)})},
		agent.HookPermissionRequest: {rounds: []llmtest.Round{{Calls: []llmtest.Call{note1, look1}}}, want: one(
			agent.PermissionRequestInput{HookTool: about("Note", "a", true), Reason: "It writes."})},
		agent.HookPermissionDenied: {rounds: []llmtest.Round{{Calls: []llmtest.Call{use("Note", "forbidden")}}}, want: one(
			agent.PermissionDeniedInput{HookTool: about("Note", "forbidden", true), Reason: "This call is not allowed: a rule forbids it.", By: agent.ByMode})},
		agent.HookPostToolUse: {rounds: []llmtest.Round{{Calls: []llmtest.Call{note1}}}, want: one(
			agent.PostToolUseInput{HookTool: about("Note", "a", true), Output: "Note: a"})},
		agent.HookPostToolUseFailure: {rounds: []llmtest.Round{{Calls: []llmtest.Call{look1}}}, want: one(
			agent.PostToolUseFailureInput{HookTool: about("Look", "b", false), Error: "no"})},
		agent.HookPostSampling: {rounds: []llmtest.Round{{Text: "First.", Calls: []llmtest.Call{note1, look1}, Usage: usage}}, want: []agent.HookInput{
			agent.PostSamplingInput{Model: "m", Message: "First.", Calls: 2, Usage: usage},
			agent.PostSamplingInput{Model: "m", Message: "Done.", Usage: llm.Usage{}},
		}},
		agent.HookStop: {want: one(agent.StopInput{Reason: agent.EndDone, Message: "Done."})},
		agent.HookNotification: {rounds: []llmtest.Round{{Calls: []llmtest.Call{note1, look1}}}, want: []agent.HookInput{
			agent.NotificationInput{Type: "permission_prompt", Title: "Approval needed", Message: "Note: It writes."},
			agent.NotificationInput{Type: "turn_done", Title: "The turn is done", Message: "Done."},
		}},
		agent.HookConfigChange: {run: func(r *rig) {
			r.run("go")
			r.session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "n", Mode: agent.ModeDefault})
			r.run("on")
		}, want: one(agent.ConfigChangeInput{Source: agent.SessionSettings})},
		agent.HookSessionEnd: {run: func(r *rig) { r.run("go"); r.session.Close(t.Context()); r.session.Close(t.Context()) },
			want: one(agent.SessionEndInput{Reason: "closed"})},
	} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(append(c.rounds, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})...),
				note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result { return agent.Fail("no") }},
				note{name: "Note"})
			h := &hooks{}
			r.cfg.Hooks = h
			if c.run == nil {
				c.run = func(r *rig) { r.run("go") }
			}
			c.run(r)
			if diff := cmp.Diff(c.want, h.inputsOf(point), anyID); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// OAS-661: a turn that ends early notifies, whatever ended it; one that the user
// stopped does not.
func TestEarlyEndsNotify(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		round llmtest.Round
		set   func(*rig, *hooks)
		want  string
	}{
		"the budget":   {worth(2, look), func(r *rig, _ *hooks) { r.cfg.Limits.Budget = llm.Dollar }, "The budget of the session is spent."},
		"a limit":      {worth(0, look), func(r *rig, _ *hooks) { r.cfg.Limits.Rounds = 1 }, "It reached a limit."},
		"a failure":    {llmtest.Round{Status: 400}, func(*rig, *hooks) {}, "It failed."},
		"a hook":       {worth(0, look), func(_ *rig, h *hooks) { h.advise = at(agent.HookPostSampling, agent.HookAdvice{Stopped: true}).advise }, "A hook ended it."},
		"a refusal":    {llmtest.Round{Text: "No.", Finish: llm.FinishContentFilter}, func(*rig, *hooks) {}, "It failed."},
		"no early end": {llmtest.Round{Text: "Done."}, func(*rig, *hooks) {}, "Done."},
	} {
		r, h := newRig(t, llmtest.Script(tt.round, llmtest.Round{Text: "Done."})), &hooks{}
		r.cfg.Facts, r.cfg.Hooks = facts{}, h
		tt.set(r, h)
		r.run("go")
		told := h.inputsOf(agent.HookNotification)
		if len(told) != 1 || told[0].(agent.NotificationInput).Message != tt.want {
			t.Errorf("%s: %+v", name, told)
		}
	}
}

// OAS-661: the points that need more than an input: a command in another folder, a
// compaction, a turn that is cut short.
func TestOtherPointsFireOnce(t *testing.T) {
	t.Parallel()
	h := &hooks{}
	in := func(dir string) llmtest.Call {
		return llmtest.Use("Run", map[string]string{"dir": dir})
	}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{in(""), in("/sub"), in("/sub")}}, llmtest.Round{Calls: []llmtest.Call{in("")}}, llmtest.Round{Text: "Done."}),
		runner{})
	r.cfg.Gate, r.cfg.Hooks = agent.AllowAll, h
	r.run("go")
	moves := []agent.HookInput{agent.CwdChangedInput{New: "/sub"}, agent.CwdChangedInput{Old: "/sub"}}
	if diff := cmp.Diff(moves, h.inputsOf(agent.HookCwdChanged)); diff != "" {
		t.Error(diff)
	}
	h = &hooks{}
	r, _ = compactRig(t, &compactor{}, llmtest.Round{Text: long(2000), Usage: full(100)})
	r.cfg.Hooks = h
	r.run("go")
	r.collect(r.session.Compact(t.Context(), "the plan"))
	compacted := append(h.inputsOf(agent.HookPreCompact), h.inputsOf(agent.HookPostCompact)...)
	want := []agent.HookInput{
		agent.PreCompactInput{Trigger: agent.CompactManual, Instructions: "the plan"}, agent.PostCompactInput{Trigger: agent.CompactManual, Summary: "In short."},
	}
	if diff := cmp.Diff(want, compacted); diff != "" {
		t.Error(diff)
	}
}

// runner is a tool that runs commands in folders.
type runner struct{}

func (runner) Spec() agent.Spec {
	return agent.Spec{Name: "Run", Description: "Runs.", Schema: json.RawMessage(`{"type":"object","properties":{"dir":{"type":"string"}}}`)}
}
func (runner) Run(context.Context, agent.Invocation) agent.Result { return agent.Result{Output: "ran"} }
func (runner) Access(_ context.Context, input json.RawMessage) agent.Access {
	var in struct{ Dir string }
	_ = json.Unmarshal(input, &in)
	return agent.Access{Command: "make", Dir: in.Dir}
}

// K-10: the steps of one call, with the hooks between them.
func TestHooksInThePipeline(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
	r.cfg.Hooks = &hooks{}
	var steps []string
	for _, ev := range r.run("go") {
		switch d := ev.Data.(type) {
		case agent.HookStart:
			steps = append(steps, string(d.Point))
		case agent.UserInput, agent.TextEnd, agent.ToolCallStart, agent.ToolCallOutput, agent.ToolCallEnd, agent.ApprovalRequest, agent.ApprovalAnswer, agent.ProcessingEnd:
			steps = append(steps, string(ev.Kind()))
		}
	}
	want := []string{
		"user_input", "sessionStart", "userPromptSubmit", "assistant_text_end", "postSampling",
		"tool_call_start", "preToolUse", "permissionRequest", "approval_request", "notification", "approval_answer",
		"tool_call_output_delta", "postToolUse", "tool_call_end",
		"assistant_text_end", "postSampling", "stop", "notification", "processing_end",
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

// OAS-661, LOOP-14: a message that steers is a prompt too.
func TestHooksRefuseSteering(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."})
	r := newRig(t, model)
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		switch in := c.Data.(type) {
		case agent.PreToolUseInput:
			r.session.Steer("the secret")
			r.session.Steer("be quick")
		case agent.UserPromptSubmitInput:
			if in.Prompt == "the secret" {
				return agent.HookAdvice{Decision: agent.Deny, Reason: "No."}
			}
		}
		return agent.HookAdvice{}
	}}
	events := r.run("go")
	got := find[agent.SteeringInjected](events)
	if len(got) != 2 || !got[0].Refused || got[0].Text != "the secret" || got[1].Refused {
		t.Errorf("steered %+v", got)
	}
	if sent := sent(model); strings.Contains(sent, "secret") || !strings.Contains(sent, "be quick") {
		t.Errorf("sent %s", sent)
	}
}

// OAS-668: `continue: false` ends the turn after the point where a hook says it.
// Calls that have not run by then do not run, and the turn can be continued.
func TestHooksEndTheTurn(t *testing.T) {
	t.Parallel()
	for point, want := range map[agent.HookPoint]struct {
		requests int
		outcomes []agent.Outcome
	}{
		agent.HookSessionStart:     {},
		agent.HookUserPromptSubmit: {},
		agent.HookPostSampling:     {1, []agent.Outcome{agent.OutcomeInterrupted, agent.OutcomeInterrupted}},
		agent.HookPreToolUse:       {1, []agent.Outcome{agent.OutcomeDenied, agent.OutcomeInterrupted}},
		agent.HookPostToolUse:      {1, []agent.Outcome{agent.OutcomeDone, agent.OutcomeInterrupted}},
		agent.HookStop:             {2, []agent.Outcome{agent.OutcomeDone, agent.OutcomeDone}},
	} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a"), use("Note", "b")}}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
			r := newRig(t, model)
			by := &agent.HookSource{Name: "curfew", File: "settings.json"}
			h := at(point, agent.HookAdvice{Stopped: true, Stop: "Enough.", StoppedBy: by})
			r.cfg.Hooks = h
			r.open().FollowUp("then this")
			events := r.run("go")
			var outcomes []agent.Outcome
			for _, call := range find[agent.ToolCallEnd](events) {
				outcomes = append(outcomes, call.Outcome)
				if a := call.Authority; call.Outcome == agent.OutcomeDenied && (a == nil || cmp.Diff(by, a.Hook) != "") {
					t.Errorf("denied by %+v", a)
				}
			}
			if diff := cmp.Diff(want.outcomes, outcomes); diff != "" {
				t.Error(diff)
			}
			if w := find[agent.Warning](events); end(t, events) != agent.EndStopped || len(w) != 1 || w[0].Message != "A hook ended this turn. Enough." {
				t.Errorf("ended as %s, warned %+v", end(t, events), w)
			}
			if n := len(model.Requests()); n != want.requests || len(h.inputsOf(agent.HookStop)) != 1 || !r.session.Queue().Has(agent.FollowUp) {
				t.Errorf("%d requests, %v", n, h.fired)
			}
			r.cfg.Hooks = nil
			r.open()
			if events := r.collect(r.session.Continue(t.Context())); end(t, events) != agent.EndDone {
				t.Errorf("continued to %s", end(t, events))
			}
		})
	}
}

// OAS-668: hooks answer instead of a person, where the question is not one that
// only a person may answer.
func TestHooksAnswerInsteadOfAPerson(t *testing.T) {
	t.Parallel()
	allow, deny := agent.HookAdvice{Decision: agent.Allow, Reason: "Fine."}, agent.HookAdvice{Decision: agent.Deny, Reason: "Not today."}
	other := func(text string, d agent.Decision) agent.HookAdvice {
		return agent.HookAdvice{Decision: d, Input: json.RawMessage(`{"text":"` + text + `"}`)}
	}
	ask := agent.Verdict{Decision: agent.Ask, Reason: "It writes."}
	final, each, unsaid := ask, ask, ask
	final.Final, each.EachTime, unsaid.Decision = true, true, ""
	for name, c := range map[string]struct {
		verdict agent.Verdict
		before  agent.HookAdvice // at preToolUse
		advice  agent.HookAdvice
		asked   int
		ends    agent.Outcome
		by      agent.Authoriser
		told    string
	}{
		"nothing":                           {ask, agent.HookAdvice{}, agent.HookAdvice{}, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"an allow":                          {ask, agent.HookAdvice{}, allow, 0, agent.OutcomeDone, agent.ByHook, "Note: a"},
		"an allow of what nobody decided":   {unsaid, agent.HookAdvice{}, allow, 0, agent.OutcomeDone, agent.ByHook, "Note: a"},
		"a deny":                            {ask, agent.HookAdvice{}, deny, 0, agent.OutcomeDenied, agent.ByHook, "Not today."},
		"an ask":                            {ask, agent.HookAdvice{}, agent.HookAdvice{Decision: agent.Ask}, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"an allow of what is final":         {final, agent.HookAdvice{}, allow, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"a deny of what is final":           {final, agent.HookAdvice{}, deny, 0, agent.OutcomeDenied, agent.ByHook, "Not today."},
		"an allow of what is asked always":  {each, agent.HookAdvice{}, allow, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"an allow of what another hook ask": {agent.Verdict{Decision: agent.Allow}, agent.HookAdvice{Decision: agent.Ask}, allow, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"an allow of what a person must":    {ask, agent.HookAdvice{Decision: agent.Ask, Final: true}, allow, 1, agent.OutcomeDone, agent.ByPerson, "Note: a"},
		"another input":                     {ask, agent.HookAdvice{}, other("b", agent.Allow), 0, agent.OutcomeDone, agent.ByHook, "Note: b"},
		"another input, undecided":          {ask, agent.HookAdvice{}, other("b", ""), 1, agent.OutcomeDone, agent.ByPerson, "Note: b"},
		"another input, denied":             {ask, agent.HookAdvice{}, other("forbidden", agent.Allow), 0, agent.OutcomeDenied, agent.ByMode, "a rule forbids it"},
		"another input, stricter":           {ask, agent.HookAdvice{}, other("final", agent.Allow), 1, agent.OutcomeDone, agent.ByPerson, "Note: final"},
		"another input, not valid":          {ask, agent.HookAdvice{}, agent.HookAdvice{Decision: agent.Allow, Input: json.RawMessage(`{}`)}, 0, agent.OutcomeDenied, agent.ByHook, "not valid"},
		"words":                             {ask, agent.HookAdvice{}, agent.HookAdvice{Decision: agent.Allow, Context: "mind the gap"}, 0, agent.OutcomeDone, agent.ByHook, "Note: a\n\nmind the gap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."}))
			r.cfg.Gate = agent.GateFunc(func(_ context.Context, g agent.GateCall) agent.Verdict {
				switch textOf(g.Input) {
				case "forbidden":
					return agent.Verdict{Decision: agent.Deny, Reason: "a rule forbids it.", Final: true}
				case "final":
					return agent.Verdict{Decision: agent.Ask, Reason: "It is a protected file.", Final: true}
				}
				return c.verdict
			})
			r.cfg.Hooks = &hooks{advise: func(h agent.HookCall) agent.HookAdvice {
				switch h.Point() {
				case agent.HookPreToolUse:
					return c.before
				case agent.HookPermissionRequest:
					return c.advice
				}
				return agent.HookAdvice{}
			}}
			events := r.run("go")
			ended := find[agent.ToolCallEnd](events)[0]
			if ended.Outcome != c.ends || ended.Authority.By != c.by || !strings.Contains(ended.ForModel(), c.told) {
				t.Errorf("%s by %s: %q", ended.Outcome, ended.Authority.By, ended.ForModel())
			}
			if asked := len(find[agent.ApprovalRequest](events)); asked != c.asked {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// OAS-668: what hooks put in the place of a result is told to the model, reduced
// like the result itself. The log and the person keep the result.
func TestHooksReplaceAnOutput(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."})
	picture := llm.Media{MIME: "image/png", Data: []byte("picture")}
	r := newRig(t, model, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: "the key is 42", Media: []llm.Media{picture}}
	}})
	instead := "the key is hidden"
	r.cfg.Hooks = at(agent.HookPostToolUse, agent.HookAdvice{Output: &instead, Context: "as you wish"})
	r.cfg.Reduce = func(_, output string, _ int) string { return strings.ReplaceAll(output, "hidden", "[redacted]") }
	ended := find[agent.ToolCallEnd](r.run("go"))[0]
	if ended.Output != "the key is 42" || ended.ForModel() != "the key is [redacted]\n\nas you wish" || len(ended.Media) != 1 || !ended.Withheld {
		t.Errorf("%+v", ended)
	}
	newest := model.Requests()[1].Messages
	for _, p := range newest[len(newest)-1].Parts[0].Result.Parts {
		if strings.Contains(p.Text, "42") || p.Kind == llm.PartMedia {
			t.Errorf("sent %+v", p)
		}
	}
}

// OAS-668: hooks name a session, but not one that its user has named.
func TestHooksNameTheSession(t *testing.T) {
	t.Parallel()
	for _, byUser := range []bool{false, true} {
		for _, point := range []agent.HookPoint{agent.HookUserPromptSubmit, agent.HookPostToolUse} {
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a"), use("Look", "b")}}, llmtest.Round{Text: "Done."}))
			r.cfg.Hooks = at(point, agent.HookAdvice{Title: " The\nnew   lamp " + strings.Repeat("x", 100)})
			r.open()
			r.store(r.session.Record(agent.Title{Text: "Mine", ByUser: byUser}))
			titles := find[agent.Title](r.run("go"))
			if byUser != (len(titles) == 0) || len(titles) > 1 {
				t.Errorf("%s, by the user %t: %+v", point, byUser, titles)
			}
			if len(titles) == 1 && (!titles[0].ByHook || !strings.HasPrefix(titles[0].Text, "The new lamp xxx") || len([]rune(titles[0].Text)) != 80) {
				t.Errorf("%+v", titles)
			}
		}
	}
}

// OAS-668: what hooks say at a point that is not about a call reaches the model.
func TestHooksTellTheModelAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []agent.HookPoint{
		agent.HookSessionStart, agent.HookUserPromptSubmit, agent.HookPostSampling, agent.HookPermissionDenied, agent.HookNotification, agent.HookStop,
	} {
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "forbidden")}}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
		r := newRig(t, model)
		r.cfg.Hooks = at(point, agent.HookAdvice{Context: "the build is red"})
		r.run("go")
		r.run("on")
		if !strings.Contains(sent(model), "the build is red") {
			t.Errorf("%s: sent %s", point, sent(model))
		}
	}
}

// K-34: hooks that hang at the end of an interrupted turn, or of a session, end
// soon; those of a turn that is still running end with it.
func TestHooksOfAnEndEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, at := range []agent.HookPoint{agent.HookStop, agent.HookSessionEnd} {
			for _, interrupt := range []bool{false, true} {
				r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "Done."}))
				r.cfg.Hooks = hanging{at, func() {
					if at == agent.HookStop && !interrupt {
						r.session.Interrupt() // while the hooks hang
					}
				}}
				r.open()
				if interrupt {
					r.use(note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
						r.session.Interrupt()
						return agent.Result{}
					}})
					r.open()
				}
				begin := time.Now()
				r.run("go")
				r.session.Close(t.Context())
				waited := time.Since(begin)
				want := 10 * time.Second
				if at == agent.HookSessionEnd {
					want = 1500 * time.Millisecond // the program that ends waits for it
				} else if !interrupt {
					want = 0 // of the time that is left after the interrupt
				}
				if waited < want || waited > want+time.Second {
					t.Errorf("%s, interrupted %t: waited %s", at, interrupt, waited)
				}
			}
		}
	})
}

// hanging is a hook that hangs at one point until its context ends.
type hanging struct {
	at   agent.HookPoint
	then func()
}

func (h hanging) Fire(ctx context.Context, c agent.HookCall, _ func(agent.Payload)) agent.HookAdvice {
	if c.Point() == h.at {
		h.then()
		<-ctx.Done()
	}
	return agent.HookAdvice{}
}

// OAS-661: points outside of a turn are observed from any goroutine, in the mode
// that holds.
func TestObserve(t *testing.T) {
	t.Parallel()
	var calls []agent.HookCall
	r := newRig(t, llmtest.Script())
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		c.Beside = nil // functions are not compared
		calls = append(calls, c)
		return agent.HookAdvice{Context: "noted"}
	}}
	s := r.open()
	s.SetPermissionMode(agent.ModePlan)
	done := make(chan []string)
	go func() {
		var told []string
		advice := s.Observe(t.Context(), agent.TaskCreatedInput{TaskID: "1"}, func(p agent.Payload) { told = append(told, fmt.Sprintf("%T", p)) })
		done <- append(told, advice.Context)
	}()
	if diff := cmp.Diff([]string{"agent.HookStart", "agent.HookOutput", "agent.HookEnd", "noted"}, <-done); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]agent.HookCall{{Session: "s1", Mode: agent.ModePlan, Data: agent.TaskCreatedInput{TaskID: "1"}}}, calls); diff != "" {
		t.Error(diff)
	}
}
