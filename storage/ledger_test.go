package storage_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

// answer returns the end of a request; a cost below 0 is unknown.
func answer(model string, tokens int64, cost llm.Cost) agent.TextEnd {
	end := agent.TextEnd{Provider: "p", Model: model, Usage: llm.Usage{Input: tokens, Output: 1, Known: tokens > 0}}
	if cost >= 0 {
		end.Cost = &cost
	}
	return end
}

// OAS-114, OAS-712: every request is in the ledger, priced when it was made,
// and is summed by model, by session and by day. Unknown costs are counted.
func TestLedger(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	session(t, s, "b")
	day := time.Date(2026, 11, 20, 12, 0, 0, 0, time.Local)
	next := day.AddDate(0, 0, 1)
	for _, e := range []struct {
		session string
		at      time.Time
		data    agent.Payload
	}{
		{"a", day, agent.Title{Text: "First"}},
		{"a", day, answer("x", 100, 3)},
		{"a", day, answer("y", 10, 4)},
		{"b", next, answer("x", 1000, 5)},
		{"b", next, answer("x", 0, -1)},
	} {
		if _, err := s.Append(t.Context(), agent.Event{Session: e.session, Turn: 1, At: e.at.UnixMilli(), Data: e.data}); err != nil {
			t.Fatal(err)
		}
	}
	u := func(input, output int64, known bool) llm.Usage {
		return llm.Usage{Input: input, Output: output, Known: known}
	}
	want := backend.CostSummary{
		Total: backend.CostLine{Requests: 4, Usage: u(1110, 3, false), Cost: llm.Spending{Cost: 12, Unknown: 1}},
		Models: []backend.CostLine{
			{Provider: "p", Model: "x", Requests: 3, Usage: u(1100, 2, false), Cost: llm.Spending{Cost: 8, Unknown: 1}},
			{Provider: "p", Model: "y", Requests: 1, Usage: u(10, 1, true), Cost: llm.Spending{Cost: 4}},
		},
		Sessions: []backend.CostLine{
			{Session: "b", Requests: 2, Usage: u(1000, 1, false), Cost: llm.Spending{Cost: 5, Unknown: 1}},
			{Session: "a", Title: "First", Requests: 2, Usage: u(110, 2, true), Cost: llm.Spending{Cost: 7}},
		},
		Days: []backend.CostLine{
			{Day: next.Format(time.DateOnly), Requests: 2, Usage: u(1000, 1, false), Cost: llm.Spending{Cost: 5, Unknown: 1}},
			{Day: day.Format(time.DateOnly), Requests: 2, Usage: u(110, 2, true), Cost: llm.Spending{Cost: 7}},
		},
		Purposes: []backend.CostLine{
			{Purpose: agent.PurposeTurn, Requests: 4, Usage: u(1110, 3, false), Cost: llm.Spending{Cost: 12, Unknown: 1}},
		},
	}
	check := func(when, session string, want backend.CostSummary) {
		t.Helper()
		got, err := s.Costs(t.Context(), "/p", session)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	check("all", "", want)
	one := backend.CostSummary{Total: want.Sessions[1], Models: []backend.CostLine{
		{Provider: "p", Model: "y", Requests: 1, Usage: u(10, 1, true), Cost: llm.Spending{Cost: 4}},
		{Provider: "p", Model: "x", Requests: 1, Usage: u(100, 1, true), Cost: llm.Spending{Cost: 3}},
	}, Sessions: want.Sessions[1:], Days: want.Days[1:]}
	one.Total.Session, one.Total.Title = "", ""
	turn, purpose := one.Total, one.Total
	turn.Turn, purpose.Purpose = 1, agent.PurposeTurn
	one.Turns, one.Purposes = []backend.CostLine{turn}, []backend.CostLine{purpose}
	check("one session", "a", one)

	if info, err := s.Session(t.Context(), "b"); err != nil || info.Cost != want.Sessions[0].Cost {
		t.Errorf("the session's list shows %+v, %v", info.Cost, err)
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	want.Sessions[1].Title = ""
	check("after a session was deleted", "", want)
	if got, err := s.Costs(t.Context(), "/elsewhere", ""); err != nil || got.Total.Requests != 0 {
		t.Errorf("another folder spent %+v, %v", got, err)
	}
}

// A database without a ledger gets its requests from its events. Their costs
// stay unknown.
func TestLedgerOfAnOldDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	session(t, s, "empty")
	add(t, s, "a", agent.UserInput{Text: "Hi."}, answer("x", 100, 3), answer("x", 0, -1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, storage.File)
	execute(t, path, `DROP TABLE queue; DROP TABLE tasks; DROP TABLE teams; DROP TABLE mail; DROP TABLE hook_log; DROP TABLE file_steps; DROP TABLE ledger; DROP INDEX calls_by_time; DROP INDEX first_events;
		DROP TABLE migrations; ALTER TABLE settings DROP COLUMN checksum; ALTER TABLE sessions DROP COLUMN checksum;
		DROP INDEX sessions_by_parent; ALTER TABLE sessions DROP COLUMN parent; ALTER TABLE sessions DROP COLUMN helper;
		ALTER TABLE sessions DROP COLUMN lines_added; ALTER TABLE sessions DROP COLUMN lines_removed; ALTER TABLE sessions DROP COLUMN branch;
		ALTER TABLE sessions DROP COLUMN cost; ALTER TABLE sessions DROP COLUMN cost_unknown; ALTER TABLE approvals DROP COLUMN seq; ALTER TABLE sessions DROP COLUMN details;
		PRAGMA user_version = 1`)
	s = open(t, home)
	got, err := s.Costs(t.Context(), "/p", "a")
	if err != nil {
		t.Fatal(err)
	}
	want := []backend.CostLine{{
		Provider: "p", Model: "x", Requests: 2, Usage: llm.Usage{Input: 100, Output: 1}, Cost: llm.Spending{Unknown: 2},
	}}
	if diff := cmp.Diff(want, got.Models); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[string]llm.Spending{"a": {Unknown: 2}, "empty": {}} {
		if info, err := s.Session(t.Context(), id); err != nil || info.Cost != want {
			t.Errorf("session %s cost %+v, %v", id, info.Cost, err)
		}
	}
	add(t, s, "a", answer("x", 1, 9))
	if info, err := s.Session(t.Context(), "a"); err != nil || info.Cost != (llm.Spending{Cost: 9, Unknown: 2}) {
		t.Errorf("the sum is %+v, %v", info.Cost, err)
	}
}

// An answer that broke off after its beginning is in the ledger, with an
// unknown cost if its provider reported no usage. An answer that never began is
// not.
func TestLedgerCountsAbandonedAnswers(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	add(t, s, "a", agent.Retrying{Provider: "p", Model: "x", Sent: true}, agent.Retrying{Provider: "p", Model: "x"},
		agent.Retrying{Provider: "p", Model: "x", Usage: llm.Usage{Output: 7, Known: true}, Cost: new(llm.Cost(4))}, answer("x", 5, 2))
	got, err := s.Costs(t.Context(), "/p", "a")
	if err != nil {
		t.Fatal(err)
	}
	if want := (llm.Spending{Cost: 6, Unknown: 1}); got.Total.Requests != 3 || got.Total.Cost != want {
		t.Errorf("total: %+v", got.Total)
	}
	info, err := s.Session(t.Context(), "a")
	if err != nil || info.Cost != (llm.Spending{Cost: 6, Unknown: 1}) || info.Usage.Output != 8 {
		t.Errorf("session: %+v, %v", info, err)
	}
}

// A damaged row of the ledger is restored from the log. If its event is lost,
// its cost counts as unknown, so that no sum is wrong.
func TestDamagedLedgerRow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change string
		gone   bool // the log's cost
	}{
		"cost":            {"cost = cost + 1", false},
		"no cost":         {"cost = NULL", false},
		"cost as text":    {"cost = 'x'", false},
		"tokens":          {"input = input | 4096", false},
		"model":           {"model = 'y'", false},
		"folder":          {"folder = '/q'", false},
		"day":             {"at = at + 864000000", false},
		"checksum":        {"checksum = checksum + 1", false},
		"without a log":   {"cost = cost + 1", true},
		"text, no log":    {"cost = 'x', input = 'y'", true},
		"no event of it":  {"seq = 7", true},
		"not a place":     {"seq = 'x'", true},
		"not its session": {"session = 'z'", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := open(t, home)
			session(t, s, "a")
			add(t, s, "a", answer("x", 100, 3), answer("x", 10, 4))
			want, err := s.Costs(t.Context(), "/p", "")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, filepath.Join(home, storage.File), "UPDATE ledger SET "+tt.change+" WHERE session = 'a' AND seq = 1")
			if tt.gone {
				execute(t, filepath.Join(home, storage.File), "DELETE FROM events WHERE session = 'a' AND seq = 1")
				want = backend.CostSummary{}
			}
			for range 2 { // it is repaired once
				s = open(t, home)
				got, err := s.Costs(t.Context(), "/p", "")
				if err != nil {
					t.Fatal(err)
				}
				if tt.gone {
					if got.Total.Requests != 2 || got.Total.Cost != (llm.Spending{Cost: 4, Unknown: 1}) || got.Total.Usage.Known {
						t.Errorf("%+v", got.Total)
					}
				} else if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestCostsByTurnAndPurpose proves that a session's costs are summed by turn and by what
// the requests were for, that agents count for their own session and purpose and not for
// a turn of the same number, and that an unknown cost stays unknown in each sum.
func TestCostsByTurnAndPurpose(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	if err := s.CreateSession(t.Context(), backend.SessionInfo{ID: "h", Folder: "/p", State: agent.StateIdle, Helper: &agent.Helper{Parent: "a", Folder: "/p"}}); err != nil {
		t.Fatal(err)
	}
	title := func(cost llm.Cost) agent.SideRequest {
		return agent.SideRequest{Purpose: agent.PurposeTitle, Provider: "p", Model: "small", Usage: llm.Usage{Input: 1, Known: true}, Cost: &cost}
	}
	for _, e := range []struct {
		session string
		turn    int
		data    agent.Payload
	}{
		{"a", 1, answer("x", 10, 2)}, {"a", 1, answer("x", 10, 3)}, {"a", 0, title(7)}, {"a", 2, answer("x", 10, -1)}, {"a", 12, answer("y", 1, 1)},
		{"h", 1, answer("x", 100, 50)}, {"h", 2, answer("x", 100, -1)},
	} {
		if _, err := s.Append(t.Context(), agent.Event{Session: e.session, Turn: e.turn, At: 1_000, Data: e.data}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Costs(t.Context(), "/p", "a")
	if err != nil {
		t.Fatal(err)
	}
	var sums []string
	for _, l := range got.Turns {
		sums = append(sums, fmt.Sprintf("turn %d: %d, %d unknown, %d", l.Turn, l.Cost.Cost, l.Cost.Unknown, l.Requests))
	}
	for _, l := range got.Purposes {
		sums = append(sums, fmt.Sprintf("%s: %d, %d unknown, %d", l.Purpose, l.Cost.Cost, l.Cost.Unknown, l.Requests))
	}
	want := []string{
		"turn 12: 1, 0 unknown, 1", "turn 2: 0, 1 unknown, 1", "turn 1: 5, 0 unknown, 2",
		"subagent: 50, 1 unknown, 2", "title: 7, 0 unknown, 1", "turn: 6, 1 unknown, 4",
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Error(diff)
	}
	if all, err := s.Costs(t.Context(), "/p", ""); err != nil || len(all.Turns) > 0 || all.Total.Cost.Cost != 63 || len(all.Purposes) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}
