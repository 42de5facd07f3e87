package agent_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// flood is an answer with n calls, a thought before each.
func flood(n int) *answers {
	m := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: "Look!"}}}
	for i := range n {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "Hm."}}, calling(fmt.Sprint("c", i), "Look", fmt.Sprint(i)))
	}
	return &answers{messages: []llm.Message{m, llm.Text(llm.RoleAssistant, "Done.")}}
}

func calling(id, tool, text string) llm.Part {
	return llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: id, Name: tool, Arguments: fmt.Appendf(nil, `{"text":%q}`, text)}}
}

// answers is a model that gives messages as they are.
type answers struct {
	messages []llm.Message
	asked    []llm.Request
}

func (a *answers) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		m := a.messages[len(a.asked)]
		a.asked = append(a.asked, req)
		if !yield(llm.Event{Type: llm.EventStart}, nil) {
			return
		}
		for i, p := range m.Parts {
			if p.Kind == llm.PartToolCall && !yield(llm.Event{Type: llm.EventToolCallStart, Index: i, Part: &p}, nil) {
				return
			}
		}
		yield(llm.Event{Type: llm.EventFinish, Answer: &llm.Answer{Message: m, Finish: llm.Finish{Reason: llm.FinishToolCalls}}}, nil)
	}
}

// Of an answer with very many calls only the first are run, kept and shown; the
// model and the user are told so in one event each.
func TestVeryManyCalls(t *testing.T) {
	t.Parallel()
	const calls, most = 10_000, 128
	model := flood(calls)
	r := newRig(t, model)
	events := r.run("go")
	if starts, ends := find[agent.ToolCallStart](events), find[agent.ToolCallEnd](events); len(starts) != most || len(ends) != most {
		t.Errorf("%d calls were begun, %d ended", len(starts), len(ends))
	}
	if n := len(find[agent.CallDraft](events)); n != most {
		t.Errorf("%d drafts", n)
	}
	if n := len(events); n > 5*most {
		t.Errorf("%d events", n)
	}
	warned, told := find[agent.Warning](events), find[agent.SteeringInjected](events)
	if len(warned) != 1 || len(told) != 1 || !told[0].ByLoop || !strings.Contains(told[0].Text, "Only the first 128 were run; the other 9872 were left out.") {
		t.Errorf("warned %+v, told %+v", warned, told)
	}
	sent := model.asked[1].Messages
	if kept := sent[1]; len(kept.Calls()) != most || kept.Parts[len(kept.Parts)-1].Kind != llm.PartToolCall {
		t.Errorf("%d calls are sent back", len(kept.Calls()))
	}
	if len(sent[2].Parts) != most || sent[3].Text() != agent.Reminder(told[0].Text) {
		t.Errorf("the model reads %d results, then %q", len(sent[2].Parts), sent[3].Text())
	}
	r.open()
	if got := r.session.Transcript().State; got != agent.StateIdle {
		t.Errorf("opened again it is %s", got)
	}
}

// An interrupt in the midst of many calls ends the turn without running another,
// and without deciding about one: no hook and no person is asked any more.
func TestStopAmongManyCalls(t *testing.T) {
	t.Parallel()
	ran, judged := 0, 0
	r := newRig(t, flood(10_000), note{name: "Look", run: func(context.Context, agent.Invocation) agent.Result {
		ran++
		return agent.Result{Output: "seen"}
	}})
	r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict {
		judged++
		return agent.Verdict{Decision: agent.Allow}
	})
	r.open()
	var events []agent.Event
	for ev, err := range r.session.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if events = append(events, r.store(ev)); ev.Kind() == agent.KindToolCallEnd {
			r.session.Interrupt()
		}
	}
	if ran > 2 || end(t, events) != agent.EndInterrupted {
		t.Errorf("%d calls ran", ran)
	}
	if starts := len(find[agent.ToolCallStart](events)); judged > 2 || starts > 2 {
		t.Errorf("%d calls ran, %d were decided about and %d begun", ran, judged, starts)
	}
}

// R-CRASH, LLM-23: calls that a model gave no id, or one twice, each run once and have each
// their result, in this answer and beside those of earlier ones.
func TestRepeatedCallIDs(t *testing.T) {
	t.Parallel()
	model := &answers{messages: []llm.Message{
		{Role: llm.RoleAssistant, Parts: []llm.Part{calling("c", "Look", "0"), calling("c", "Look", "1"), calling("", "Look", "2"), calling("", "Note", "3")}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{calling("c", "Look", "4"), calling("c", "", "5"), calling("d", strings.Repeat("x.", 100), "6")}},
		llm.Text(llm.RoleAssistant, "Done."),
	}}
	var ran journal
	run := func(_ context.Context, c agent.Invocation) agent.Result {
		ran.note(textOf(c.Input))
		return agent.Result{Output: "result " + textOf(c.Input)}
	}
	r := newRig(t, model, note{name: "Look", readOnly: true, run: run}, note{name: "Note", run: run})
	r.run("go")
	if len(ran.lines) != 5 {
		t.Errorf("ran %q", ran.lines)
	}
	ids := map[string]bool{}
	for _, e := range find[agent.ToolCallEnd](r.log) {
		if e.CallID == "" || ids[e.CallID] {
			t.Errorf("the id %q is used twice", e.CallID)
		}
		ids[e.CallID] = true
	}
	var got []string
	for _, m := range model.asked[2].Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				got = append(got, strings.SplitN(p.Result.Parts[0].Text, ".", 2)[0])
			}
		}
	}
	want := []string{"result 0", "result 1", "result 2", "result 3", "result 4", `Unknown tool: ""`, `Unknown tool: "x`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkReopen opens a session whose log has an answer with very many calls,
// as one could be written by earlier versions.
func BenchmarkReopen(b *testing.B) {
	for _, calls := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(calls), func(b *testing.B) {
			m := flood(calls).messages[0]
			log := []agent.Event{{Data: agent.UserInput{Text: "go"}}, {Data: agent.TextEnd{Message: m}}}
			for _, c := range m.Calls() {
				log = append(log, agent.Event{Data: agent.ToolCallStart{CallID: c.ID}}, agent.Event{Data: agent.ToolCallEnd{CallID: c.ID, Output: "seen"}})
			}
			for b.Loop() {
				var tr agent.Transcript
				for _, ev := range log {
					tr.Apply(ev)
				}
			}
		})
	}
}
