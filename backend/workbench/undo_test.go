package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/undoing"
	"atelier.dev/atelier/backend/workbench"
)

// step records what change does to files as a call of a session, as the journal does.
func (p *page) step(session, id string, turn int, change func(), names ...string) {
	p.t.Helper()
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	defer kept.Close()
	version := func(name string) agent.FileVersion {
		data, err := os.ReadFile(filepath.Join(p.folder, name))
		if err != nil {
			return agent.FileVersion{}
		}
		return kept.Keep(p.t.Context(), agent.PlainFile, data)
	}
	changed := &agent.FilesChanged{}
	for _, name := range names {
		changed.Files = append(changed.Files, agent.FileRecord{Path: name, Before: version(name)})
	}
	change()
	for i, name := range names {
		changed.Files[i].After = version(name)
	}
	end := agent.ToolCallEnd{CallID: id, Tool: "Edit", Outcome: agent.OutcomeDone, Files: changed}
	if _, err := p.store.Append(p.t.Context(), agent.Event{Session: session, Turn: turn, At: time.Now().UnixMilli(), Data: end}); err != nil {
		p.t.Fatal(err)
	}
}

// choices chooses all of a preview.
func choices(preview undoing.UndoPreview) (all []undoing.UndoChoice) {
	for _, f := range preview.Files {
		all = append(all, undoing.UndoChoice{Path: f.Path, Seal: f.Seal})
	}
	return all
}

// restore previews and applies.
func (p *page) restore(session string, target undoing.UndoTarget) agent.FilesRestored {
	p.t.Helper()
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: target})
	return must[undoing.UndoReply](p, "undo.apply", undoing.UndoApplyRequest{Session: session, Target: preview.Target, Files: choices(preview)}).Restored
}

// OC-09: an edit, sed -i and a change by hand in one file: undoing the turn leaves the
// change by hand, and redoing it gives the same bytes; in a real session, through
// the calls of a page, and after a restart.
func TestUndoTurn(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, ""))
	session := p.session("compat")
	p.send(session, "change it")
	await(p, anyOf[agent.ProcessingEnd])
	lines := strings.Split("1 2 3 4 5 6 7 8 9 10 11 12", " ")
	text := func(changes map[int]string) string {
		all := append([]string(nil), lines...)
		for i, line := range changes {
			all[i] = line
		}
		return strings.Join(all, "\n") + "\n"
	}
	p.putFile("f", text(nil))
	p.step(session, "edit", 1, func() { p.putFile("f", text(map[int]string{1: "edited"})) }, "f")
	p.step(session, "sed", 1, func() { p.putFile("f", text(map[int]string{1: "edited", 5: "sed"})); p.putFile("new", "new\n") }, "f", "new")
	p.putFile("f", text(map[int]string{1: "edited", 5: "sed", 10: "mine"}))
	before := p.fileText("f")

	done := p.restore(session, undoing.UndoTarget{})
	if p.fileText("f") != text(map[int]string{10: "mine"}) || len(done.Conflicts) > 0 || len(done.Undone) != 2 {
		t.Errorf("%q, %+v", p.fileText("f"), done)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "new")); err == nil {
		t.Error("the created file is still there")
	}
	if _, err := call[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Turn: 1}}); err == nil || err.ID != backend.ProblemUndoNothing {
		t.Errorf("undone twice: %v", err)
	}
	p.close()
	again := newPage(t, folder, home, environment(server, ""))
	again.restore(session, undoing.UndoTarget{Redo: true})
	if got := again.fileText("f"); got != before || again.fileText("new") != "new\n" {
		t.Errorf("redone: %q, want %q", got, before)
	}
	if _, err := call[undoing.UndoPreview](again, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Redo: true}}); err == nil || err.ID != backend.ProblemRedoNothing {
		t.Errorf("redone twice: %v", err)
	}
	again.restore(session, undoing.UndoTarget{Step: &agent.StepRef{Session: session, Call: "edit"}})
	if got := again.fileText("f"); got != text(map[int]string{5: "sed", 10: "mine"}) {
		t.Errorf("one step undone: %q", got)
	}
	again.send(session, "go on")
	await(again, anyOf[agent.ProcessingEnd])
	if body := lastBody(server); !strings.Contains(body, "The user undid") {
		t.Error("the model is not told")
	}
}

// What two tabs undo at once is undone once, and what has changed since it was shown
// not at all.
func TestUndoRaces(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n") }, "f")
	request := undoing.UndoPreviewRequest{Session: session}
	preview := must[undoing.UndoPreview](p, "undo.preview", request)
	apply := undoing.UndoApplyRequest{Session: session, Target: preview.Target, Files: choices(preview)}
	p.putFile("f", "b\nmine\n")
	if _, err := call[undoing.UndoReply](p, "undo.apply", apply); err == nil || err.ID != backend.ProblemUndoStale || p.fileText("f") != "b\nmine\n" {
		t.Errorf("a stale preview was applied: %v, %q", err, p.fileText("f"))
	}
	preview = must[undoing.UndoPreview](p, "undo.preview", request)
	apply.Files = choices(preview)
	var tabs sync.WaitGroup
	var mu sync.Mutex
	var problems []backend.ProblemID
	for range 4 {
		tabs.Go(func() {
			if _, err := call[undoing.UndoReply](p, "undo.apply", apply); err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, err.ID)
			}
		})
	}
	tabs.Wait()
	for _, id := range problems {
		if id != backend.ProblemUndoWorking && id != backend.ProblemUndoNothing {
			t.Errorf("a tab is told %s", id)
		}
	}
	if len(problems) != 3 || p.fileText("f") != "a\nmine\n" {
		t.Errorf("%v, %q", problems, p.fileText("f"))
	}
}

// While the session works, nothing is undone.
func TestUndoWhileWorking(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "true > x"})}})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n") }, "f")
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session})
	p.send(session, "go")
	await(p, anyOf[agent.ApprovalRequest])
	for method, args := range map[string]any{
		"undo.apply":  undoing.UndoApplyRequest{Session: session, Target: preview.Target, Files: choices(preview)},
		"undo.rewind": undoing.RewindRequest{Session: session},
	} {
		if _, err := call[undoing.UndoReply](p, method, args); err == nil || err.ID != backend.ProblemUndoWorking {
			t.Errorf("%s: %v", method, err)
		}
	}
	if p.fileText("f") != "b\n" {
		t.Errorf("%q", p.fileText("f"))
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: session})
	await(p, anyOf[agent.ProcessingEnd])
}

// A program that was killed while it restored files knows afterwards what it did, and
// that can be redone.
func TestUndoAfterACrash(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	p.putFile("f", "a\n")
	p.putFile("g", "a\n")
	p.step(session, "1", 0, func() { p.putFile("f", "b\n"); p.putFile("g", "b\n") }, "f", "g")
	done := p.restore(session, undoing.UndoTarget{})
	p.restore(session, undoing.UndoTarget{Redo: true})
	// The same again, but the program ends before the second file.
	done.ID = "cut-off"
	intent := filepath.Join(p.home, "restoring", session+".json")
	if err := os.WriteFile(intent, marshal(t, done), 0o600); err != nil {
		t.Fatal(err)
	}
	p.putFile("f", "a\n")
	preview := must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Redo: true}})
	if len(preview.Files) != 1 || preview.Files[0].Path != "f" || preview.Target.Restoration != "cut-off" {
		t.Errorf("%+v", preview)
	}
	if _, err := os.Stat(intent); err == nil {
		t.Error("it is still to be finished")
	}
	preview = must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session})
	if len(preview.Files) != 1 || preview.Files[0].Path != "g" {
		t.Errorf("left to undo: %+v", preview)
	}
	if err := os.WriteFile(intent, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	must[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session})
}

// The steps of agents belong to the turn in which they worked, if they worked in the
// same folder or below it.
func TestUndoOfAgents(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	p.putFile("f", "0\n")
	p.send(session, "first")
	await(p, anyOf[agent.ProcessingEnd])
	for id, folder := range map[string]string{"here": p.folder, "elsewhere": p.folder + "-x"} {
		info := backend.SessionInfo{ID: id, Folder: p.folder, State: agent.StateIdle, Helper: &agent.Helper{Parent: session, Folder: folder}}
		if err := p.store.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	p.step("here", "a", 1, func() { p.putFile("f", "1\n") }, "f")
	p.step("elsewhere", "b", 1, func() {}, "g")
	p.send(session, "second")
	await(p, anyOf[agent.ProcessingEnd])
	p.step(session, "c", 2, func() { p.putFile("f", "2\n") }, "f")
	p.step("here", "d", 2, func() { p.putFile("f", "3\n") }, "f")
	p.restore(session, undoing.UndoTarget{})
	if p.fileText("f") != "1\n" {
		t.Errorf("the newest turn undone: %q", p.fileText("f"))
	}
	done := p.restore(session, undoing.UndoTarget{Since: 1})
	if diff := cmp.Diff([]agent.StepRef{{Session: "here", Call: "a"}}, done.Undone); diff != "" || p.fileText("f") != "0\n" {
		t.Errorf("all undone: %q %s", p.fileText("f"), diff)
	}
}

// OC-09: a rewind takes turns out of the conversation and gives the prompt back. They
// can come back until the conversation goes on.
func TestRewindAndBringBack(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two needle."}, llmtest.Round{Text: "Three."}, llmtest.Round{Text: "Four."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	for _, text := range []string{"walnut", "almond"} {
		p.send(session, text)
		await(p, anyOf[agent.ProcessingEnd])
	}
	find := func() (found, takenBack int) {
		reply := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: session, Text: "needle"})
		return len(reply.Hits), reply.TakenBack
	}
	rewind := func(turn int, want string) undoing.RewindReply {
		t.Helper()
		reply := must[undoing.RewindReply](p, "undo.rewind", undoing.RewindRequest{Session: session, Turn: turn})
		if reply.Prompt != want {
			t.Errorf("the prompt is %q, want %q", reply.Prompt, want)
		}
		return reply
	}
	both := rewind(1, "walnut")
	if found, takenBack := find(); found != 0 || takenBack != 1 {
		t.Errorf("%d places are found, and %d that were taken back", found, takenBack)
	}
	if _, err := call[undoing.RewindReply](p, "undo.rewind", undoing.RewindRequest{Session: session}); err == nil || err.ID != backend.ProblemRewindNothing {
		t.Errorf("an empty conversation was taken back: %v", err)
	}
	must[backend.Empty](p, "undo.bring_back", undoing.BringBackRequest{Session: session, ID: both.ID})
	if found, takenBack := find(); found != 1 || takenBack != 0 {
		t.Errorf("%d places that came back are found, and %d that were taken back", found, takenBack)
	}
	last := rewind(0, "almond")
	p.send(session, "hazel")
	await(p, anyOf[agent.ProcessingEnd])
	body := lastBody(server)
	for text, want := range map[string]bool{"walnut": true, "One.": true, "almond": false, "needle": false, "hazel": true} {
		if strings.Contains(body, text) != want {
			t.Errorf("the model is told %q: %t", text, !want)
		}
	}
	if _, err := call[backend.Empty](p, "undo.bring_back", undoing.BringBackRequest{Session: session, ID: last.ID}); err == nil || err.ID != backend.ProblemRewindFollowed {
		t.Errorf("brought back too late: %v", err)
	}
	rewind(3, "hazel")
	if _, err := call[backend.Empty](p, "undo.bring_back", undoing.BringBackRequest{Session: session, ID: last.ID}); err != nil {
		t.Errorf("what followed was taken back: %v", err)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// lastBody is what the model was told last.
func lastBody(s *llmtest.Server) string {
	requests := s.Requests()
	return string(requests[len(requests)-1].Body)
}

// What somebody restored by hand is passed, so that what is older can be undone and redone.
func TestUndoPassesWhatIsRestored(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	p.send(session, "change them")
	await(p, anyOf[agent.ProcessingEnd])
	newest := undoing.UndoTarget{Step: &agent.StepRef{Session: session}}
	for _, name := range []string{"a", "b", "c"} {
		p.putFile(name, "old\n")
		p.step(session, "step "+name, 1, func() { p.putFile(name, "new\n") }, name)
	}
	p.putFile("c", "old\n")
	if done := p.restore(session, newest); p.fileText("b") != "old\n" || len(done.Files) != 1 {
		t.Errorf("b is %q, %+v", p.fileText("b"), done)
	}
	p.restore(session, newest)
	if p.fileText("a") != "old\n" {
		t.Errorf("a is %q", p.fileText("a"))
	}
	p.putFile("a", "new\n")
	if p.restore(session, undoing.UndoTarget{Redo: true}); p.fileText("b") != "new\n" {
		t.Errorf("b was not redone: %q", p.fileText("b"))
	}
	if _, err := call[undoing.UndoPreview](p, "undo.preview", undoing.UndoPreviewRequest{Session: session, Target: undoing.UndoTarget{Turn: 1}}); err != nil {
		t.Error(err)
	}
}
