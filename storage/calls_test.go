package storage_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// OAS-630: the ends of calls come from several logs, the newest first, page by
// page, without the calls of other sessions. A damaged one keeps its place.
func TestCallEnds(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	for _, id := range []string{"a", "b", "other"} {
		session(t, s, id)
	}
	end := func(call string) agent.ToolCallEnd {
		return agent.ToolCallEnd{CallID: call, Tool: "Bash", Outcome: agent.OutcomeDone}
	}
	add(t, s, "a", agent.ToolCallStart{CallID: "a1"}, end("a1"), agent.Title{Text: "x"}, end("a2"), end("a3")) // at 101, 103, 104
	add(t, s, "b", end("b1"), end("b2"), end("b3"))                                                            // at 100, 101, 102
	add(t, s, "other", end("o1"), end("o2"), end("o3"), end("o4"))
	execute(t, filepath.Join(home, storage.File), `UPDATE events SET body = X'7B' WHERE session = 'b' AND seq = 2`)
	list := func(r backend.CallRange) (names []string) {
		t.Helper()
		events, err := s.CallEnds(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			name := fmt.Sprintf("lost %s%d", ev.Session, ev.Seq)
			if end, ok := ev.Data.(agent.ToolCallEnd); ok {
				name = end.CallID
			}
			names = append(names, name)
		}
		return names
	}
	both := []string{"a", "b"}
	all := []string{"a3", "a2", "b3", "lost b2", "a1", "b1"}
	for _, tt := range []struct {
		name string
		r    backend.CallRange
		want []string
	}{
		{"all", backend.CallRange{Sessions: both, Limit: 10}, all},
		{"one session", backend.CallRange{Sessions: []string{"a"}, Limit: 10}, []string{"a3", "a2", "a1"}},
		{"no session", backend.CallRange{Limit: 10}, nil},
		{"a limit", backend.CallRange{Sessions: both, Limit: 2}, all[:2]},
		{"since a time", backend.CallRange{Sessions: both, Since: 102, Limit: 10}, all[:3]},
		{"before a time", backend.CallRange{Sessions: both, Before: backend.CallPlace{At: 102}, Limit: 10}, all[3:]},
		{"before a place at the same time", backend.CallRange{Sessions: both, Before: backend.CallPlace{At: 101, Session: "b", Seq: 2}, Limit: 10}, all[4:]},
	} {
		if diff := cmp.Diff(tt.want, list(tt.r)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// The events about calls before a place come back, the newest first; everything
// else, and what is damaged, is left out.
func TestCallEvents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a",
		agent.ToolCallStart{CallID: "1"}, agent.ToolCallStart{CallID: "2"}, agent.Title{Text: "x"}, agent.ApprovalRequest{ID: "r", CallID: "2"},
		agent.ApprovalAnswer{ID: "r", CallID: "2"}, agent.HookEnd{CallID: "2"}, agent.ToolCallEnd{CallID: "2"}, agent.ToolCallStart{CallID: "3"})
	execute(t, filepath.Join(home, storage.File), `UPDATE events SET body = X'7B' WHERE seq = 2`)
	for _, tt := range []struct {
		limit int
		want  []int64
	}{{10, []int64{6, 5, 4, 1}}, {2, []int64{6, 5}}} {
		events, err := s.CallEvents(t.Context(), "a", 7, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, ev := range events {
			got = append(got, ev.Seq)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%d: %v", tt.limit, got)
		}
	}
}

// OAS-114: costs are summed by session between two times.
func TestCostsBetween(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	session(t, s, "b")
	add(t, s, "a", answer("x", 1, 5), answer("x", 1, 7), answer("x", 1, -1), answer("x", 1, 100)) // at 100 to 103
	add(t, s, "b", answer("x", 1, 9))
	got, err := s.CostsBetween(t.Context(), "/p", 101, 103)
	want := map[string]llm.Spending{"a": {Cost: 7, Unknown: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
