package filelog_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
)

// reader is a log that counts what is read of it.
type reader struct {
	events []agent.Event
	read   int
}

func (r *reader) Events(_ context.Context, in backend.EventRange) (out []agent.Event, err error) {
	for _, ev := range r.events {
		if ev.Seq > in.After && ev.Seq < in.Before {
			out = append(out, ev)
		}
	}
	r.read += len(out)
	return out, nil
}

func (r *reader) add(turn int, p agent.Payload) {
	n := len(r.events) + 1
	r.events = append(r.events, agent.Event{Session: "s", Seq: int64(n), At: int64(10 * n), Turn: turn, Data: p})
}

func (r *reader) info() backend.SessionInfo {
	return backend.SessionInfo{ID: "s", Seq: int64(len(r.events))}
}

func changed(path string) agent.FilesChanged {
	return agent.FilesChanged{Files: []agent.FileRecord{{Path: path}}, More: 1}
}

func told(path string) *agent.Details {
	return &agent.Details{Changes: []agent.FileChange{{Path: path}}}
}

// What a tool says of its changes counts before what was recorded, unless hooks changed files
// too. Denied calls and the user's own commands are not edits. Each part of a log is read once.
func TestEdits(t *testing.T) {
	t.Parallel()
	hooked := changed("hooked")
	hooked.Hooked = true
	recorded := changed("recorded")
	r := &reader{}
	r.add(1, agent.UserInput{Text: "a"})
	r.add(1, agent.ToolCallEnd{Files: &recorded, Details: told("told")})
	r.add(1, agent.ToolCallEnd{Files: &hooked, Details: told("not all")})
	r.add(1, agent.ToolCallEnd{Outcome: agent.OutcomeDenied, Details: told("denied")})
	r.add(1, agent.LocalCommandEnd{Files: &recorded})
	r.add(1, agent.TextEnd{})
	logs := filelog.New(r, journal.Open(t.TempDir()))
	list := func() (out []string) {
		edits, err := logs.Edits(t.Context(), r.info())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range edits.All {
			for _, c := range e.Changes {
				out = append(out, c.Path)
			}
		}
		return out
	}
	if diff := cmp.Diff([]string{"told", "hooked"}, list()); diff != "" {
		t.Error(diff)
	}
	r.add(2, agent.UserInput{Text: "b"})
	r.add(0, agent.FilesRestored{FilesChanged: changed("restored")})
	if diff := cmp.Diff([]string{"told", "hooked", "restored"}, list()); diff != "" {
		t.Error(diff)
	}
	edits, err := logs.Edits(t.Context(), r.info())
	if err != nil || edits.Turn != 2 || edits.Began != 70 {
		t.Errorf("turn %d began at %d, %v", edits.Turn, edits.Began, err)
	}
	if last := edits.All[2]; last.Turn != 2 || !last.Changes[0].ByUser || last.More != 1 {
		t.Errorf("the restoration is %+v", last)
	}
	events, err := logs.Events(t.Context(), r.info())
	if err != nil || len(events) != 6 { // all but the text and what was denied
		t.Errorf("%d events, %v", len(events), err)
	}
	if r.read != len(r.events) {
		t.Errorf("read %d of %d events", r.read, len(r.events))
	}
}

// What was copied into a fork was changed by another session.
func TestEditsOfForks(t *testing.T) {
	t.Parallel()
	r := &reader{}
	r.add(1, agent.ToolCallEnd{Details: told("copied")})
	r.add(1, agent.ToolCallEnd{Details: told("own")})
	info := r.info()
	info.Origin = &agent.ForkOrigin{Session: "o", Seq: 1}
	edits, err := filelog.New(r, journal.Open(t.TempDir())).Edits(t.Context(), info)
	if err != nil || len(edits.All) != 1 || edits.All[0].Changes[0].Path != "own" {
		t.Errorf("%+v, %v", edits, err)
	}
}

// The paths of an agent are written as its session's folder has them.
func TestRebase(t *testing.T) {
	t.Parallel()
	at, ok := filelog.SeenFrom("/p", "/p/sub")
	if !ok {
		t.Fatal("the folder is not seen")
	}
	files := changed("a b")
	ev := at.Event(agent.Event{Data: agent.ToolCallEnd{Files: &files}})
	if got, _ := filelog.Changed(ev); got.Files[0].Path != "sub/a b" || files.Files[0].Path != "a b" {
		t.Errorf("%+v, and the event had %+v", got, files)
	}
	restored := at.Event(agent.Event{Data: agent.FilesRestored{FilesChanged: files, Paths: []string{"x"}}}).Data.(agent.FilesRestored)
	if restored.Files[0].Path != "sub/a b" || restored.Paths[0] != "sub/x" {
		t.Errorf("%+v", restored)
	}
	if _, ok := filelog.SeenFrom("/p", "/q"); ok {
		t.Error("a folder elsewhere is seen")
	}
}
