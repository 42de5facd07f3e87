package workbench_test

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
)

// The command line continues the newest session of the folder that a person
// began, or the named one, but not one of another folder or one that waits for
// a decision. A turn that was cut off is first marked as such.
func TestResume(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	if _, err := p.bench.Resume(t.Context(), workbench.ResumeRequest{}); backend.AsError(err).Code != backend.CodeNotFound {
		t.Errorf("in an empty folder: %v", err)
	}
	asked := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "c", Name: "Write"}}}}
	for i, s := range []struct {
		id, folder string
		helper     *agent.Helper
		log        []agent.Payload
	}{
		{"older", p.folder, nil, nil},
		{"cut", p.folder, nil, []agent.Payload{agent.UserInput{Text: "x"}}},
		{"waiting", p.folder, nil, []agent.Payload{
			agent.UserInput{Text: "x"}, agent.TextEnd{Message: asked}, agent.ToolCallStart{CallID: "c"}, agent.ApprovalRequest{ID: "r", CallID: "c"},
		}},
		{"newest", p.folder, nil, nil},
		{"helper", p.folder, &agent.Helper{Parent: "newest", Folder: p.folder}, nil},
		{"elsewhere", "/elsewhere", nil, nil},
	} {
		info := backend.SessionInfo{
			ID: s.id, Folder: s.folder, State: agent.StateIdle, UpdatedAt: int64(i), Helper: s.helper,
			Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeDefault},
		}
		if err := p.store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		for _, data := range s.log {
			if _, err := p.store.Append(t.Context(), agent.Event{Session: s.id, Turn: 1, At: int64(i), Data: data}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		asked, id string
		code      backend.Code
	}{
		{"", "newest", ""}, {"older", "older", ""}, {"helper", "helper", ""}, {"waiting", "waiting", backend.CodeBusy},
		{"elsewhere", "", backend.CodeInvalid}, {"none", "", backend.CodeNotFound},
		{"cut", "cut", ""}, // the last case, because it is the newest session from then on
	} {
		info, err := p.bench.Resume(t.Context(), workbench.ResumeRequest{Session: tt.asked})
		var code backend.Code
		if err != nil {
			code = backend.AsError(err).Code
		}
		if info.ID != tt.id || code != tt.code {
			t.Errorf("%q: session %q, %v", tt.asked, info.ID, err)
		}
	}
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndCrashed {
		t.Errorf("the turn that was cut off ended as %s", end.Reason)
	}
	if id, err := p.store.PendingApproval(t.Context(), "r"); id != "waiting" || err != nil {
		t.Errorf("the question waits for %q, %v", id, err)
	}
}

// An action that needs a session at rest is refused while a request is pending,
// and the request stays pending.
func TestNoActionDuringAPendingRequest(t *testing.T) {
	t.Parallel()
	p, id, request := hanging(t, llmtest.Round{Text: "Done."})
	for method, args := range map[string]any{
		"conversation.command": workbench.CommandRequest{Session: id, Command: "true"},
		"conversation.compact": workbench.CompactRequest{Session: id},
		"conversation.send":    conversation.SendRequest{Session: id, Text: "and?"},
		"sessions.remove":      workbench.SessionRef{Session: id},
	} {
		if _, err := call[backend.Empty](p, method, args); err == nil || err.Code != backend.CodeBusy {
			t.Errorf("%s: %v", method, err)
		}
	}
	p.allow(id, request)
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
}
