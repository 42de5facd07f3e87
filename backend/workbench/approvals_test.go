package workbench_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

func (p *page) waiting() []backend.Approval {
	p.t.Helper()
	return must[workbench.ApprovalList](p, "approvals.list", backend.Empty{}).Approvals
}

// OAS-630: a request waits while no process runs its session. It is listed, and an
// answer opens the session and continues it under the same request, without a
// page that shows it.
func TestAnswerOpensTheSession(t *testing.T) {
	t.Parallel()
	for _, inMemory := range []bool{false, true} {
		p, id, request := hanging(t, llmtest.Round{Text: "Done."})
		folder, home, server := p.folder, p.home, llmtest.Serve(t, llmtest.Round{Text: "Done."})
		another := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
		answer := workbench.AnswerRequest{Session: another, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow}}
		if _, err := call[backend.Empty](p, "conversation.answer", answer); err == nil || err.Code != backend.CodeBusy {
			t.Errorf("for another session: %v", err)
		}
		p.close() // the request stays pending
		p = newPage(t, folder, home, environment(server, "sk-test"))
		if inMemory {
			must[conversation.QueueReply](p, "queue.add", conversation.QueueAddRequest{Session: id, Verb: agent.Steer, Text: "x"})
		}
		waits := p.waiting()
		if len(waits) != 1 || waits[0].Session != id || waits[0].Request.ID != request.ID || waits[0].Title != "write it" || waits[0].Request.Changes == nil {
			t.Fatalf("listed: %+v", waits)
		}
		answer.Session = id
		must[backend.Empty](p, "conversation.answer", answer)
		if got := await(p, anyOf[agent.ApprovalAnswer]); got.ID != request.ID {
			t.Errorf("answered %+v", got)
		}
		if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
			t.Errorf("ended as %s", end.Reason)
		}
		if waits := p.waiting(); len(waits) != 0 {
			t.Errorf("still listed: %+v", waits)
		}
		if _, err := call[backend.Empty](p, "conversation.answer", answer); err == nil || err.Code != backend.CodeNotFound {
			t.Errorf("a second answer: %v", err)
		}
	}
}

// A request of a session that another process runs stays pending: only that
// process can answer it.
func TestAnswerElsewhere(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "Done."})
	other := newPage(t, p.folder, p.home, environment(llmtest.Serve(t), "sk-test"))
	answer := workbench.AnswerRequest{Session: id, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow}}
	if _, err := call[backend.Empty](other, "conversation.answer", answer); err == nil || err.ID != backend.ProblemApprovalElsewhere {
		t.Errorf("where it does not run: %v", err)
	}
	if waits := other.waiting(); len(waits) != 1 || waits[0].Request.ID != request.ID {
		t.Errorf("then it lists %+v", waits)
	}
	p.allow(id, request)
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
}

// Of several answers at the same moment, one counts, and the others are told so.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "Done."})
	folder, home := p.folder, p.home
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t, llmtest.Round{Text: "Done."}), "sk-test"))
	var wg sync.WaitGroup
	counted := make(chan agent.Decision, 8)
	for at := range cap(counted) {
		wg.Go(func() {
			d := []agent.Decision{agent.Allow, agent.Deny}[at%2]
			_, err := call[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: request.ID, Answer: agent.Answer{Decision: d}})
			switch {
			case err == nil:
				counted <- d
			case err.ID != backend.ProblemApprovalAnswered:
				t.Errorf("refused with %v", err)
			}
		})
	}
	wg.Wait()
	if len(counted) != 1 {
		t.Fatalf("%d answers counted", len(counted))
	}
	if got, want := await(p, anyOf[agent.ApprovalAnswer]).Answer.Decision, <-counted; got != want {
		t.Errorf("%s was recorded, %s counted", got, want)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// An answer at the moment of a stop either counts or is dropped with the turn:
// nothing waits afterwards, and nothing runs that was not answered.
func TestAnswerAndStop(t *testing.T) {
	t.Parallel()
	for range 8 {
		p, id, request := hanging(t, llmtest.Round{Text: "Done."})
		var wg sync.WaitGroup
		wg.Go(func() { must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id}) })
		wg.Go(func() {
			_, err := call[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{
				Session: id, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow},
			})
			if err != nil && err.ID != backend.ProblemApprovalAnswered {
				t.Errorf("refused with %v", err)
			}
		})
		wg.Wait()
		await(p, anyOf[agent.ProcessingEnd])
		if waits := p.waiting(); len(waits) != 0 {
			t.Errorf("waits: %+v", waits)
		}
		events, err := p.store.Events(t.Context(), backend.EventRange{Session: id})
		if err != nil {
			t.Fatal(err)
		}
		answered := false
		for _, ev := range events {
			switch d := ev.Data.(type) {
			case agent.ApprovalAnswer:
				answered = true
			case agent.ToolCallEnd:
				if d.Outcome == agent.OutcomeDone && !answered {
					t.Errorf("it ran without an answer: %+v", d)
				}
			}
		}
	}
}

// forgetful is a store that cannot list what waits.
type forgetful struct{ *storage.Store }

func (forgetful) Approvals(context.Context, string) ([]backend.Approval, error) {
	return nil, errors.New("no")
}

func TestApprovalsThatCannotBeListed(t *testing.T) {
	t.Parallel()
	p := newPageOn(t, environment(llmtest.Serve(t), "sk-test"), func(s *storage.Store) backend.Store { return forgetful{s} })
	if _, err := call[workbench.ApprovalList](p, "approvals.list", backend.Empty{}); err == nil {
		t.Error("the failure was not reported")
	}
}

// run is a round that asks about a command.
func run(command string) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": command})}}
}

// crowd returns sessions that ask about the same command, and one that asks about
// another.
func crowd(t *testing.T) (p *page, same [2]backend.Approval, other backend.Approval) {
	t.Helper()
	server := llmtest.Serve(t, run("touch a"), run("touch a"), run("touch b"), llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."})
	p = newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	for range 3 {
		p.send(p.session("compat"), "do it")
		await(p, anyOf[agent.ApprovalRequest])
	}
	waits := p.waiting()
	if len(waits) != 3 {
		t.Fatalf("%d wait", len(waits))
	}
	return p, [2]backend.Approval{waits[0], waits[1]}, waits[2]
}

func (p *page) answer(a backend.Approval, answer agent.Answer) {
	p.t.Helper()
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: a.Session, Approval: a.Request.ID, Answer: answer})
}

// OAS-630: an answer that leaves a rule resolves the requests of other sessions that
// the rule decides about, and the log says so. The others keep waiting.
func TestAnswerResolvesIdenticalRequests(t *testing.T) {
	t.Parallel()
	for _, decision := range []agent.Decision{agent.Allow, agent.Deny} {
		p, same, other := crowd(t)
		p.answer(same[0], agent.Answer{Decision: decision, Scope: agent.ScopeLocal, Rule: "Bash(touch a)"})
		answers := map[string]agent.ApprovalAnswer{} // in any order
		for range same {
			a := await(p, anyOf[agent.ApprovalAnswer])
			answers[a.ID] = a
		}
		got := answers[same[1].Request.ID]
		want := agent.RuleRef{Text: "Bash(touch a)", Decision: decision, Scope: agent.ScopeLocal}
		if got.Answer.Decision != decision || got.Rule == nil || *got.Rule != want {
			t.Errorf("the other request was answered %+v by %+v", got.Answer, got.Rule)
		}
		if waits := p.waiting(); len(waits) != 1 || waits[0].Request.ID != other.Request.ID {
			t.Errorf("then these wait: %+v", waits)
		}
	}
}

// A rule of one session decides about no other one.
func TestAnswerForTheSessionLeavesOthers(t *testing.T) {
	t.Parallel()
	p, same, other := crowd(t)
	p.answer(same[0], agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession, Rule: "Bash(touch *)"})
	await(p, anyOf[agent.ProcessingEnd])
	p.answer(other, agent.Answer{Decision: agent.Allow, Scope: agent.ScopeOnce})
	await(p, anyOf[agent.ProcessingEnd])
	if waits := p.waiting(); len(waits) != 1 || waits[0].Request.ID != same[1].Request.ID {
		t.Errorf("then these wait: %+v", waits)
	}
}

// If the program ended after the rule of an answer was stored and before the answer
// was delivered, the rule answers the request when the session is opened again.
func TestRuleStoredBeforeTheEnd(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t)
	folder, home := p.folder, p.home
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t, llmtest.Round{Text: "Done."}), "sk-test"))
	must[guard.RuleEntry](p, "permissions.add", guard.AddRequest{Rule: "Write(a.txt)", Decision: agent.Allow, Scope: agent.ScopeLocal})
	if err := p.bench.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := await(p, anyOf[agent.ApprovalAnswer])
	if got.ID != request.ID || got.Rule == nil || got.Answer.Decision != agent.Allow {
		t.Errorf("session %s: %+v by %+v", id, got, got.Rule)
	}
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone || end.Authority.By != agent.ByRule {
		t.Errorf("it ended as %+v", end)
	}
}
