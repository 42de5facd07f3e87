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
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

func repair(t *testing.T, home string) storage.Repaired {
	t.Helper()
	got, err := storage.Repair(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// talkative fills a home with sessions of so many events, some of them long, and one
// that was deleted.
func talkative(t *testing.T, sessions, each int) string {
	t.Helper()
	home := t.TempDir()
	s := open(t, home)
	for i := range sessions + 1 {
		id := fmt.Sprintf("session-%d", i)
		session(t, s, id)
		add(t, s, id, agent.SessionStart{Folder: "/p"})
		for n := 1; n < each; n++ {
			cost := llm.Cost(n)
			add(t, s, id, agent.TextEnd{
				Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartText, Text: strings.Repeat(fmt.Sprintf("%d of %s ", n, id), 1+n*n*4)}}},
				Usage:   llm.Usage{Known: true, Input: 1}, Cost: &cost, Provider: "p", Model: "m",
			})
		}
	}
	if err := s.SetSetting(t.Context(), "k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSessions(t.Context(), fmt.Sprintf("session-%d", sessions)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return home
}

// A repair of a sound database changes nothing that can be seen, and makes what was
// damaged from the log.
func TestRepairMakesWhatFollowsFromTheLog(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]string{
		"sound":           "",
		"rows":            "UPDATE sessions SET usage = 'x', folder = '/q'",
		"a missing row":   "PRAGMA foreign_keys = off; DELETE FROM sessions",
		"the ledger":      "UPDATE ledger SET cost = 77",
		"no ledger":       "DELETE FROM ledger",
		"the approvals":   "DELETE FROM approvals",
		"indexes":         "DROP INDEX sessions_by_folder; DROP INDEX first_events; DROP INDEX calls_by_time",
		"a place in them": "UPDATE approvals SET seq = 1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, path := filled(t)
			home, before := filepath.Dir(path), all(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			execute(t, path, spoil)
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := repair(t, home)
			if copied, err := os.ReadFile(filepath.Join(got.Copy, storage.File)); !bytes.Equal(file, copied) || err != nil {
				t.Errorf("the copy differs: %v", err)
			}
			want := storage.Repaired{Copy: got.Copy, Sessions: 1, Events: 4, Settings: 1, Requests: 1}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			s = open(t, home)
			after := all(t, s)
			if name == "a missing row" || name == "rows" { // this log names neither time nor settings
				info := &before[0].([]backend.SessionInfo)[0]
				info.CreatedAt, info.Settings = 100, agent.Settings{Mode: agent.ModeDefault}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
			add(t, s, "a", agent.Warning{Code: "w"})
		})
	}
}

// Whatever happens to the file, every event that can be read is saved, the rest is
// counted, and a session that was deleted stays deleted.
func TestRepairSavesEveryReadableEvent(t *testing.T) {
	t.Parallel()
	const sessions, each = 4, 25
	home := talkative(t, sessions, each)
	path := filepath.Join(home, storage.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(20261123, 16))
	for name, tt := range map[string]struct {
		spoil func([]byte) []byte
		least int // how many of the events are saved
	}{
		"sound":           {func(b []byte) []byte { return b }, sessions * each},
		"no header":       {func(b []byte) []byte { copy(b, "not a database!!"); return b }, sessions * each},
		"no first page":   {func(b []byte) []byte { random32(random, b[:4096]); return b }, sessions * each},
		"a cut file":      {func(b []byte) []byte { return b[:len(b)/2+77] }, 1},
		"a page of noise": {func(b []byte) []byte { random32(random, b[40*4096:41*4096]); return b }, sessions*each - 25},
		"ten pages": {func(b []byte) []byte {
			for range 10 {
				at := 4096 * (1 + random.IntN(len(b)/4096-1))
				random32(random, b[at:at+4096])
			}
			return b
		}, sessions*each - 70},
		"one byte in each page": {func(b []byte) []byte {
			for at := 0; at+4096 <= len(b); at += 4096 {
				b[at+random.IntN(4096)] ^= 0x10
			}
			return b
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			write(t, filepath.Join(home, storage.File), tt.spoil(bytes.Clone(whole)))
			got := repair(t, home)
			t.Logf("%d events kept, %d lost", got.Events, got.LostEvents)
			s := open(t, home)
			if !s.Health().Sound() {
				t.Errorf("health: %+v", s.Health())
			}
			read := 0
			list, err := s.Sessions(t.Context(), "/p")
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range list {
				events, err := s.Events(t.Context(), backend.EventRange{Session: info.ID})
				if err != nil {
					t.Fatal(err)
				}
				for _, ev := range events {
					if d, ok := ev.Data.(agent.TextEnd); ok && !strings.HasPrefix(d.Message.Parts[0].Text, fmt.Sprintf("%d of %s ", ev.Seq-1, info.ID)) {
						t.Errorf("%s, event %d: %+v", info.ID, ev.Seq, d)
					}
					if w, ok := ev.Data.(agent.Warning); !ok || w.Code != agent.WarningDamaged {
						read++
					}
				}
				add(t, s, info.ID, agent.Warning{Code: "w"})
			}
			if read < tt.least || read != got.Events || !got.Returned && read > sessions*each {
				t.Errorf("%d of %d events are there, %d were kept", read, sessions*each, got.Events)
			}
			if back := len(list) > sessions; back && !got.Returned {
				t.Errorf("a deleted session is back: %+v", list)
			}
		})
	}
}

func random32(random *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(random.Uint32())
	}
}

// What a killed process left in the write-ahead log is saved, also behind a
// damaged part of it. What is missing is counted.
func TestRepairReadsTheWriteAheadLog(t *testing.T) {
	t.Parallel()
	left := t.TempDir()
	s := open(t, left)
	session(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	last := killed(t, writerHome, left, 30)
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, wal string)
		least int64
	}{
		"whole":  {func(*testing.T, string) {}, last},
		"broken": {func(t *testing.T, wal string) { patch(t, wal, 32+5*(24+4096)+2000, "\x00noise") }, last - 10},
		"cut": {func(t *testing.T, wal string) {
			if err := os.Truncate(wal, 32+9*(24+4096)+100); err != nil {
				t.Fatal(err)
			}
		}, 1},
		"gone": {func(t *testing.T, wal string) {
			if err := os.Remove(wal); err != nil {
				t.Fatal(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.CopyFS(home, os.DirFS(left)); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, filepath.Join(home, storage.File+"-wal"))
			got, err := storage.Repair(t.Context(), home)
			var e *backend.Error
			if errors.As(err, &e) && e.ID == backend.ProblemRepairEmpty && tt.least == 0 {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d events kept, %d lost", got.Events, got.LostEvents)
			if int64(got.Events) < tt.least || int64(got.Events+got.LostEvents) < last {
				t.Errorf("%d kept, %d lost, %d were acknowledged", got.Events, got.LostEvents, last)
			}
			if s := open(t, home); !s.Health().Sound() {
				t.Errorf("health: %+v", s.Health())
			}
		})
	}
}

// Nobody may have the database open, and while it is repaired, nobody can open it.
func TestRepairIsAlone(t *testing.T) {
	t.Parallel()
	s, path := filled(t)
	home := filepath.Dir(path)
	_, err := storage.Repair(t.Context(), home)
	var e *backend.Error
	if !errors.As(err, &e) || e.ID != backend.ProblemStoreInUse {
		t.Errorf("in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	release := storage.HoldRepair(t, home)
	for what, do := range map[string]func() error{
		"open":   func() error { _, err := storage.Open(t.Context(), home); return err },
		"repair": func() error { _, err := storage.Repair(t.Context(), home); return err },
	} {
		if err := do(); !errors.As(err, &e) || e.ID != backend.ProblemStoreRepairing {
			t.Errorf("%s: %v", what, err)
		}
	}
	release()
	repair(t, home)
}

// A file with nothing to save stays as it is.
func TestNothingToRepair(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{"empty": nil, "noise": bytes.Repeat([]byte("garbage "), 4000)} {
		home := t.TempDir()
		path := filepath.Join(home, storage.File)
		write(t, path, content)
		_, err := storage.Repair(t.Context(), home)
		var e *backend.Error
		if after, _ := os.ReadFile(path); !errors.As(err, &e) || e.ID != backend.ProblemRepairEmpty || !bytes.Equal(content, after) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(home, "repair-*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
	if _, err := storage.Repair(t.Context(), t.TempDir()); code(err) != backend.CodeStoreUnusable {
		t.Errorf("no file: %v", err)
	}
}
