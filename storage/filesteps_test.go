package storage_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

func changed(paths ...string) *agent.FilesChanged {
	var c agent.FilesChanged
	for _, path := range paths {
		c.Files = append(c.Files, agent.FileRecord{Path: path, After: agent.FileVersion{Hash: "x", Kind: agent.PlainFile}})
	}
	return &c
}

// The steps of a file come from all sessions of its folder, the newest first, also
// after the index was lost.
func TestFileSteps(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	for _, id := range []string{"a", "b"} {
		session(t, s, id)
	}
	tree := backend.SessionInfo{ID: "tree", Folder: "/p", CreatedAt: 1, Helper: &agent.Helper{Parent: "a", Folder: "/p/.worktrees/x", Worktree: "x"}}
	other := backend.SessionInfo{ID: "other", Folder: "/other", CreatedAt: 1}
	fork := backend.SessionInfo{ID: "Fork", Folder: "/p", CreatedAt: 2, Origin: &agent.ForkOrigin{Session: "a", Seq: 3}}
	for _, info := range []backend.SessionInfo{tree, other, fork} {
		if err := s.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	own := []agent.Payload{
		agent.ToolCallEnd{CallID: "a1", Files: changed("f", "g")}, agent.ToolCallEnd{CallID: "a2"}, agent.LocalCommandEnd{ID: "a3", Files: changed("f")},
	}
	add(t, s, "a", own...)    // at 100, 101, 102
	add(t, s, "Fork", own...) // as a copy has it
	add(t, s, "b", agent.FilesRestored{ID: "b1", FilesChanged: *changed("f")}, agent.ToolCallEnd{
		CallID: "b2", Output: strings.Repeat("large ", 60_000), Files: changed("f"),
	})
	for _, id := range []string{"tree", "other"} {
		add(t, s, id, agent.ToolCallEnd{CallID: id, Files: changed("f")})
	}
	list := func(r backend.FileRange) (names []string) {
		t.Helper()
		steps, err := s.FileSteps(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			names = append(names, fmt.Sprint(step.Session, step.Seq, " ", step.Call, " ", step.At, " ", step.Kind))
		}
		return names
	}
	check := func() {
		t.Helper()
		all := []string{"a3 a3 102 local_command_end", "b2 b2 101 tool_call_end", "b1 b1 100 files_restored", "a1 a1 100 tool_call_end"}
		for _, tt := range []struct {
			r    backend.FileRange
			want []string
		}{
			{backend.FileRange{Folder: "/p", Path: "f", Limit: 10}, all},
			{backend.FileRange{Folder: "/p", Path: "g", Limit: 10}, all[3:]},
			{backend.FileRange{Folder: "/p", Path: "h", Limit: 10}, nil},
			{backend.FileRange{Folder: "/other", Path: "f", Limit: 10}, []string{"other1 other 100 tool_call_end"}},
			{backend.FileRange{Folder: "/p", Path: "f", Limit: 2}, all[:2]},
			{backend.FileRange{Folder: "/p", Path: "f", Before: backend.CallPlace{At: 100, Session: "b", Seq: 1}, Limit: 10}, all[3:]},
		} {
			if diff := cmp.Diff(tt.want, list(tt.r)); diff != "" {
				t.Errorf("%+v: -want +got\n%s", tt.r, diff)
			}
		}
	}
	check()
	execute(t, filepath.Join(home, storage.File), "DELETE FROM file_steps; INSERT INTO file_steps VALUES ('f', 1, 'a', 1, 'x', 'wrong')")
	if err := s.RebuildFileSteps(t.Context()); err != nil {
		t.Fatal(err)
	}
	check()
	execute(t, filepath.Join(home, storage.File), "UPDATE sessions SET helper = '{', details = '{' WHERE id = 'b'; UPDATE events SET body = X'7B' WHERE session = 'a' AND seq = 1")
	if err := s.RebuildFileSteps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := list(backend.FileRange{Folder: "/p", Path: "g", Limit: 10}), []string{"Fork1 a1 100 tool_call_end"}; !cmp.Equal(got, want) {
		t.Errorf("after damage %q, want %q, from the copy", got, want)
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got, want := list(backend.FileRange{Folder: "/p", Path: "f", Limit: 1}), []string{"Fork3 a3 102 local_command_end"}; !cmp.Equal(got, want) {
		t.Errorf("after the deletion %q, want %q", got, want)
	}
}

// A worktree has the steps of its sessions and of their agents there, and the project
// has none of them, nor has it copies in a fork that went back into the project.
func TestFileStepsOfAWorktree(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for i, info := range []backend.SessionInfo{
		{ID: "agent", Helper: &agent.Helper{Parent: "a", Folder: "/p/.worktrees/x", Worktree: "x"}},
		{ID: "forked", Worktree: ".worktrees/y"},
		{ID: "started", Helper: &agent.Helper{Parent: "forked", Folder: "/p/.worktrees/y"}},
		{ID: "back"},
	} {
		info.Folder, info.CreatedAt = "/p", int64(i+1)
		if err := s.CreateSession(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		call := info.ID
		if call == "back" {
			call = "forked"
		}
		add(t, s, info.ID, agent.ToolCallEnd{CallID: call, Files: changed("f")})
	}
	for tree, want := range map[string][]string{"": nil, ".worktrees/x": {"agent"}, ".worktrees/y": {"started", "forked"}} {
		steps, err := s.FileSteps(t.Context(), backend.FileRange{Folder: "/p", Worktree: tree, Path: "f", Limit: 9})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, step := range steps {
			got = append(got, step.Session)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", tree, diff)
		}
	}
}

// What a step belongs to is found beside it, and a turn's cost includes what was
// asked aside.
func TestTurnOf(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	cost := func(n llm.Cost) *llm.Cost { return &n }
	answer := func(model string, c llm.Cost) agent.TextEnd {
		return agent.TextEnd{Provider: "demo", Model: model, Usage: llm.Usage{Known: true}, Cost: cost(c)}
	}
	events := []agent.Event{
		{Turn: 1, Data: agent.UserInput{Text: "first"}},
		{Turn: 1, Data: answer("one", 1)},
		{Turn: 1, Data: agent.ProcessingEnd{}},
		{Turn: 2, Data: agent.UserInput{Text: "second"}},
		{Turn: 2, Data: answer("two", 10)},
		{Turn: 2, Data: agent.SideRequest{Purpose: agent.PurposeSampling, Provider: "demo", Model: "aside", Usage: llm.Usage{Known: true}, Cost: cost(100)}},
		{Turn: 2, Data: agent.ToolCallEnd{CallID: "c", Files: changed("f")}},
		{Turn: 2, Data: answer("three", 1000)},
		{Turn: 2, Data: agent.SideRequest{Purpose: agent.PurposeSampling, Provider: "demo", Model: "aside"}},
		{Turn: 0, Data: agent.LocalCommandEnd{ID: "l"}},
	}
	for i, ev := range events {
		ev.Session, ev.At = "a", int64(i)
		if _, err := s.Append(t.Context(), ev); err != nil {
			t.Fatal(err)
		}
	}
	for seq, want := range map[int64]backend.TurnFacts{
		3:  {Prompt: "first", Provider: "demo", Model: "one", Cost: &llm.Spending{Cost: 1}},
		7:  {Prompt: "second", Provider: "demo", Model: "two", Cost: &llm.Spending{Cost: 1110, Unknown: 1}},
		10: {},
	} {
		got, err := s.TurnOf(t.Context(), agent.Event{Session: "a", Seq: seq, Turn: events[seq-1].Turn})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("event %d: %v, -want +got\n%s", seq, err, diff)
		}
	}
}
