package workbench_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/undoing"
)

// What a command changed is among the changes of its session, with its lines where the
// journal has the contents, and is put back like an edit.
func TestChangesOfCommands(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	id := p.session("openai")
	large := agent.FileRecord{Path: "large", After: agent.FileVersion{Hash: strings.Repeat("0", 64), Size: 100 << 20, Kind: agent.PlainFile, Unkept: agent.UnkeptLarge}}
	first := p.files("f", "a\nb\nc\n", "a\nB\nc\n", "made", "-", "1\n2\n", "gone", "old\n", "-", "brief", "-", "x\n", "picture", "-", "\x00\x01")
	first.Files = append([]agent.FileRecord{large}, first.Files...) // it takes no room from the others
	first.More = 3
	denied := p.files("denied", "-", "x\n")
	p.happened(id, 1, agent.UserInput{Text: "Go"},
		agent.ToolCallEnd{CallID: "1", Tool: "Bash", Outcome: agent.OutcomeDone, Files: first},
		agent.ToolCallEnd{CallID: "2", Tool: "Bash", Outcome: agent.OutcomeFailed, Files: p.files("brief", "x\n", "-")},
		agent.ToolCallEnd{CallID: "3", Tool: "Bash", Outcome: agent.OutcomeDenied, Files: denied},
		agent.ProcessingEnd{})
	edited := &agent.Details{Changes: []agent.FileChange{{Path: "f", Added: 1, Removed: 1, Diff: "@@ -1,3 +1,3 @@\n a\n B\n-c\n+C\n"}}}
	p.happened(id, 2, agent.UserInput{Text: "More"},
		agent.ToolCallEnd{CallID: "4", Tool: "Edit", Outcome: agent.OutcomeDone, Details: edited, Files: p.files("f", "a\nB\nc\n", "a\nB\nC\n")},
		agent.ProcessingEnd{})
	for name, text := range map[string]string{"f": "a\nB\nC\n", "made": "1\n2\n", "picture": "\x00\x01", "large": strings.Repeat("x\n", 1<<20)} {
		p.putFile(name, text)
	}

	want := "modified f +2 -2\ndeleted gone +0 -1\nadded large +0 -0\nadded made +2 -0\nadded picture +0 -0"
	if got := p.changed(id, changes.ScopeSession); got != want {
		t.Errorf("the session:\n%s\nwant:\n%s", got, want)
	}
	if got := p.changed(id, changes.ScopeTurn); got != "modified f +1 -1" {
		t.Errorf("the turn:\n%s", got)
	}
	all := must[filechanges.ChangesReply](p.page, "changes.list", filechanges.ChangesRequest{Session: id, Scope: changes.ScopeSession})
	if all.More != 3 || !all.Files[2].Large || all.Files[2].Binary || !all.Files[4].Binary || all.Files[4].Large {
		t.Errorf("%+v", all)
	}
	diff := func(path string) filechanges.DiffReply {
		return must[filechanges.DiffReply](p.page, "changes.diff", filechanges.DiffRequest{Session: id, Scope: changes.ScopeSession, Path: path})
	}
	if d := diff("f"); !strings.Contains(d.Diff, "-b\n-c\n+B\n+C\n") {
		t.Errorf("%+v", d)
	}
	if d := diff("picture"); !d.Binary || d.Large || d.Edits != nil {
		t.Errorf("%+v", d)
	}
	if d := diff("large"); !d.Large || d.Binary || d.Edits != nil {
		t.Errorf("%+v", d)
	}
	must[backend.Empty](p.page, "changes.put_back", filechanges.PutBackRequest{Session: id, Scope: changes.ScopeSession, Path: "f", Seen: diff("f").Seen})
	if got := p.fileText("f"); got != "a\nb\nc\n" {
		t.Errorf("put back: %q", got)
	}
}

// What was undone is no longer a change of its session, also of a file that was made
// and removed before; what was redone is one again, and so is what was taken from
// another branch.
func TestChangesAfterAnUndo(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	id := p.session("openai")
	p.happened(id, 1, agent.UserInput{Text: "Go"},
		agent.ToolCallEnd{CallID: "1", Tool: "Bash", Outcome: agent.OutcomeDone, Files: p.files("notes", "-", "1\n2\n")},
		agent.ProcessingEnd{})
	p.happened(id, 2, agent.UserInput{Text: "More"},
		agent.ToolCallEnd{CallID: "2", Tool: "Bash", Outcome: agent.OutcomeDone, Files: p.files("notes", "1\n2\n", "-", "f", "a\n", "b\n")},
		agent.ProcessingEnd{})
	expect := func(when, session, turn string) {
		t.Helper()
		if got := p.changed(id, changes.ScopeSession); got != session {
			t.Errorf("%s, the session:\n%s\nwant:\n%s", when, got, session)
		}
		if got := p.changed(id, changes.ScopeTurn); got != turn {
			t.Errorf("%s, the turn:\n%s\nwant:\n%s", when, got, turn)
		}
	}
	p.putFile("f", "b\n")
	expect("at first", "modified f +1 -1", "modified f +1 -1\ndeleted notes +0 -2")

	p.happened(id, 0, agent.FilesRestored{ID: "u", Undone: []agent.StepRef{{Session: id, Call: "2"}}, FilesChanged: *p.files("notes", "-", "1\n2\n", "f", "b\n", "a\n")})
	p.putFile("f", "a\n")
	p.putFile("notes", "1\n2\n")
	expect("undone", "added notes +2 -0", "")

	p.happened(id, 0, agent.FilesRestored{ID: "r", Redone: "u", FilesChanged: *p.files("f", "a\n", "b\n")})
	p.putFile("f", "b\n")
	expect("redone in part", "modified f +1 -1\nadded notes +2 -0", "modified f +1 -1")

	p.happened(id, 0, agent.FilesRestored{ID: "t", Taken: "other", FilesChanged: *p.files("g", "x\n", "y\n")})
	p.putFile("g", "y\n")
	expect("taken", "modified f +1 -1\nmodified g +1 -1\nadded notes +2 -0", "modified f +1 -1\nmodified g +1 -1")
}

// What the user reverts in Changes is part of the session's log: a program that opens
// the session again knows of it, the branches are compared with it, and it is undone
// like a step. It works while nothing is asked of the model.
func TestRevertIsAnEvent(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	id := p.session("openai")
	p.happened(id, 1, agent.UserInput{Text: "Go"},
		agent.ToolCallEnd{CallID: "1", Tool: "Bash", Outcome: agent.OutcomeDone, Files: p.files(
			"f", "a\nb\nc\nd\ne\nf\ng\nh\ni\n", "A\nb\nc\nd\ne\nf\ng\nh\nI\n", "whole", "1\n", "2\n", "made", "-", "x\n", "gone", "y\n", "-", "deep", "1\n", "2\n")},
		agent.ProcessingEnd{})
	for name, text := range map[string]string{"f": "A\nb\nc\nd\ne\nf\ng\nh\nI\n", "whole": "2\n", "made": "x\n", "deep": "2\n"} {
		p.putFile(name, text)
	}
	diff := func(path string) filechanges.DiffReply {
		return must[filechanges.DiffReply](p.page, "changes.diff", filechanges.DiffRequest{Session: id, Scope: changes.ScopeSession, Path: path})
	}
	_, hunk, _ := strings.Cut(diff("f").Diff, "\n@@")
	must[backend.Empty](p.page, "changes.put_back", filechanges.PutBackRequest{Session: id, Scope: changes.ScopeSession, Path: "f", Hunk: "@@" + hunk})
	for _, path := range []string{"whole", "made", "gone", "deep"} {
		must[backend.Empty](p.page, "changes.put_back", filechanges.PutBackRequest{Session: id, Scope: changes.ScopeSession, Path: path, Seen: diff(path).Seen})
	}
	var reverts []agent.FilesRestored
	events, err := p.store.Events(t.Context(), backend.EventRange{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if d, ok := ev.Data.(agent.FilesRestored); ok && d.Reverted && ev.Turn == 1 {
			reverts = append(reverts, d)
		}
	}
	if len(reverts) != 5 || reverts[0].Files[0].Path != "f" || reverts[2].Files[0].After.Exists() || reverts[3].Files[0].Before.Exists() {
		t.Fatalf("%+v", reverts)
	}
	p.close()
	again := newPage(t, p.folder, p.home, environment(llmtest.Serve(t), "sk-test")) // which remembers nothing
	if got := again.changed(id, changes.ScopeSession); got != "modified f +1 -1" {
		t.Errorf("after a start:\n%s", got)
	}
	again.restore(id, undoing.UndoTarget{Step: &agent.StepRef{Session: id, Call: reverts[1].ID}})
	if got := p.fileText("whole"); got != "2\n" {
		t.Errorf("undone: %q", got)
	}
	if got := again.changed(id, changes.ScopeSession); got != "modified f +1 -1\nmodified whole +1 -1" {
		t.Errorf("after the undo:\n%s", got)
	}
}
