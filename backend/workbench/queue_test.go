package workbench_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// texts returns the waiting messages, each after its verb.
func texts(queue []agent.Queued) []string {
	out := []string{}
	for _, m := range queue {
		out = append(out, string(m.Verb)+": "+m.Text)
	}
	return out
}

func (p *page) queue(session string, verb agent.Verb, text string) []agent.Queued {
	p.t.Helper()
	return must[conversation.QueueReply](p, "queue.add", conversation.QueueAddRequest{Session: session, Verb: verb, Text: text}).Queue
}

// hanging returns a session whose turn waits for a person.
func hanging(t *testing.T, rounds ...llmtest.Round) (*page, string, agent.ApprovalRequest) {
	t.Helper()
	server := llmtest.Serve(t, append([]llmtest.Round{{Calls: []llmtest.Call{
		llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"}),
	}}}, rounds...)...)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "write it")
	return p, id, await(p, anyOf[agent.ApprovalRequest])
}

func (p *page) allow(id string, request agent.ApprovalRequest) {
	p.t.Helper()
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{
		Session: id, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow},
	})
}

// LOOP-14, LOOP-15, LOOP-132, LOOP-133: messages that are written during a turn
// wait in the store, can be changed there, and leave when they are delivered:
// steering messages within the turn, the others as turns of their own.
func TestQueue(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Text: "3"})
	p.queue(id, agent.FollowUp, "later")
	p.queue(id, agent.FollowUp, "first")
	p.queue(id, agent.FollowUp, "never")
	waits := p.queue(id, agent.Steer, "brifly")
	edited := waits[3]
	edited.Text = "briefly"
	must[conversation.QueueReply](p, "queue.edit", conversation.QueueEditRequest{Session: id, Message: edited})
	must[conversation.QueueReply](p, "queue.remove", conversation.QueueRemoveRequest{Session: id, ID: waits[2].ID})
	got := must[conversation.QueueReply](p, "queue.move", conversation.QueueMoveRequest{Session: id, ID: waits[1].ID, To: 0}).Queue
	want := []string{"follow_up: first", "follow_up: later", "steer: briefly"}
	if diff := cmp.Diff(want, texts(got)); diff != "" {
		t.Fatal(diff)
	}
	shown := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Queue
	if diff := cmp.Diff(want, texts(shown)); diff != "" {
		t.Errorf("stored: %s", diff)
	}
	p.allow(id, request)
	if s := await(p, anyOf[agent.SteeringInjected]); s.Text != "briefly" || s.QueueID != edited.ID {
		t.Errorf("steered by %+v", s)
	}
	for _, next := range []string{"first", "later"} {
		if end := await(p, anyOf[agent.ProcessingEnd]); !end.Next {
			t.Errorf("nothing follows before %q", next)
		}
		if in := await(p, anyOf[agent.UserInput]); in.Text != next || in.QueueID == "" {
			t.Errorf("%+v, want %q", in, next)
		}
	}
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Next || end.Reason != agent.EndDone {
		t.Errorf("%+v", end)
	}
	if left := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Queue; len(left) != 0 {
		t.Errorf("left in the store: %v", texts(left))
	}
	for method, args := range map[string]any{
		"queue.edit":   conversation.QueueEditRequest{Session: id, Message: edited},
		"queue.remove": conversation.QueueRemoveRequest{Session: id, ID: edited.ID},
		"queue.move":   conversation.QueueMoveRequest{Session: id, ID: edited.ID},
		"queue.run":    workbench.SessionRef{Session: id},
		"queue.add":    conversation.QueueAddRequest{Session: id, Verb: "shout", Text: "x"},
	} {
		if _, err := call[conversation.QueueReply](p, method, args); err == nil {
			t.Errorf("%s of a delivered message succeeded", method)
		}
	}
}

// Waiting messages survive an interrupt and the end of the application, and can
// then be run.
func TestQueueSurvives(t *testing.T) {
	t.Parallel()
	p, id, _ := hanging(t)
	p.queue(id, agent.FollowUp, "and test it")
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndInterrupted || end.Next {
		t.Errorf("%+v", end)
	}
	p.close()
	server := llmtest.Serve(t, llmtest.Round{Text: "Tested."})
	p = newPage(t, p.folder, p.home, environment(server, "sk-test"))
	waits := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Queue
	if diff := cmp.Diff([]string{"follow_up: and test it"}, texts(waits)); diff != "" {
		t.Fatal(diff)
	}
	must[backend.Empty](p, "queue.run", workbench.SessionRef{Session: id})
	if in := await(p, anyOf[agent.UserInput]); in.Text != "and test it" {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A follow-up for a session at rest starts at once.
func TestQueueAtRest(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Hi."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.queue(id, agent.FollowUp, "hello")
	if in := await(p, anyOf[agent.UserInput]); in.Text != "hello" {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.ProcessingEnd])
}

// A message that arrives after the turn has looked for one, just before its
// end, still follows it, also one that was to steer it (LOOP-14). No prompt is
// suggested before it.
func TestQueueAtTheLastMoment(t *testing.T) {
	t.Parallel()
	for _, verb := range []agent.Verb{agent.FollowUp, agent.Steer} {
		t.Run(string(verb), func(t *testing.T) {
			t.Parallel()
			queueAtTheLastMoment(t, verb)
		})
	}
}

func queueAtTheLastMoment(t *testing.T, verb agent.Verb) {
	server := llmtest.Serve(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"})
	server.Script(smallID, llmtest.Round{Text: "Go on", Usage: small})
	late := make(chan func(), 1)
	p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store { return &ending{s, late} })
	prefer(p, suggestions)
	id := p.session("compat")
	late <- func() { p.queue(id, verb, "one more") }
	p.send(id, "hello")
	if in := await(p, func(in agent.UserInput) bool { return in.QueueID != "" }); in.Text != "one more" {
		t.Errorf("%+v", in)
	}
	await(p, anyOf[agent.PromptSuggestion])
	if n := len(asked(server, smallID)); n != 1 {
		t.Errorf("asked %d times for a suggestion", n)
	}
}

// ending is a store that calls late before it stores the end of a turn.
type ending struct {
	*storage.Store
	late chan func()
}

func (s *ending) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	if events[len(events)-1].Kind() == agent.KindProcessingEnd {
		select {
		case call := <-s.late:
			call()
		default:
		}
	}
	return s.Store.Append(ctx, events...)
}

// LOOP-14: each change of the queue is told, so that a page that did not make it
// reads the queue again; a refused change is not.
func TestPagesLearnOfQueueChanges(t *testing.T) {
	t.Parallel()
	p, id, _ := hanging(t, llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"})
	told := watchNews(p)
	list := func() []agent.Queued {
		told.await(id, agent.QueueChange{})
		return must[conversation.QueueReply](p, "queue.list", workbench.SessionRef{Session: id}).Queue
	}
	first := p.queue(id, agent.FollowUp, "first")[0]
	if diff := cmp.Diff([]string{"follow_up: first"}, texts(list())); diff != "" {
		t.Error(diff)
	}
	second := p.queue(id, agent.FollowUp, "second")[1]
	list()
	first.Verb = agent.Steer
	for _, change := range []struct {
		method string
		args   any
		want   []string
	}{
		{"queue.edit", conversation.QueueEditRequest{Session: id, Message: first}, []string{"steer: first", "follow_up: second"}},
		{"queue.move", conversation.QueueMoveRequest{Session: id, ID: second.ID}, []string{"follow_up: second", "steer: first"}},
		{"queue.remove", conversation.QueueRemoveRequest{Session: id, ID: second.ID}, []string{"steer: first"}},
	} {
		if _, err := call[conversation.QueueReply](p, "queue.remove", conversation.QueueRemoveRequest{Session: id, ID: "gone"}); err == nil {
			t.Error("a message that does not wait was removed")
		}
		must[conversation.QueueReply](p, change.method, change.args)
		if diff := cmp.Diff(change.want, texts(list())); diff != "" {
			t.Error(change.method, diff)
		}
	}
}
