package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

func use(tool, text string) llmtest.Call {
	return llmtest.Use(tool, map[string]string{"text": text})
}

// LOOP-32: of two tools with one name the later one is used.
func TestLaterToolWins(t *testing.T) {
	t.Parallel()
	first, second := note{name: "Look", readOnly: true}, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: "second"}
	}}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "ok"}), first, second)
	if got := find[agent.ToolCallEnd](r.run("go")); len(got) != 1 || got[0].Output != "second" {
		t.Errorf("ends = %+v", got)
	}
}

// LOOP-118: a tool that panics gives an error result and the turn goes on.
func TestPanicIsAResult(t *testing.T) {
	t.Parallel()
	boom := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result { panic("boom") }}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "ok"}), boom)
	events := r.run("go")
	got := find[agent.ToolCallEnd](events)
	if len(got) != 1 || !got[0].IsError || got[0].Output != "Tool error (Look): boom" {
		t.Errorf("ends = %+v", got)
	}
	if end(t, events) != agent.EndDone {
		t.Error("the turn did not go on")
	}
}

// LOOP-11, LOOP-119, OAS-106: reading calls run side by side, ten at a time.
func TestReadersRunTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails at once where ten never come
		const calls, most = 25, 10
		var running, peak atomic.Int32
		full := make(chan struct{})
		look := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
			n := running.Add(1)
			defer running.Add(-1)
			if n > peak.Load() {
				peak.Store(n)
			}
			if n == most {
				select {
				case <-full:
				default:
					close(full)
				}
			}
			<-full // nobody goes on before ten have come
			return agent.Result{Output: "seen"}
		}}
		var round llmtest.Round
		for i := range calls {
			round.Calls = append(round.Calls, use("Look", fmt.Sprint(i)))
		}
		r := newRig(t, llmtest.Script(round, llmtest.Round{Text: "ok"}), look)
		if got := len(find[agent.ToolCallEnd](r.run("go"))); got != calls {
			t.Errorf("%d ends, want %d", got, calls)
		}
		if peak.Load() != most {
			t.Errorf("%d ran together, want %d", peak.Load(), most)
		}
	})
}

// K-09, LOOP-106: an interrupt stops what runs, keeps what it gave, answers
// what did not run, and leaves a session that goes on.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Text: "Working.", Calls: []llmtest.Call{use("Note", "slow"), use("Note", "never")}},
		llmtest.Round{Text: "Fine."},
	)
	r := newRig(t, model)
	slow := note{name: "Note", run: func(ctx context.Context, call agent.Invocation) agent.Result {
		r.session.Interrupt()
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), agent.ErrInterrupted) {
			t.Errorf("cause = %v", context.Cause(ctx))
		}
		return agent.Fail("half a note")
	}}
	r.use(slow)
	events := r.run("go")
	var ended []agent.ToolCallEnd
	for _, e := range find[agent.ToolCallEnd](events) {
		ended = append(ended, agent.ToolCallEnd{Output: e.Output, Outcome: e.Outcome, DurationMs: e.DurationMs})
	}
	if diff := cmp.Diff([]agent.ToolCallEnd{
		{Output: "half a note", Outcome: agent.OutcomeInterrupted},
		{Output: "The user interrupted the turn before this call ran.", Outcome: agent.OutcomeInterrupted},
	}, ended); diff != "" {
		t.Error(diff)
	}
	if got := end(t, events); got != agent.EndInterrupted {
		t.Errorf("ended as %s", got)
	}
	if got := end(t, r.run("again")); got != agent.EndDone {
		t.Errorf("second turn ended as %s", got)
	}
	history := model.Requests()[1].Messages
	if answers := history[2]; answers.Role != llm.RoleTool || len(answers.Parts) != 2 {
		t.Errorf("calls were not answered: %+v", history)
	}
}

// K-09: an interrupt while the model streams keeps the text so far.
func TestInterruptKeepsText(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "I think ", Hang: true}))
	r.open()
	var events []agent.Event
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, r.store(ev))
		if ev.Kind() == agent.KindTextDelta {
			r.session.Interrupt()
		}
	}
	kept := find[agent.TextEnd](events)
	if len(kept) != 1 || kept[0].Message.Text() != "I " || kept[0].Finish.Reason != llm.FinishInterrupted {
		t.Errorf("kept %+v", kept)
	}
	if got := end(t, events); got != agent.EndInterrupted {
		t.Errorf("ended as %s", got)
	}
}

// LOOP-104: the round limit ends a turn; the next input starts counting anew.
func TestRoundLimit(t *testing.T) {
	t.Parallel()
	round := llmtest.Round{Calls: []llmtest.Call{use("Look", "again")}}
	r := newRig(t, llmtest.Script(round, round, round, llmtest.Round{Text: "ok"}))
	r.cfg.Limits.Rounds = 2
	events := r.run("go")
	if diff := cmp.Diff([]agent.TurnLimit{{Limit: "rounds", Count: 2}}, find[agent.TurnLimit](events)); diff != "" {
		t.Error(diff)
	}
	if got := end(t, events); got != agent.EndLimit {
		t.Errorf("ended as %s", got)
	}
	if got := end(t, r.run("go on")); got != agent.EndDone {
		t.Errorf("second turn ended as %s", got)
	}
}

// LOOP-105: the turn limit counts the model's messages over all inputs.
func TestTurnLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "one"}, llmtest.Round{Text: "two"}))
	r.cfg.Limits.Turns = 1
	r.run("go")
	if got := end(t, r.run("go on")); got != agent.EndLimit {
		t.Errorf("ended as %s", got)
	}
}

// LOOP-132, LOOP-134, LOOP-135: a steering message is delivered after the
// tools that are running, as the user's words.
func TestSteer(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}, llmtest.Round{Text: "ok"})
	r := newRig(t, model)
	look := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		r.session.Steer("only the header")
		return agent.Result{Output: "seen"}
	}}
	r.use(look)
	events := r.run("go")
	if diff := cmp.Diff([]agent.SteeringInjected{{Text: "only the header", QueueID: "id-1"}}, find[agent.SteeringInjected](events)); diff != "" {
		t.Error(diff)
	}
	last := model.Requests()[1].Messages
	if m := last[len(last)-1]; m.Role != llm.RoleUser || m.Text() != "only the header" {
		t.Errorf("last message is %+v", m)
	}
}

// LOOP-136, LOOP-137: settings changed in a turn hold from its next request
// on and are recorded there; the permission mode holds at once.
func TestConfigure(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "ok"})
	r := newRig(t, model)
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		t.Error("asked although the mode asks no more")
		return agent.Answer{}, nil
	})
	r.open()
	set := agent.Settings{Provider: llmtest.Provider, Model: "other", Effort: llm.EffortHigh, Mode: agent.ModeBypass}
	var kinds []agent.Kind
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		r.store(ev)
		if ev.Durable() {
			kinds = append(kinds, ev.Kind())
		}
		if ev.Kind() == agent.KindTextEnd && len(model.Requests()) == 1 {
			r.session.Configure(set)
		}
	}
	want := []agent.Kind{
		agent.KindUserInput, agent.KindBriefing, agent.KindTextEnd, agent.KindToolCallStart, agent.KindToolCallEnd,
		agent.KindSettings, agent.KindBriefing, agent.KindTextEnd, agent.KindProcessingEnd,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	requests := model.Requests()
	if requests[0].Model != "m" || requests[1].Model != "other" || requests[1].Effort != llm.EffortHigh {
		t.Errorf("models %s, %s; effort %s", requests[0].Model, requests[1].Model, requests[1].Effort)
	}
}

// LOOP-10: what one request sent stands unchanged at the beginning of the next.
func TestPrefixIsStable(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Text: "a", Calls: []llmtest.Call{use("Look", "a")}},
		llmtest.Round{Text: "b", Calls: []llmtest.Call{use("Note", "b")}},
		llmtest.Round{Text: "c"},
	)
	r := newRig(t, model)
	r.run("go")
	requests := model.Requests()
	for i := 1; i < len(requests); i++ {
		was, is := requests[i-1], requests[i]
		if diff := cmp.Diff(was.Messages, is.Messages[:len(was.Messages)]); diff != "" {
			t.Errorf("request %d changed its past: %s", i, diff)
		}
		if was.System != is.System || !cmp.Equal(was.Tools, is.Tools) {
			t.Errorf("request %d changed system or tools", i)
		}
	}
}

// A session belongs to one run at a time.
func TestBusy(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "a"}))
	r.open()
	for ev := range r.session.Run(t.Context(), "go") {
		if ev.Kind() != agent.KindUserInput {
			continue
		}
		for _, err := range r.session.Run(t.Context(), "meanwhile") {
			if !errors.Is(err, agent.ErrBusy) {
				t.Errorf("err = %v", err)
			}
		}
	}
}

// A caller that stops ranging stops everything: the tool's context ends.
func TestBreak(t *testing.T) {
	t.Parallel()
	stopped := make(chan struct{})
	look := note{name: "Look", readOnly: true, run: func(ctx context.Context, call agent.Invocation) agent.Result {
		call.Output("begun")
		<-ctx.Done()
		close(stopped)
		return agent.Fail("stopped")
	}}
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a")}}), look)
	r.open()
	for ev := range r.session.Run(t.Context(), "go") {
		if ev.Kind() == agent.KindToolCallOutput {
			break
		}
	}
	<-stopped
}

// OAS-725: a switch of the model is in the program's log, other changes are not.
func TestModelSwitchIsLogged(t *testing.T) { // not parallel: the log is the process's
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	r := newRig(t, llmtest.Script())
	set := r.open().Transcript().Settings
	for _, change := range []func(){func() { set.Mode = agent.ModePlan }, func() { set.Model = "other" }} {
		change()
		r.session.Configure(set)
		if ev, ok := r.session.RecordSettings(); !ok || ev.Kind() != agent.KindSettings {
			t.Fatalf("%+v %t", ev, ok)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg="model switched" module=agent session=s1 from=script/m to=script/other`) {
		t.Errorf("logged %q", got)
	}
}

// kinds are the kinds of the last events.
func kinds(events []agent.Event, n int) (out []agent.Kind) {
	for _, ev := range events[max(0, len(events)-n):] {
		out = append(out, ev.Kind())
	}
	return out
}

// LOOP-17, LOOP-54, LOOP-106, LOOP-154, LOOP-159: an abort stops the tools, ends
// the turn and closes the session, in this order; it goes on only when it is
// opened again.
func TestAbort(t *testing.T) {
	t.Parallel()
	var r *rig
	stopped := false
	r = newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "On."}),
		note{name: "Look", readOnly: true, run: func(ctx context.Context, _ agent.Invocation) agent.Result {
			r.session.Abort()
			<-ctx.Done()
			stopped = true
			return agent.Fail("stopped")
		}})
	r.open().Abort() // nothing is under way
	events := r.run("go")
	want := []agent.Kind{agent.KindToolCallEnd, agent.KindProcessingEnd, agent.KindSessionEnd}
	if diff := cmp.Diff(want, kinds(events, 3)); diff != "" || !stopped {
		t.Errorf("stopped %t, %s", stopped, diff)
	}
	if events := r.session.Close(t.Context()); events != nil {
		t.Error("it was closed twice")
	}
	for _, err := range r.session.Run(t.Context(), "go on") {
		if !errors.Is(err, agent.ErrClosed) {
			t.Errorf("a closed session ran: %v", err)
		}
	}
	if got := end(t, r.run("go on")); got != agent.EndDone { // which opens it again
		t.Errorf("ended as %s", got)
	}
	if got := kinds(r.session.Close(t.Context()), 9); !slices.Equal(got, []agent.Kind{agent.KindSessionEnd}) || r.session.Transcript().State != agent.StateClosed {
		t.Errorf("closed with %s", got)
	}
}

// LOOP-157: a key that is not accepted closes the session; other failures leave
// it open.
func TestAuthClosesTheSession(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]agent.Kind{401: agent.KindSessionEnd, 404: agent.KindProcessingEnd} {
		r := newRig(t, llmtest.Script(llmtest.Round{Status: status}))
		if got := kinds(r.run("go"), 1); got[0] != want {
			t.Errorf("%d ends with %s", status, got[0])
		}
	}
}

// A conversation's subject is taken from its user's inputs and the last answer
// to each; steering and suggestions are left out.
func TestExchanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "I look.", Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Seen."}))
	r.run("one")
	r.session.Record(agent.SteeringInjected{Text: "be quick"})
	r.session.Record(agent.PromptSuggestion{Text: "Look again"})
	r.session.Record(agent.UserInput{Text: "two"})
	r.session.Record(agent.UserInput{Text: "Review all changes since main.", Typed: "/review main"})
	want := []agent.LastExchange{{Input: "one", Answer: "Seen."}, {Input: "two"}, {Input: "/review main"}}
	if diff := cmp.Diff(want, r.session.Transcript().Exchanges()); diff != "" {
		t.Error(diff)
	}
}
