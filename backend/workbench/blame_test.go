package workbench_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/authors"
	"atelier.dev/atelier/backend/filechanges"
	"atelier.dev/atelier/backend/undoing"
)

// past writes a log, as a session would have, and keeps the versions of files.
type past struct {
	*page
	kept *objects.Store
	at   int64
}

func newPast(t *testing.T) *past {
	t.Helper()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	kept := objects.Open(filepath.Join(p.home, "journal", "objects"), objects.Limits{})
	t.Cleanup(kept.Close)
	return &past{page: p, kept: kept, at: 1000}
}

// version keeps a text; "-" is the version in which there was no file.
func (p *past) version(text string) agent.FileVersion {
	if text == "-" {
		return agent.FileVersion{}
	}
	v := p.kept.Keep(p.t.Context(), agent.PlainFile, []byte(text))
	if v.Unkept != "" {
		p.t.Fatal(v.Unkept)
	}
	return v
}

func (p *past) files(versions ...string) *agent.FilesChanged {
	var c agent.FilesChanged
	for i := 0; i < len(versions); i += 3 {
		c.Files = append(c.Files, agent.FileRecord{Path: versions[i], Before: p.version(versions[i+1]), After: p.version(versions[i+2])})
	}
	return &c
}

func (p *past) happened(session string, turn int, data ...agent.Payload) {
	p.t.Helper()
	for _, d := range data {
		p.at++
		if _, err := p.store.Append(p.t.Context(), agent.Event{Session: session, Turn: turn, At: p.at, Data: d}); err != nil {
			p.t.Fatal(err)
		}
	}
}

// blamed has a word for each run of lines.
func (p *past) blamed(path string) string {
	p.t.Helper()
	r := must[authors.BlameReply](p.page, "files.blame", filechanges.BlameRequest{Path: path})
	return runsOf(r)
}

func runsOf(r authors.BlameReply) string {
	var words []string
	for _, run := range r.Runs {
		by := string(run.By)
		if run.By == authors.ByStep {
			by = r.Steps[run.Step].Call
			if by == "" {
				by = string(r.Steps[run.Step].Kind)
			}
		}
		if run.Unsure {
			by += "?"
		}
		words = append(words, fmt.Sprintf("%d-%d %s", run.From, run.To, by))
	}
	return strings.Join(words, ", ")
}

// For every line of a file there is the session, turn, prompt, model and cost that
// wrote it, without git; what the user changed by hand is said to be outside.
func TestBlame(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	id := p.session("openai")
	cost := llm.Cost(2500)
	answer := agent.TextEnd{Provider: "openai", Model: "gpt-x", Usage: llm.Usage{Known: true}, Cost: &cost}
	person := &agent.Authority{Decision: agent.Allow, By: agent.ByPerson, Approval: "q"}
	p.happened(id, 1, agent.UserInput{Text: "Make it " + strings.Repeat("better", 200)}, answer,
		agent.ToolCallEnd{CallID: "edit", Tool: "Edit", Outcome: agent.OutcomeDone, Authority: person, Files: p.files("old", "a\nb\nc\n", "a\nB\nc\n")},
		agent.TextEnd{Provider: "openai", Model: "gpt-y", Usage: llm.Usage{Known: true}, Cost: &cost}, agent.ProcessingEnd{})
	p.happened(id, 0, agent.LocalCommandEnd{ID: "mv", Command: "mv old f", Files: p.files("old", "a\nB\nc\n", "-", "f", "-", "a\nB\nc\n")})
	p.happened(id, 2, agent.UserInput{Text: "More"}, answer,
		agent.ToolCallEnd{CallID: "sed", Tool: "Bash", Files: p.files("f", "a\nB\nc\n", "a\nB\nC\nd\n", "g", "-", "g\n")}, agent.ProcessingEnd{})
	p.putFile("f", "a\nB\nmine\nC\nd\n")
	if got, want := p.blamed("f"), "1-1 earlier, 2-2 edit, 3-3 outside, 4-5 sed"; got != want {
		t.Errorf("the lines are by %s, want %s", got, want)
	}

	r := must[authors.BlameReply](p.page, "files.blame", filechanges.BlameRequest{Path: "f", From: 2, To: 2})
	info, _ := p.store.Session(t.Context(), id)
	if len(r.Steps) != 1 || r.Total != 5 || runsOf(r) != "2-2 edit" {
		t.Fatalf("%+v", r)
	}
	step := r.Steps[0]
	if step.Session != id || step.Title != info.Title || step.Turn != 1 || step.Seq == 0 || step.Tool != "Edit" || step.Authority == nil || step.Authority.By != agent.ByPerson {
		t.Errorf("%+v", step)
	}
	made := step.Made
	if made.Model != "gpt-x" || made.Provider != "openai" || made.Cost == nil || made.Cost.Cost != 2*cost || len(made.Prompt) != 500 || !strings.HasPrefix(made.Prompt, "Make it better") {
		t.Errorf("%+v", made)
	}

	// What is undone has its earlier authors again, and so has what is redone.
	undo := agent.FilesRestored{ID: "u", Undone: []agent.StepRef{{Session: id, Call: "sed"}}, FilesChanged: *p.files("f", "a\nB\nmine\nC\nd\n", "a\nB\nmine\nc\n")}
	p.happened(id, 0, undo)
	p.putFile("f", "a\nB\nmine\nc\n")
	if got, want := p.blamed("f"), "1-1 earlier, 2-2 edit, 3-3 outside, 4-4 earlier"; got != want {
		t.Errorf("undone, the lines are by %s, want %s", got, want)
	}
	p.happened(id, 0, agent.FilesRestored{ID: "r", Redone: "u", FilesChanged: *p.files("f", "a\nB\nmine\nc\n", "a\nB\nmine\nC\nd\n")})
	p.putFile("f", "a\nB\nmine\nC\nd\n")
	if got, want := p.blamed("f"), "1-1 earlier, 2-2 edit, 3-3 outside, 4-5 sed"; got != want {
		t.Errorf("redone, the lines are by %s, want %s", got, want)
	}

	// A step of which the log lost its event is not taken for a change from outside.
	p.happened(id, 3, agent.ToolCallEnd{CallID: "lost", Files: p.files("f", "a\nB\nmine\nC\nd\n", "a\nB\nmine\nC\nd\ne\n")})
	p.happened(id, 3, agent.ToolCallEnd{CallID: "last", Files: p.files("f", "a\nB\nmine\nC\nd\ne\n", "a\nB\nmine\nC\nd\ne\nf\n")})
	p.putFile("f", "a\nB\nmine\nC\nd\ne\nf\n")
	spoil(t, p.home, `UPDATE events SET body = 'x' WHERE CAST(body AS TEXT) LIKE '%"lost"%'`)
	if got, want := p.blamed("f"), "1-1 earlier, 2-2 edit, 3-3 outside, 4-5 sed, 6-6 lost?, 7-7 last"; got != want {
		t.Errorf("with a damaged event, the lines are by %s, want %s", got, want)
	}
}

// What is not a text file of the project is refused, and a file without steps is
// earlier than what is recorded.
func TestBlameOfOtherFiles(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	p.putFile("mine", "1\n2\n")
	p.putFile("empty", "")
	p.putFile("binary", "\x00")
	p.putFile("long", strings.Repeat("\n", 60_000))
	for path, want := range map[string]string{"mine": "1-2 earlier", "empty": ""} {
		if got := p.blamed(path); got != want {
			t.Errorf("%s is by %q, want %q", path, got, want)
		}
	}
	for path, want := range map[string]backend.ProblemID{
		"none": "changes_vanished", "../x": "changes_outside", "/etc/passwd": "changes_outside", "binary": "changes_no_text", "long": "changes_too_large", ".git/config": "changes_outside",
	} {
		if _, problem := call[authors.BlameReply](p.page, "files.blame", filechanges.BlameRequest{Path: path}); problem == nil || problem.ID != want {
			t.Errorf("%s: %+v, want %s", path, problem, want)
		}
	}
}

// After a real undo the lines have their earlier authors, and after its redo those
// that it took.
func TestBlameAfterUndo(t *testing.T) {
	t.Parallel()
	p := newPast(t)
	id := p.session("openai")
	p.happened(id, 1, agent.UserInput{Text: "Go"})
	text := func(second, sixth, tenth string) string {
		return "1\n" + second + "\n3\n4\n5\n" + sixth + "\n7\n8\n9\n" + tenth + "\n"
	}
	p.putFile("f", text("2", "6", "10"))
	p.step(id, "edit", 1, func() { p.putFile("f", text("edited", "6", "10")) }, "f")
	p.step(id, "sed", 1, func() { p.putFile("f", text("edited", "sed", "10")) }, "f")
	p.putFile("f", text("edited", "sed", "mine"))
	const all = "1-1 earlier, 2-2 edit, 3-5 earlier, 6-6 sed, 7-9 earlier, 10-10 outside"
	if got := p.blamed("f"); got != all {
		t.Errorf("the lines are by %s, want %s", got, all)
	}
	p.restore(id, undoing.UndoTarget{})
	if got, want := p.blamed("f"), "1-9 earlier, 10-10 outside"; got != want {
		t.Errorf("undone, the lines are by %s, want %s", got, want)
	}
	p.restore(id, undoing.UndoTarget{Redo: true})
	if got := p.blamed("f"); got != all {
		t.Errorf("redone, the lines are by %s, want %s", got, all)
	}
}
