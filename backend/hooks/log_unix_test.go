//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
)

// slow is a store whose writes of the log begin to fail, or wait to go on.
type slow struct {
	Store
	writing, goOn chan struct{}
	fails         bool
}

func (s *slow) AddHookRecords(ctx context.Context, all ...backend.HookRecord) error {
	if s.fails {
		return errors.New("the disk is full")
	}
	s.writing <- struct{}{}
	<-s.goOn
	return s.Store.AddHookRecords(ctx, all...)
}

func numbered(i int) hook.Entry {
	return hook.Entry{
		At: time.Unix(int64(i), 0), Session: "s", Hook: hook.Ref{ID: "h"}, About: hook.About{Point: agent.HookStop, CallID: strconv.Itoa(i)},
		Outcome: hook.OutcomeRan,
	}
}

// If the disk is too slow, entries beyond the limit are left out and counted; what
// waits is written when hooks end.
func TestLogOverflows(t *testing.T) {
	t.Parallel()
	store := &slow{writing: make(chan struct{}, waiting), goOn: make(chan struct{})}
	f := newFixtureOn(t, func(s Store) Store {
		store.Store = s
		return store
	})
	if err := f.store.CreateSession(t.Context(), backend.SessionInfo{ID: "s", Folder: f.folder}); err != nil {
		t.Fatal(err)
	}
	f.log.add(numbered(0))
	<-store.writing // the goroutine waits for the disk
	const more = 7
	for i := range waiting + more {
		f.log.add(numbered(i + 1))
	}
	reply, err := f.Log(t.Context(), HookLogRequest{})
	if err != nil || reply.Lost != more {
		t.Errorf("%d entries were lost, want %d, %v", reply.Lost, more, err)
	}
	close(store.goOn)
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	records, err := f.store.HookRecords(t.Context(), backend.HookRange{Folder: f.folder, Limit: 2 * waiting})
	if err != nil || len(records) != waiting+1 || records[0].CallID != strconv.Itoa(waiting) {
		t.Errorf("%d entries were kept, want %d, %v", len(records), waiting+1, err)
	}
}

// Entries that cannot be written are counted.
func TestLogCannotBeWritten(t *testing.T) {
	t.Parallel()
	f := newFixtureOn(t, func(s Store) Store { return &slow{Store: s, fails: true} })
	for i := range 3 {
		f.log.add(numbered(i))
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if reply, err := f.Log(t.Context(), HookLogRequest{}); err != nil || reply.Lost != 3 {
		t.Errorf("%d entries were lost, want 3, %v", reply.Lost, err)
	}
}

// Long inputs and outputs are cut in the log, which says so; what was cut is not run
// again.
func TestLongTextsAreCut(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	long := strings.Repeat("word ", most/4)
	for name, tt := range map[string]struct {
		command, content string
		cut              []string
	}{
		"short":             {"cat", "x", nil},
		"the input":         {"true", long, []string{"input"}},
		"the output":        {"head -c 100000 /dev/zero | tr '\\\\0' x", "x", []string{"stdout"}},
		"the input and all": {"cat >&2; head -c 100000 /dev/zero | tr '\\\\0' x", long, []string{"input", "stdout", "stderr"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			if err := f.store.CreateSession(t.Context(), backend.SessionInfo{ID: "s", Folder: f.folder}); err != nil {
				t.Fatal(err)
			}
			f.write("~/.agent/settings.json", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "timeout": 300, "command": "`+tt.command+`"}]}]}}`)
			e := f.Engine(t.Context(), Session{ID: "s", Folder: f.folder})
			defer e.Close()
			input, err := json.Marshal(map[string]string{"content": tt.content})
			if err != nil {
				t.Fatal(err)
			}
			about := agent.HookTool{Tool: "Write", Input: input, CallID: "c"}
			e.Fire(t.Context(), agent.HookCall{Session: "s", Data: agent.PostToolUseInput{HookTool: about}}, func(agent.Payload) {})
			if err := f.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			reply, err := f.Log(t.Context(), HookLogRequest{})
			if err != nil || len(reply.Entries) != 1 {
				t.Fatalf("%+v, %v", reply, err)
			}
			entry, err := f.Entry(t.Context(), HookEntryRequest{ID: reply.Entries[0].ID})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.cut, entry.Cut); diff != "" {
				t.Error(diff)
			}
			for _, text := range []string{entry.Input, entry.Stdout, entry.Stderr} {
				if len(text) > most || slices.Contains(entry.Cut, "input") && len(entry.Input) < most-4 {
					t.Errorf("%d bytes are kept", len(text))
				}
			}
			_, err = f.Replay(t.Context(), HookReplayRequest{Entry: entry.ID})
			if got := code(err); (got == backend.ProblemHookNotKept) != slices.Contains(tt.cut, "input") {
				t.Errorf("run again: %v", err)
			}
		})
	}
}
