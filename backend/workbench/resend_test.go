package workbench_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/workbench"
)

// prompts are the prompts of a session's log, and its rewinds.
func (p *page) prompts(session string) (all []string) {
	p.t.Helper()
	for _, ev := range must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}).Events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			all = append(all, d.Text)
		case agent.Rewound:
			all = append(all, "rewound")
		}
	}
	return all
}

// OC-09: an earlier prompt is edited and sent again: the conversation goes back to before
// it, and files stay unless the user chose them. What was taken back can come back.
func TestResend(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."}, llmtest.Round{Text: "Four."}, llmtest.Round{Text: "Five."})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, ""))
	session := p.session("compat")
	for _, text := range []string{"walnut", "almond"} {
		p.send(session, text)
		await(p, anyOf[agent.ProcessingEnd])
	}
	p.putFile("f", "a\n")
	p.step(session, "1", 2, func() { p.putFile("f", "b\n") }, "f")
	resend := func(in conversation.ResendRequest, want map[string]bool) {
		t.Helper()
		in.Session = session
		must[backend.Empty](p, "undo.resend", in)
		await(p, anyOf[agent.ProcessingEnd])
		for text, want := range want {
			if strings.Contains(lastBody(server), text) != want {
				t.Errorf("the model is told %q: %t", text, !want)
			}
		}
	}
	resend(conversation.ResendRequest{Turn: 2, Text: "hazel"}, map[string]bool{"walnut": true, "One.": true, "almond": false, "Two.": false, "hazel": true})
	if p.fileText("f") != "b\n" {
		t.Errorf("the file changed to %q", p.fileText("f"))
	}
	p.close()
	p = newPage(t, folder, home, environment(server, "")) // the session was closed in its log
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Since: 1}})
	resend(conversation.ResendRequest{Turn: 1, Text: "pecan", Files: choices(preview)}, map[string]bool{"walnut": false, "hazel": false, "pecan": true})
	if p.fileText("f") != "a\n" {
		t.Errorf("the file is still %q", p.fileText("f"))
	}
	want := []string{"walnut", "almond", "rewound", "hazel", "rewound", "pecan"}
	if diff := cmp.Diff(want, p.prompts(session)); diff != "" {
		t.Error(diff)
	}
	info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}).Session
	must[undoing.RewindReply](p, "undo.rewind", undoing.RewindRequest{Session: session})
	for _, span := range info.Rewound[len(info.Rewound)-1:] {
		must[backend.Empty](p, "undo.bring_back", undoing.BringBackRequest{Session: session, ID: span.ID})
	}
	p.send(session, "go on")
	await(p, anyOf[agent.ProcessingEnd])
	if body := lastBody(server); !strings.Contains(body, "walnut") || !strings.Contains(body, "hazel") || strings.Contains(body, "pecan") {
		t.Errorf("what was taken back did not come back: %s", body)
	}
}

// What cannot be sent takes nothing back.
func TestResendRefuses(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "true > x"})}})
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, environment(server, ""))
	session := p.session("compat")
	p.send(session, "walnut")
	await(p, anyOf[agent.ProcessingEnd])
	p.putFile("f", "a\n")
	p.step(session, "1", 1, func() { p.putFile("f", "b\n") }, "f")
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Since: 1}})
	p.putFile("f", "b\nmine\n")
	refused := func(want backend.ProblemID, in conversation.ResendRequest) {
		t.Helper()
		in.Session = session
		if _, err := call[backend.Empty](p, "undo.resend", in); err == nil || err.ID != want {
			t.Errorf("%+v: %v, want %s", in, err, want)
		}
	}
	refused(backend.ProblemMessageEmpty, conversation.ResendRequest{Turn: 1, Text: " \n"})
	refused(backend.ProblemRewindNothing, conversation.ResendRequest{Turn: 7, Text: "pecan"})
	refused(backend.ProblemRewindNothing, conversation.ResendRequest{Text: "pecan"})
	refused(backend.ProblemUndoStale, conversation.ResendRequest{Turn: 1, Text: "pecan", Files: choices(preview)})
	if p.fileText("f") != "b\nmine\n" {
		t.Errorf("the file changed to %q", p.fileText("f"))
	}
	p.send(session, "almond")
	await(p, anyOf[agent.ApprovalRequest])
	refused(backend.ProblemUndoWorking, conversation.ResendRequest{Turn: 1, Text: "pecan"})
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: session})
	await(p, anyOf[agent.ProcessingEnd])
	if diff := cmp.Diff([]string{"walnut", "almond"}, p.prompts(session)); diff != "" {
		t.Error(diff)
	}
	if left, _ := filepath.Glob(filepath.Join(home, "restoring", "*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
