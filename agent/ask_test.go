package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// LOOP-53, LOOP-156, K-20: an answer that breaks off is asked for again; what it had
// streamed is void and none of its calls is run.
func TestRetryAfterBrokenAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, llmtest.Script(
			llmtest.Round{Text: "I was about to", Calls: []llmtest.Call{use("Note", "never")}, Cut: 1},
			llmtest.Round{Status: 503},
			llmtest.Round{Text: "Done."},
		))
		r.cfg.Retry = llm.DefaultRetries
		begin := time.Now()
		events := r.run("go")
		if took := time.Since(begin); took < 4500*time.Millisecond || took > 7500*time.Millisecond { // 2 s and 4 s, ±25 %
			t.Errorf("waited %v", took)
		}
		var codes []string
		for _, d := range find[agent.Retrying](events) {
			codes = append(codes, d.Code)
		}
		if diff := cmp.Diff([]string{"truncated", "overloaded"}, codes); diff != "" {
			t.Error(diff)
		}
		if first := find[agent.Retrying](events)[0]; !first.Sent || first.Attempt != 1 || first.Of != 3 {
			t.Errorf("first: %+v", first)
		}
		if spent := r.session.Transcript().Cost; spent.Unknown != 2 { // the one that broke off, and the scripted answer's
			t.Errorf("spent %+v", spent)
		}
		texts := find[agent.TextEnd](events)
		if len(texts) != 1 || texts[0].Message.Text() != "Done." || len(find[agent.ToolCallStart](events)) != 0 {
			t.Errorf("messages: %+v", texts)
		}
		if end(t, events) != agent.EndDone {
			t.Error("the turn did not end well")
		}
	})
}

// When no try succeeds the last one's text is kept and marked.
func TestRetriesSpent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := llmtest.Round{Text: "I", Cut: 1}
		r := newRig(t, llmtest.Script(broken, broken, broken, broken))
		r.cfg.Retry = llm.DefaultRetries
		events := r.run("go")
		if n := len(find[agent.Retrying](events)); n != 3 {
			t.Errorf("%d retries", n)
		}
		texts := find[agent.TextEnd](events)
		if len(texts) != 1 || texts[0].Finish.Reason != llm.FinishInterrupted || texts[0].Message.Text() != "I" {
			t.Errorf("messages: %+v", texts)
		}
		if end(t, events) != agent.EndFailed {
			t.Error("the turn ended well")
		}
	})
}

// OAS-113, OAS-711: after the retries the fallback model answers, its calls are run and
// the turn goes on, again with the model that was picked.
func TestFallback(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Status: 529}, llmtest.Round{Text: "I was", Cut: 1},
		llmtest.Round{Calls: []llmtest.Call{use("Note", "by the other")}},
		llmtest.Round{Text: "Done."},
	)
	r := newRig(t, model)
	r.cfg.Retry = llm.RetryPolicy{Retries: 1, Base: time.Millisecond, Max: time.Millisecond}
	r.open()
	r.session.Configure(agent.Settings{
		Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault,
		FallbackProvider: llmtest.Provider, FallbackModel: "other",
	})
	events := r.run("go")
	var models []string
	for _, req := range model.Requests() {
		models = append(models, req.Model)
	}
	if diff := cmp.Diff([]string{"m", "m", "other", "m"}, models); diff != "" {
		t.Error(diff)
	}
	if ends := find[agent.ToolCallEnd](events); len(ends) != 1 || ends[0].Output != "Note: by the other" {
		t.Errorf("calls: %+v", ends)
	}
	var said []string
	for _, e := range find[agent.TextEnd](events) {
		said = append(said, fmt.Sprint(e.Model, " ", e.Finish.Reason, " ", e.Message.Text()))
	}
	if diff := cmp.Diff([]string{"m interrupted ", "other tool_calls ", "m stop Done."}, said); diff != "" {
		t.Error(diff)
	}
	if spent := r.session.Transcript().Cost; spent.Unknown != 3 { // what broke off may be charged for too
		t.Errorf("spent %+v", spent)
	}
}

// LOOP-157: a wrong key is not tried again, nor handed to another model.
func TestNoRetryForAuth(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Status: 401})
	r := newRig(t, model)
	r.cfg.Retry = llm.DefaultRetries
	r.open()
	r.session.Configure(agent.Settings{
		Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault,
		FallbackProvider: llmtest.Provider, FallbackModel: "other",
	})
	if end(t, r.run("go")) != agent.EndFailed || len(model.Requests()) != 1 {
		t.Errorf("%d requests", len(model.Requests()))
	}
}

// A provider that asks for a longer wait than anyone would sit through is not
// waited for; the user is told how long it is.
func TestLongRetryAfterIsTold(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Status: 429, RetryAfter: time.Hour})
	r := newRig(t, model)
	r.cfg.Retry = llm.DefaultRetries
	failures := find[agent.Failure](r.run("go"))
	if len(model.Requests()) != 1 || len(failures) != 1 || !strings.Contains(failures[0].Next, "wait 1h.") {
		t.Errorf("%d requests, %+v", len(model.Requests()), failures)
	}
}

// LLM-32: what a provider says of the allowance is told, and not stored.
func TestRateLimitIsTold(t *testing.T) {
	t.Parallel()
	left := llm.RateLimit{Requests: &llm.Allowance{Limit: 50, Remaining: 49}}
	r := newRig(t, llmtest.Script(llmtest.Round{Text: "Hi.", RateLimit: &left}, llmtest.Round{Text: "Again."}))
	want := []agent.RateLimitReport{{Provider: llmtest.Provider, Limit: left}}
	if diff := cmp.Diff(want, find[agent.RateLimitReport](r.run("one"))); diff != "" {
		t.Error(diff)
	}
	if told := find[agent.RateLimitReport](r.run("two")); len(told) != 0 || len(find[agent.RateLimitReport](r.log)) != 0 {
		t.Errorf("told %+v", told)
	}
}

// An interrupt cuts the wait.
func TestInterruptWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		model := llmtest.Script(llmtest.Round{Status: 429, RetryAfter: 50 * time.Second})
		r := newRig(t, model)
		r.cfg.Retry = llm.DefaultRetries
		r.open()
		time.AfterFunc(time.Second, r.session.Interrupt)
		begin := time.Now()
		events := r.run("go")
		if took := time.Since(begin); took != time.Second {
			t.Errorf("took %v", took)
		}
		if got := end(t, events); got != agent.EndInterrupted || len(model.Requests()) != 1 {
			t.Errorf("ended as %s after %d requests", got, len(model.Requests()))
		}
	})
}

// A request that the provider refused never makes a session unusable: the
// conversation is sent again without the provider's own bytes, and stays so.
func TestRefusedConversationIsRepaired(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Reasoning: "Hm.", Text: "One."},
		llmtest.Round{Status: 400, Body: `{"error":{"message":"Could not decrypt the reasoning"}}`},
		llmtest.Round{Text: "Two."},
		llmtest.Round{Status: 400, Body: `{"error":{"message":"Something else"}}`},
	)
	r := newRig(t, model)
	r.run("first")
	events := r.run("second")
	if n := len(find[agent.HistoryRepaired](events)); n != 1 || end(t, events) != agent.EndDone {
		t.Errorf("%d repairs", n)
	}
	for i, req := range model.Requests() {
		if past := len(req.Messages) > 1 && req.Messages[1].Origin != nil; past != (i == 1) {
			t.Errorf("request %d: origin kept %t", i, past)
		}
	}
	r.open() // the repair is in the log
	if events := r.run("third"); len(find[agent.HistoryRepaired](events)) != 0 && end(t, events) != agent.EndFailed {
		t.Errorf("repaired again: %+v", events)
	}
}

// How long the model thought is on the record with its answer, and the time
// that its text took is not part of it.
func TestThinkingIsTimed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, llmtest.Script(llmtest.Round{
			Reasoning: "Let me see what that could mean.", Text: "It means nothing at all.", Pace: time.Second,
		}, llmtest.Round{Text: "I said it."}))
		r.cfg.Now = time.Now
		events := r.run("what?")
		want := int64(len(find[agent.ReasoningDelta](events))-1) * 1000
		if got := find[agent.TextEnd](events)[0].ThinkingMs; got != want || want == 0 {
			t.Errorf("thought for %d ms, want %d", got, want)
		}
		if got := find[agent.TextEnd](r.run("what?"))[0].ThinkingMs; got != 0 {
			t.Errorf("without reasoning: %d ms", got)
		}
	})
}

// LLM-27: each way an answer can end is acted on: a pause is asked to go on, a
// call that cannot be read is asked for again, an overflow is an error.
func TestFinishReasons(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reason   llm.FinishReason
		requests int
		end      agent.EndReason
	}{
		{llm.FinishPause, 2, agent.EndDone},
		{llm.FinishBadToolCall, 2, agent.EndDone},
		{llm.FinishError, 2, agent.EndDone},
		{llm.FinishContextOverflow, 1, agent.EndFailed},
		{llm.FinishLength, 2, agent.EndDone},
		{llm.FinishRefusal, 1, agent.EndFailed},
		{llm.FinishOther, 1, agent.EndDone},
	} {
		t.Run(string(tt.reason), func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(llmtest.Round{Text: "One.", Finish: tt.reason}, llmtest.Round{Text: "Two."})
			r := newRig(t, model)
			r.cfg.Retry = llm.RetryPolicy{Retries: 1, Base: time.Millisecond, Max: time.Millisecond}
			events := r.run("go")
			if got := end(t, events); got != tt.end || len(model.Requests()) != tt.requests {
				t.Errorf("ended as %s after %d requests, want %s after %d", got, len(model.Requests()), tt.end, tt.requests)
			}
			stays := tt.reason == llm.FinishRefusal || tt.reason == llm.FinishOther
			if warnings := find[agent.Warning](events); (len(warnings) == 1) != stays {
				t.Errorf("warned %+v", warnings)
			}
		})
	}
}

// A provider that pauses its answer again and again is asked to go on for a limited
// number of times.
func TestEndlessPauses(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(slices.Repeat([]llmtest.Round{{Text: "Hm.", Finish: llm.FinishPause}}, 30)...)
	events := newRig(t, model).run("go")
	if got := end(t, events); got != agent.EndDone || len(model.Requests()) != 11 {
		t.Errorf("ended as %s after %d requests", got, len(model.Requests()))
	}
	if diff := cmp.Diff([]agent.Warning{agent.Warn(agent.WarnPaused, "11")}, find[agent.Warning](events)); diff != "" {
		t.Error(diff)
	}
}
