package storage_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"github.com/google/go-cmp/cmp"
)

func open(t testing.TB, home string) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func session(t *testing.T, s *storage.Store, id string) {
	t.Helper()
	err := s.CreateSession(t.Context(), backend.SessionInfo{
		ID: id, Folder: "/p", State: agent.StateIdle, CreatedAt: 1, UpdatedAt: 1,
		Settings: agent.Settings{Provider: "demo", Model: "tour", Mode: agent.ModeDefault}, Usage: llm.Usage{Known: true},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, s *storage.Store, id string, data ...agent.Payload) {
	t.Helper()
	for i, p := range data {
		if _, err := s.Append(t.Context(), agent.Event{Session: id, Turn: 1, At: int64(100 + i), Data: p}); err != nil {
			t.Fatal(err)
		}
	}
}

func code(err error) backend.Code {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// OAS-602, K-11: the database is private to its user.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "new", "home")
	s := open(t, home)
	session(t, s, "a")
	for path, want := range map[string]os.FileMode{home: 0o700, filepath.Join(home, storage.File): 0o600, filepath.Join(home, storage.File+"-wal"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
}

// Events are read back unchanged, also by another process's store.
func TestEventsComeBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	var want []agent.Event
	for i, p := range agent.Payloads() {
		ev := agent.Event{Session: "a", Turn: 3, At: int64(i), Data: p}
		seq, err := s.Append(t.Context(), ev)
		if err != nil {
			t.Fatal(err)
		}
		ev.Seq = seq
		want = append(want, ev)
	}
	for _, from := range []*storage.Store{s, open(t, home)} {
		got, err := from.Events(t.Context(), backend.EventRange{Session: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// Events that are appended together are all stored, or none is.
func TestAppendTogether(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	add(t, s, "a", agent.Warning{Code: "before"})
	batch := []agent.Event{
		{Session: "a", Data: agent.UserInput{Text: "x"}}, {Session: "a", Data: agent.ApprovalRequest{ID: "r", CallID: "c"}},
		{Session: "a", Data: agent.ProcessingEnd{Reason: agent.EndDone}},
	}
	seq, err := s.Append(t.Context(), batch...)
	if err != nil || seq != 4 {
		t.Fatalf("seq %d, %v", seq, err)
	}
	if _, err := s.Append(t.Context(), batch...); err == nil { // the request's id exists already
		t.Fatal("no error")
	}
	events, err := s.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil || len(events) != 4 || events[3].Seq != 4 {
		t.Errorf("%d events, %v", len(events), err)
	}
	if info, err := s.Session(t.Context(), "a"); err != nil || info.Seq != 4 || info.LastEnd != agent.EndDone {
		t.Errorf("info %+v, %v", info, err)
	}
}

func TestEventRanges(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	for range 10 {
		add(t, s, "a", agent.Warning{Code: "w"})
	}
	for _, tt := range []struct {
		name string
		r    backend.EventRange
		want []int64
	}{
		{"after", backend.EventRange{After: 7}, []int64{8, 9, 10}},
		{"after, limited", backend.EventRange{After: 2, Limit: 2}, []int64{3, 4}},
		{"newest", backend.EventRange{Limit: 3, Newest: true}, []int64{8, 9, 10}},
		{"the newest", backend.EventRange{Limit: 1, Newest: true}, []int64{10}},
		{"the next", backend.EventRange{After: 2, Limit: 1}, []int64{3}},
		{"newest before", backend.EventRange{Before: 5, Limit: 2, Newest: true}, []int64{3, 4}},
		{"one", backend.EventRange{After: 4, Before: 6}, []int64{5}},
		{"none", backend.EventRange{After: 10}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.r.Session = "a"
			events, err := s.Events(t.Context(), tt.r)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, ev := range events {
				got = append(got, ev.Seq)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A session's row is folded in the same transaction.
func TestSummaryFollowsTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	session(t, s, "a")
	add(t, s, "a",
		agent.UserInput{Text: "x"}, agent.Title{Text: "A title"},
		agent.TextEnd{Usage: llm.Usage{Input: 7, CacheRead: 2, Output: 3, Known: true}},
		agent.ApprovalRequest{ID: "r1", CallID: "c1"})
	info, err := s.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if info.Title != "A title" || info.State != agent.StateAwaitingInput || info.Seq != 4 || info.Context != 12 || info.Usage.Output != 3 {
		t.Errorf("info = %+v", info)
	}
	if owner, err := s.PendingApproval(t.Context(), "r1"); owner != "a" || err != nil {
		t.Errorf("pending: %q, %v", owner, err)
	}
	add(t, s, "a", agent.ToolCallEnd{CallID: "c1"}, agent.ProcessingEnd{Reason: agent.EndInterrupted})
	if _, err := s.PendingApproval(t.Context(), "r1"); code(err) != backend.CodeNotFound {
		t.Errorf("a request outlived its call: %v", err)
	}
	list, err := s.Sessions(t.Context(), "/p")
	if err != nil || len(list) != 1 || list[0].LastEnd != agent.EndInterrupted || list[0].State != agent.StateIdle {
		t.Errorf("list = %+v, %v", list, err)
	}
}

// K-11: large events are in files of their own and are deleted with their
// session.
func TestLargeEvents(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	text := strings.Repeat("long ", 200_000)
	add(t, s, "a", agent.UserInput{Text: text})
	blobs, _ := filepath.Glob(filepath.Join(home, "blobs", "a", "*"))
	if len(blobs) != 1 {
		t.Fatalf("blobs: %v", blobs)
	}
	events, err := s.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil || len(events) != 1 || events[0].Data.(agent.UserInput).Text != text {
		t.Fatalf("read back: %d events, %v", len(events), err)
	}
	if err := os.WriteFile(blobs[0], []byte(`{"text":"forged"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if events, err := s.Events(t.Context(), backend.EventRange{Session: "a"}); err != nil || !isLost(events[0], 1, 1) {
		t.Errorf("a changed file was not noticed: %+v, %v", events, err)
	}
	if err := s.DeleteSessions(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(blobs[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file outlived its session: %v", err)
	}
	if _, err := s.Session(t.Context(), "a"); code(err) != backend.CodeNotFound {
		t.Errorf("the session is still there: %v", err)
	}
}

// K-36: every column of every row is covered by its checksum.
func TestChecksumSeesDamage(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		"body = replace(body, 'honest', 'forged')", "at = at + 1", "turn = turn + 1", "kind = 'steering_injected'", "seq = 9", "checksum = checksum + 1",
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := open(t, home)
			session(t, s, "a")
			add(t, s, "a", agent.UserInput{Text: "honest"})
			db, err := sql.Open("sqlite3", filepath.Join(home, storage.File))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("UPDATE events SET " + change); err != nil {
				t.Fatal(err)
			}
			if events, err := s.Events(t.Context(), backend.EventRange{Session: "a"}); err != nil || len(events) != 1 || !isLost(events[0], 1, 1) {
				t.Errorf("%+v, %v", events, err)
			}
		})
	}
}

// K-36: a database that cannot be used is not changed at all, and the error
// says why.
func TestOpenTouchesNothingItCannotUse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  backend.Code
	}{
		{"newer and different", func(t *testing.T, path string) {
			execute(t, path, "PRAGMA user_version = 9999; ALTER TABLE events RENAME COLUMN body TO payload")
		}, backend.CodeStoreNewer},
		{"garbage", func(t *testing.T, path string) { write(t, path, bytes.Repeat([]byte("garbage "), 1000)) }, backend.CodeStoreCorrupt},
		{"header overwritten", func(t *testing.T, path string) { patch(t, path, 0, "not a database!!") }, backend.CodeStoreCorrupt},
		{"pages overwritten", func(t *testing.T, path string) {
			for page := int64(1); page < 8; page++ {
				patch(t, path, page*4096, strings.Repeat("\xff\x00junk", 600))
			}
		}, backend.CodeStoreCorrupt},
		{"a folder", func(t *testing.T, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, backend.CodeStoreUnusable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := filepath.Join(home, storage.File)
			s, err := storage.Open(t.Context(), home)
			if err != nil {
				t.Fatal(err)
			}
			session(t, s, "a")
			for range 200 {
				add(t, s, "a", agent.UserInput{Text: strings.Repeat("x", 500)})
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, path)
			before, _ := os.ReadFile(path)
			_, err = storage.Open(t.Context(), home)
			if got := code(err); got != tt.want {
				t.Errorf("code %q, want %q: %v", got, tt.want, err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

// A database that another program holds is reported as such after the busy
// timeout, and nothing is lost.
func TestLocked(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	db, err := sql.Open("sqlite3", filepath.Join(home, storage.File))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), agent.Event{Session: "a", Data: agent.UserInput{Text: "x"}})
	if code(err) != backend.CodeStoreLocked {
		t.Errorf("err = %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	add(t, s, "a", agent.UserInput{Text: "x"})
}

// Opening waits for another program's lock and then says who holds it.
func TestLockedAtOpen(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", filepath.Join(home, storage.File)+"?_locking_mode=EXCLUSIVE")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE; INSERT INTO settings (key, value) VALUES ('k', 'v')"); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(t.Context(), home); code(err) != backend.CodeStoreLocked {
		t.Errorf("err = %v", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	if v, err := s.Setting(t.Context(), "k"); v != "" || err != nil {
		t.Errorf("missing: %q, %v", v, err)
	}
	for _, v := range []string{"one", "two", ""} {
		if err := s.SetSetting(t.Context(), "k", v); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Setting(t.Context(), "k"); got != v || err != nil {
			t.Errorf("got %q, want %q, %v", got, v, err)
		}
	}
}

// A session is run by one process at a time.
func TestLease(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, two := open(t, home), open(t, home)
	release, err := one.Lease("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*storage.Store{one, two} {
		if _, err := s.Lease("a"); code(err) != backend.CodeBusy {
			t.Errorf("err = %v", err)
		}
	}
	other, err := one.Lease("b")
	if err != nil {
		t.Fatal(err)
	}
	release()
	release, err = two.Lease("a")
	if err != nil {
		t.Fatal(err)
	}
	release()
	other()
}

// Two stores on one database append to one log without losing an event.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, two := open(t, home), open(t, home)
	session(t, one, "a")
	done := make(chan error, 2)
	const each = 20 // a writer may wait for all of the other's on a slow disk
	for _, s := range []*storage.Store{one, two} {
		go func() {
			for i := range each {
				if _, err := s.Append(context.Background(), agent.Event{Session: "a", Data: agent.UserInput{Text: fmt.Sprint(i)}}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	events, err := one.Events(t.Context(), backend.EventRange{Session: "a"})
	if err != nil || len(events) != 2*each {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i, ev := range events {
		if ev.Seq != int64(i+1) {
			t.Fatalf("event %d has seq %d", i, ev.Seq)
		}
	}
}

func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func patch(t *testing.T, path string, at int64, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(text), at)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}
