package workbench_test

import (
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
)

// K-06: a failed turn can be continued, also in another process, and is shown
// as working meanwhile. A turn that ended by itself cannot.
func TestContinue(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Status: 404}, llmtest.Round{Text: "Noon.", Hang: true})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, "sk-test"))
	id := p.session("openai")
	p.send(id, "What time is it?")
	await(p, anyOf[agent.ProcessingEnd])
	p.close()
	p = newPage(t, folder, home, environment(server, "sk-test"))
	ref := workbench.SessionRef{Session: id}
	must[backend.Empty](p, "conversation.continue", ref)
	open := conversation.OpenRequest{Session: id}
	for deadline := time.After(patience); must[conversation.Snapshot](p, "conversation.open", open).Draft.Text != "Noon."; {
		p.more(deadline, "the answer's text")
	}
	if state := must[conversation.Snapshot](p, "conversation.open", open).Session.State; state != agent.StateProcessing {
		t.Errorf("the session is %s", state)
	}
	must[backend.Empty](p, "conversation.interrupt", ref)
	await(p, anyOf[agent.ProcessingEnd])
	server.Add(llmtest.Round{Text: "Noon."})
	must[backend.Empty](p, "conversation.continue", ref)
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
	if _, err := call[backend.Empty](p, "conversation.continue", ref); err == nil || err.Code != backend.CodeInvalid {
		t.Errorf("a completed turn continued: %v", err)
	}
}
