//go:build unix

package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/undoing"
)

// Several replacements of one call are asked about with their difference, are one step of the
// journal, and are undone together; a call that fails changes nothing.
func TestMultiEditInSession(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		p.putFile("f.txt", "one\ntwo\nthree\n")
		id := w.inMode(p, agent.ModeDefault)
		edit := func(edits ...any) llmtest.Round {
			return llmtest.Round{Calls: []llmtest.Call{w.uses("MultiEdit", "multi_edit", args{"file_path": "f.txt", "edits": edits})}}
		}
		one, two := args{"old_string": "one", "new_string": "1"}, args{"old_string": "two", "new_string": "2"}
		server.Script(w.model,
			llmtest.Round{Calls: []llmtest.Call{w.uses("Read", "read_file", args{"file_path": "f.txt"})}},
			edit(one, args{"old_string": "four", "new_string": "4"}), edit(one, two), llmtest.Round{Text: "Done."})
		p.send(id, "go")
		await(p, anyOf[agent.ToolCallEnd])
		if end := await(p, anyOf[agent.ToolCallEnd]); !end.IsError || !strings.Contains(end.Output, "Nothing in f.txt was changed") {
			t.Errorf("%+v", end)
		}
		request := await(p, anyOf[agent.ApprovalRequest])
		if request.Tool != "MultiEdit" || len(request.Changes) != 1 || !strings.Contains(request.Changes[0].Diff, "-one\n-two\n+1\n+2\n") {
			t.Errorf("asked %+v", request)
		}
		if got := p.fileText("f.txt"); got != "one\ntwo\nthree\n" {
			t.Errorf("before the answer: %q", got)
		}
		p.allow(id, request)
		end := await(p, anyOf[agent.ToolCallEnd])
		await(p, anyOf[agent.ProcessingEnd])
		if got := p.fileText("f.txt"); got != "1\n2\nthree\n" || end.Files == nil || len(end.Files.Files) != 1 {
			t.Errorf("%q, %+v", got, end.Files)
		}
		target := undoing.UndoTarget{Since: 1}
		preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: id, Target: target})
		must[undoing.UndoReply](p, "undo.apply", undoing.UndoApplyRequest{Session: id, Target: target, Files: choices(preview)})
		if got := p.fileText("f.txt"); got != "one\ntwo\nthree\n" {
			t.Errorf("undone: %q", got)
		}
	})
}
