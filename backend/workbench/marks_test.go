package workbench_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
)

// OAS-607: a session is tagged, pinned and archived. Each change leaves the other
// marks as they are, and moves neither the session in its list (OAS-601) nor what it
// was created at.
func TestMarks(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	before := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	mark := func(in sessionlist.MarkRequest) agent.SessionMarks {
		in.Session = before.ID
		info := must[backend.SessionInfo](p, "sessions.mark", in)
		if info.UpdatedAt != before.UpdatedAt || info.CreatedAt != before.CreatedAt {
			t.Errorf("%+v moved the session: %+v", in, info)
		}
		return info.Marks
	}
	yes, no, label := true, false, " my\n branch "
	for _, tt := range []struct {
		in   sessionlist.MarkRequest
		want agent.SessionMarks
	}{
		{sessionlist.MarkRequest{Tags: &[]string{"#API", "later on", "api", " "}}, agent.SessionMarks{Tags: []string{"api", "later-on"}}},
		{sessionlist.MarkRequest{Pinned: &yes}, agent.SessionMarks{Tags: []string{"api", "later-on"}, Pinned: true}},
		{sessionlist.MarkRequest{Label: &label, Archived: &yes}, agent.SessionMarks{Tags: []string{"api", "later-on"}, Pinned: true, Archived: true, Label: "my branch"}},
		{sessionlist.MarkRequest{Tags: &[]string{}, Pinned: &no}, agent.SessionMarks{Archived: true, Label: "my branch"}},
	} {
		if diff := cmp.Diff(tt.want, mark(tt.in)); diff != "" {
			t.Errorf("%+v (-want +got)\n%s", tt.in, diff)
		}
	}
	// A title by the user moves it as little (OAS-601).
	if info := must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: before.ID, Title: "another"}); info.UpdatedAt != before.UpdatedAt || info.Title != "another" {
		t.Errorf("a new title moved the session: %+v", info)
	}
	many := strings.Fields(strings.Repeat("x ", 21))
	for i := range many {
		many[i] += string(rune('a' + i))
	}
	if _, err := call[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: before.ID, Tags: &many}); err == nil || err.ID != backend.ProblemTagsFull {
		t.Errorf("21 tags: %v", err)
	}
}

// A deleted session is not listed and does not run, and is restored as it was. It is
// removed only when somebody says so (OAS-606).
func TestDeleteAndRestore(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}), "sk-test"))
	id := p.session("openai")
	turn := func(text string) {
		p.send(id, text)
		await(p, func(agent.ProcessingEnd) bool { return true })
	}
	turn("first")
	listed := func(view backend.SessionView) int {
		filter := backend.SessionFilter{View: view}
		return len(must[backend.SessionPage](p, "sessions.list", sessionlist.SessionListRequest{Filter: filter}).Sessions)
	}
	remove := func() bool {
		return must[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id}).Removed
	}
	yes, no := true, false
	deleted := must[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: id, Deleted: &yes})
	if deleted.Marks.Deleted == 0 || listed("") != 0 || listed(backend.ViewDeleted) != 1 {
		t.Fatalf("deleted as %+v, of which %d are listed", deleted.Marks, listed(""))
	}
	if _, err := call[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: id, Text: "x"}); err == nil || err.ID != backend.ProblemSessionDeleted {
		t.Errorf("a deleted session runs: %v", err)
	}
	if _, err := p.bench.Resume(t.Context(), workbench.ResumeRequest{}); err == nil {
		t.Error("a deleted session was continued")
	}
	must[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: id, Deleted: &no})
	turn("second")
	if listed("") != 1 {
		t.Error("the restored session is not listed")
	}
	must[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: id, Deleted: &yes})
	if !remove() || listed(backend.ViewAll) != 0 {
		t.Error("the session was not removed")
	}
	if _, err := call[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id}); err == nil || err.Code != backend.CodeNotFound {
		t.Errorf("removed twice: %v", err)
	}
}

// A session that waits for its user is not deleted, and an agent goes with the
// session that started it.
func TestNotDeleted(t *testing.T) {
	t.Parallel()
	yes := true
	p, id, _ := hanging(t, llmtest.Round{Text: "Done."})
	if _, err := call[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: id, Deleted: &yes}); err == nil || err.Code != backend.CodeBusy {
		t.Errorf("one that waits: %v", err)
	}
	server := llmtest.Serve(t)
	p = newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Text: "Done."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}}, llmtest.Round{Text: "It looks."})
	p.send(p.session("openai"), "Have somebody look.")
	child, _ := agentOf(p, "Agent")
	if _, err := call[backend.SessionInfo](p, "sessions.mark", sessionlist.MarkRequest{Session: child, Deleted: &yes}); err == nil || err.ID != backend.ProblemAgentMarked {
		t.Errorf("an agent: %v", err)
	}
}
