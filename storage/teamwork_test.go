package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/agent/team"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// OAS-507: a board that an older program kept as a setting becomes rows, and goes on.
func TestBoardOfAnOldDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	for key, value := range map[string]string{
		"board.a": `{"last":3,"tasks":[{"id":"task_1","subject":"one","status":"completed","owner":"rob","created_at":5,"updated_at":6,"output":"done","blocks":["task_3"],"metadata":{"k":"v"}},
			{"id":"task_3","subject":"three","status":"pending","created_at":7,"updated_at":7,"description":"d","blocked_by":["task_1"]}]}`,
		"board.b": `{"last":1,"tasks":[{"id":"task_1","subject":"of a session that is gone"}]}`,
		"board.c": `{no json`,
	} {
		if err := s.SetSetting(t.Context(), key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), `DELETE FROM migrations WHERE name = '20261128a_teamwork'; PRAGMA user_version = 14;
		DROP TRIGGER mail_delivered; DROP TABLE tasks; DROP TABLE teams; DROP TABLE mail`)
	s = open(t, home)
	got, err := s.Board(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	want := board.Board{Last: 3, Tasks: []board.Task{
		{ID: "task_1", Subject: "one", Status: board.Completed, Owner: "rob", CreatedAt: 5, UpdatedAt: 6, Output: "done", Blocks: []string{"task_3"}, Metadata: map[string]string{"k": "v"}},
		{ID: "task_3", Subject: "three", Status: board.Pending, CreatedAt: 7, UpdatedAt: 7, Description: "d", BlockedBy: []string{"task_1"}},
	}}
	opt := cmp.Comparer(func(a, b map[string]string) bool { return len(a) == len(b) && a["k"] == b["k"] })
	lists := cmp.Comparer(func(a, b []string) bool { return len(a) == len(b) && fmt.Sprint(a) == fmt.Sprint(b) })
	if diff := cmp.Diff(want, got, opt, lists); diff != "" {
		t.Error(diff)
	}
	err = s.ChangeBoard(t.Context(), "a", func(b *board.Board) error {
		made, err := b.Create(board.Task{Subject: "four"}, time.Now())
		if made.ID != "task_4" {
			t.Errorf("%+v", made)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// shared fills a session with what agents share, and returns it.
func shared(t *testing.T, s *storage.Store) (board.Board, team.Roster, []team.Message) {
	t.Helper()
	ctx := t.Context()
	err := errors.Join(
		s.ChangeBoard(ctx, "a", func(b *board.Board) error {
			_, err := b.Create(board.Task{Subject: "one", Owner: "rob", Description: "d"}, time.UnixMilli(1))
			_, err2 := b.Create(board.Task{Subject: "two", BlockedBy: []string{"task_1"}}, time.UnixMilli(2))
			return errors.Join(err, err2)
		}),
		s.ChangeTeams(ctx, "a", func(r *team.Roster) error {
			_, err := r.Create("red", "", []team.Member{{Name: "rob"}}, time.UnixMilli(3))
			return err
		}),
	)
	_, toNobody := s.AddMessage(ctx, "a", "", team.Message{ID: "m1", Team: "team_1", From: team.Self, To: "rob", Type: team.Text, Text: "hello", At: 4})
	_, toReader := s.AddMessage(ctx, "a", "a", team.Message{ID: "m2", Team: "team_1", From: "rob", To: team.Self, Type: team.ShutdownRequest, Text: "bye", At: 5})
	if err := errors.Join(err, toNobody, toReader); err != nil {
		t.Fatal(err)
	}
	return together(t, s)
}

func together(t *testing.T, s *storage.Store) (board.Board, team.Roster, []team.Message) {
	t.Helper()
	b, err := s.Board(t.Context(), "a")
	r, err2 := s.Teams(t.Context(), "a")
	m, err3 := s.Messages(t.Context(), "a", 100)
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	return b, r, m
}

// OAS-507, OAS-512: what agents share survives the repair of a database.
func TestRepairKeepsWhatAgentsShare(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.SessionStart{Folder: "/p"})
	b, r, m := shared(t, s)
	if len(b.Tasks) != 2 || len(r.Teams) != 1 || len(m) != 2 {
		t.Fatalf("%+v %+v %+v", b, r, m)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), "UPDATE sessions SET usage = 'x'")
	repair(t, home)
	s = open(t, home)
	b2, r2, m2 := together(t, s)
	if diff := cmp.Diff([]any{b, r, m}, []any{b2, r2, m2}); diff != "" {
		t.Error(diff)
	}
	queue, err := s.Queue(t.Context(), "a")
	if err != nil || len(queue) != 1 || queue[0].From != "rob" || queue[0].Typed != "bye" {
		t.Errorf("%+v, %v", queue, err)
	}
}

// OAS-515, OAS-518: a message is added once for each id, waits for an agent that is not there yet,
// is delivered with the event that says so, or removed by a person; and an agent has a limit.
func TestMail(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	session(t, s, "b")
	shared(t, s)
	states := func() (out []team.State) {
		_, _, all := together(t, s)
		for _, m := range all {
			out = append(out, m.State)
		}
		return out
	}
	again, err := s.AddMessage(t.Context(), "a", "a", team.Message{ID: "m2", To: team.Self})
	if again || err != nil {
		t.Errorf("it is added twice: %v", err)
	}
	if got, err := s.Collect(t.Context(), "a", "rob", "b"); err != nil || len(got) != 1 || got[0].ID != "m1" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Collect(t.Context(), "a", "rob", "b"); err != nil || len(got) != 0 {
		t.Errorf("it is collected twice: %+v, %v", got, err)
	}
	if diff := cmp.Diff([]team.State{team.Queued, team.Queued}, states()); diff != "" {
		t.Error(diff)
	}
	add(t, s, "b", agent.UserInput{Text: "x", QueueID: "m1", From: "self"})
	if err := s.RemoveQueued(t.Context(), "m2"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]team.State{team.Delivered, team.Removed}, states()); diff != "" {
		t.Error(diff)
	}
	for i := range team.MaxUnread + 1 {
		_, err = s.AddMessage(t.Context(), "a", "", team.Message{ID: fmt.Sprint("n", i), To: "eve"})
	}
	if !errors.Is(err, team.ErrUnread) {
		t.Errorf("%v", err)
	}
}

const mailerHome = "ATELIER_TEST_MAILER_HOME"

// mailForever writes messages and delivers them, and prints the number of each round.
func mailForever(home string) {
	ctx := context.Background()
	s, err := storage.Open(ctx, home)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	begun := time.Now().UnixNano()
	for i := 1; ; i++ {
		_, err := s.AddMessage(ctx, "a", "a", team.Message{ID: fmt.Sprintf("%d-%d", begun, i), From: "rob", To: team.Self, Type: team.Text, Text: "x", At: int64(i)})
		var waits []agent.Queued
		if err == nil {
			waits, err = s.Queue(ctx, "a")
		}
		for _, m := range waits {
			if _, err2 := s.Append(ctx, agent.Event{Session: "a", Data: agent.SteeringInjected{Text: m.Text, QueueID: m.ID, From: m.From}}); err2 != nil {
				err = err2
			}
		}
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(i)
	}
}

// OAS-518: of a process that is killed at any time, each message is in the log once, or it waits.
func TestKillLosesAndDoublesNoMessage(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 5
	}
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	_ = s.Close()
	for range kills {
		killed(t, mailerHome, home, 1+rand.IntN(12))
	}
	s = open(t, home)
	together(t, s)
	all, err := s.Messages(t.Context(), "a", 100_000)
	if err != nil || len(all) < kills {
		t.Fatalf("%d messages, %v", len(all), err)
	}
	where := map[string]int{}
	events, err := s.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range events {
		if d, ok := ev.Data.(agent.SteeringInjected); ok {
			where[d.QueueID]++
		}
	}
	waits, err := s.Queue(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	waiting := map[string]bool{}
	for _, m := range waits {
		where[m.ID]++
		waiting[m.ID] = true
	}
	for _, m := range all {
		if where[m.ID] != 1 {
			t.Errorf("message %s is there %d times", m.ID, where[m.ID])
		}
		if (m.State == team.Queued) != waiting[m.ID] || (m.State == team.Delivered) == waiting[m.ID] {
			t.Errorf("message %s is %s, waiting %t", m.ID, m.State, waiting[m.ID])
		}
	}
}
