package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

// isLost reports whether an event stands for the events between two places.
func isLost(ev agent.Event, from, to int64) bool {
	return ev.Seq == from && cmp.Equal(ev.Data, agent.Payload(agent.Lost(from, to)))
}

// lines returns events in a form to compare: a place and a code, or the places
// of lost ones.
func lines(events []agent.Event) (out []string) {
	for _, ev := range events {
		w, _ := ev.Data.(agent.Warning)
		if w.Code == agent.WarningDamaged {
			what, _, _ := strings.Cut(w.Message, " damaged")
			out = append(out, fmt.Sprintf("%d: %s", ev.Seq, what))
			continue
		}
		out = append(out, fmt.Sprint(ev.Seq))
	}
	return out
}

// damaged returns a database on whose session "a" statements were run after ten
// events.
func damaged(t *testing.T, statements ...string) (*storage.Store, string) {
	t.Helper()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	for range 10 {
		add(t, s, "a", agent.Warning{Code: "w"})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		execute(t, filepath.Join(home, storage.File), statement)
	}
	return open(t, home), home
}

// A damaged or missing event affects no other, and a warning stands in its
// place, however the log is read.
func TestDamagedEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, change string
		r            backend.EventRange
		want         []string
	}{
		{"a body", "UPDATE events SET body = '{}x' WHERE seq = 3", backend.EventRange{Before: 6}, []string{"1", "2", "3: Event 3 of this session is", "4", "5"}},
		{"an unknown kind", "UPDATE events SET kind = 'waning' WHERE seq = 1", backend.EventRange{Before: 3}, []string{"1: Event 1 of this session is", "2"}},
		{"a text for a number", "UPDATE events SET at = 'soon' WHERE seq = 2", backend.EventRange{Before: 4}, []string{"1", "2: Event 2 of this session is", "3"}},
		{"nothing for a text", "PRAGMA writable_schema = 1; UPDATE events SET body = x'00' WHERE seq = 2", backend.EventRange{Before: 3}, []string{"1", "2: Event 2 of this session is"}},
		{"missing", "DELETE FROM events WHERE seq IN (4, 5, 7)", backend.EventRange{}, []string{"1", "2", "3", "4: 2 events of this session (4 to 5) are", "6", "7: Event 7 of this session is", "8", "9", "10"}},
		{"the first", "DELETE FROM events WHERE seq < 9", backend.EventRange{}, []string{"1: 8 events of this session (1 to 8) are", "9", "10"}},
		{"the last", "DELETE FROM events WHERE seq > 2", backend.EventRange{}, []string{"1", "2", "3: 8 events of this session (3 to 10) are"}},
		{"a place", "UPDATE events SET seq = 900 WHERE seq = 9", backend.EventRange{After: 7}, []string{"8", "9: Event 9 of this session is", "10"}},
		{"the newest", "UPDATE events SET body = '' WHERE seq = 10", backend.EventRange{Newest: true, Limit: 2}, []string{"9", "10: Event 10 of this session is"}},
		{"a page's first", "UPDATE events SET body = '' WHERE seq = 9", backend.EventRange{Newest: true, Limit: 2}, []string{"9: Event 9 of this session is", "10"}},
		{"a page with nothing else", "UPDATE events SET body = '' WHERE seq > 4", backend.EventRange{Newest: true, Limit: 3}, []string{"8: 3 events of this session (8 to 10) are"}},
		{"the last of a page", "UPDATE events SET body = '' WHERE seq = 3", backend.EventRange{Limit: 3}, []string{"1", "2", "3: Event 3 of this session is"}},
		{"one", "UPDATE events SET body = '' WHERE seq = 3", backend.EventRange{After: 2, Before: 4}, []string{"3: Event 3 of this session is"}},
		{"the row's end of the log", "UPDATE sessions SET seq = 99", backend.EventRange{After: 8}, []string{"9", "10"}},
		{"the last, and the row", "UPDATE events SET body = '' WHERE seq = 10; DELETE FROM sessions", backend.EventRange{After: 8}, []string{"9", "10: Event 10 of this session is"}},
		{"one that never was", "UPDATE events SET body = '' WHERE seq = 3", backend.EventRange{After: 10, Before: 12}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := damaged(t, tt.change)
			tt.r.Session = "a"
			events, err := s.Events(t.Context(), tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(events)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The file of a large event may be missing. One that exists and cannot be read
// is a failure, because it may be readable later.
func TestMissingFileOfAnEvent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	add(t, s, "a", agent.Warning{Code: "w"}, agent.UserInput{Text: strings.Repeat("long ", 200_000)}, agent.Warning{Code: "w"})
	blob := filepath.Join(home, "blobs", "a", "2.json")
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	events, err := s.Events(t.Context(), backend.EventRange{Session: "a"})
	if diff := cmp.Diff([]string{"1", "2: Event 2 of this session is", "3"}, lines(events)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := os.Mkdir(blob, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Events(t.Context(), backend.EventRange{Session: "a"}); code(err) != backend.CodeStoreFailed || strings.Contains(err.Error(), "disk is not full") {
		t.Errorf("unreadable: %v", err)
	}
}

// A damaged row of a session is folded again from the log, and repaired by the
// next append.
func TestDamagedSessionRow(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"settings":          "UPDATE sessions SET settings = '{\"provider\":' WHERE id = 'a'",
		"readable settings": "UPDATE sessions SET settings = replace(settings, 'real', 'fake') WHERE id = 'a'",
		"usage":             "UPDATE sessions SET usage = 'x' WHERE id = 'a'",
		"old settings":      "UPDATE sessions SET settings = '{', checksum = NULL WHERE id = 'a'",
		"old usage":         "UPDATE sessions SET usage = '{', checksum = NULL WHERE id = 'a'",
		"an old helper":     "UPDATE sessions SET helper = '{', checksum = NULL WHERE id = 'a'",
		"state":             "UPDATE sessions SET state = 'idly' WHERE id = 'a'",
		"lines":             "UPDATE sessions SET lines_added = 9 WHERE id = 'a'",
		"branch":            "UPDATE sessions SET branch = 'other' WHERE id = 'a'",
		"a low place":       "UPDATE sessions SET seq = 2 WHERE id = 'a'",
		"an old low place":  "UPDATE sessions SET seq = 2, checksum = NULL WHERE id = 'a'",
		"a text for a time": "UPDATE sessions SET updated_at = 'now' WHERE id = 'a'",
		"folder":            "UPDATE sessions SET folder = '/q' WHERE id = 'a'",
		"id":                "PRAGMA foreign_keys = off; UPDATE sessions SET id = 'b' WHERE id = 'a'",
		"missing":           "PRAGMA foreign_keys = off; DELETE FROM sessions WHERE id = 'a'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := open(t, home)
			session(t, s, "other")
			session(t, s, "a")
			settings := agent.Settings{Provider: "p", Model: "real", Mode: agent.ModePlan}
			add(t, s, "a", agent.SessionStart{Folder: "/p"}, agent.SettingsChange{Settings: settings}, agent.UserInput{Text: "x"},
				agent.Title{Text: "A title"}, agent.ProcessingEnd{Reason: agent.EndDone})
			want, err := s.Session(t.Context(), "a")
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			execute(t, filepath.Join(home, storage.File), change)
			s = open(t, home)
			list, err := s.Sessions(t.Context(), "/p")
			if err != nil || len(list) != 2 {
				t.Fatalf("list: %+v, %v", list, err)
			}
			got, err := s.Session(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if name != "an old low place" { // which only an append notices
				want.Damaged, want.CreatedAt = true, 100
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
			if seq, err := s.Append(t.Context(), agent.Event{Session: "a", At: 900, Data: agent.Warning{Code: "w"}}); err != nil || seq != 6 {
				t.Fatalf("stored at %d, %v", seq, err)
			}
			if got, err := s.Session(t.Context(), "a"); err != nil || got.Damaged || got.Seq != 6 || got.Settings != settings || got.Folder != "/p" {
				t.Errorf("after the append: %+v, %v", got, err)
			}
			if events, err := s.Events(t.Context(), backend.EventRange{Session: "a"}); err != nil || len(events) != 6 {
				t.Errorf("%v, %v", lines(events), err)
			}
		})
	}
}

// A damaged setting is not mistaken for another value.
func TestDamagedSetting(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	if err := s.SetSetting(t.Context(), "k", "value"); err != nil {
		t.Fatal(err)
	}
	execute(t, filepath.Join(home, storage.File), "UPDATE settings SET value = 'valve'")
	if v, err := s.Setting(t.Context(), "k"); code(err) != backend.CodeStoreCorrupt || v != "" {
		t.Errorf("%q, %v", v, err)
	}
	if err := s.SetSetting(t.Context(), "k", "value"); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Setting(t.Context(), "k"); v != "value" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// With one wrong byte anywhere in the file, nothing panics and the file is not
// changed. If the database can be opened at all, every session but one is
// complete, and that one lacks only the part with the byte.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	s := open(t, home)
	const sessions, each = 5, 40
	for i := range sessions {
		id := fmt.Sprintf("session-%d", i)
		session(t, s, id)
		for n := range each {
			words := 30
			if n%10 == 9 { // more than a page
				words = 600
			}
			add(t, s, id, agent.UserInput{Text: strings.Repeat(fmt.Sprintf("%d of %d ", n, i), words)})
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(home, storage.File))
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(20261122, 10))
	opened := 0
	for range 100 {
		at, bit := random.IntN(len(whole)), byte(1)<<random.IntN(8)
		home := t.TempDir()
		path := filepath.Join(home, storage.File)
		spoilt := bytes.Clone(whole)
		spoilt[at] ^= bit
		write(t, path, spoilt)
		s, err := storage.Open(t.Context(), home)
		if err == nil {
			opened++
			if lost := readAll(t, s, sessions, each); lost > 1 {
				t.Errorf("byte %d, bit %#x: %d sessions are not whole", at, bit, lost)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		} else if c := code(err); c != backend.CodeStoreCorrupt && c != backend.CodeStoreUnusable && c != backend.CodeStoreNewer {
			t.Errorf("byte %d, bit %#x: %v", at, bit, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(spoilt, after) {
			t.Errorf("byte %d, bit %#x: the file was changed", at, bit)
		}
	}
	t.Logf("%d of 100 could be opened", opened)
}

// readAll reads every session and returns how many are incomplete.
func readAll(t *testing.T, s *storage.Store, sessions, each int) (lost int) {
	t.Helper()
	list, err := s.Sessions(t.Context(), "/p")
	if err != nil {
		t.Error(err)
	}
	for i := range sessions {
		id := fmt.Sprintf("session-%d", i)
		events, err := s.Events(t.Context(), backend.EventRange{Session: id})
		found := false
		for _, info := range list {
			found = found || info.ID == id
		}
		bad := 0
		for _, ev := range events {
			if _, ok := ev.Data.(agent.Warning); ok {
				bad++
			}
		}
		if err != nil || !found || bad > 0 || len(events) != each {
			lost++
		}
		if len(events)-bad < each-20 { // a page holds several
			t.Errorf("%s: %d events are left: %v", id, len(events)-bad, err)
		}
	}
	return lost
}
