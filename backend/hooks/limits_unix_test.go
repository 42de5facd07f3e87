//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
)

// unreadable is a store whose settings cannot be read for a while.
type unreadable struct {
	Store
	lost atomic.Bool
}

func (u *unreadable) Setting(ctx context.Context, key string) (string, error) {
	if u.lost.Load() {
		return "", errors.New("the disk is gone")
	}
	return u.Store.Setting(ctx, key)
}

// K-34: if nobody can tell what the user decided about a guard, it does not run and
// the calls that it is about are asked about.
func TestGuardOfUnknownState(t *testing.T) {
	t.Parallel()
	store := &unreadable{}
	f := newFixtureOn(t, func(s Store) Store {
		store.Store = s
		return store
	})
	f.write("~/.agent/settings.json", denies)
	if got := f.decides(); got.Decision != agent.Deny {
		t.Errorf("%+v", got)
	}
	store.lost.Store(true)
	if got := f.decides(); got.Decision != agent.Ask || !got.Final {
		t.Errorf("while the store cannot be read: %+v", got)
	}
}

// The log is read in pages, the newest first, in which long texts are short.
func TestLogPages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := f.store.CreateSession(t.Context(), backend.SessionInfo{ID: "s", Folder: f.folder}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		e := numbered(i)
		e.Effect.Context = strings.Repeat("x", 2*brief)
		f.log.add(e)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var pages [][]string
	for before, more := int64(0), true; more; {
		reply, err := f.Log(t.Context(), HookLogRequest{Before: before, Limit: 2})
		if err != nil || len(reply.Entries) == 0 {
			t.Fatalf("%+v, %v", reply, err)
		}
		var page []string
		for _, row := range reply.Entries {
			page, before = append(page, row.Place.CallID), row.ID
			if n := len(row.Effect.Context); n > brief+len("…") {
				t.Errorf("a row shows %d bytes", n)
			}
		}
		pages, more = append(pages, page), reply.More
	}
	if diff := cmp.Diff([][]string{{"4", "3"}, {"2", "1"}, {"0"}}, pages); diff != "" {
		t.Error(diff)
	}
}

// A dry run looks at a limited number of calls and shows a few of them. The end of a
// call in one session does not count in the next.
func TestDryRunIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dry := func(point agent.HookPoint) *Trial {
		t.Helper()
		trial, err := f.DryRun(t.Context(), HookDryRunRequest{Draft: HookDraft{Point: point, Action: HookAction{Kind: KindCommand, Command: "true"}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(trial.Close)
		return trial
	}
	began := func(i int) agent.Event {
		return agent.Event{Session: "s", Data: agent.ToolCallStart{CallID: strconv.Itoa(i), Tool: "Bash", Input: `{}`}}
	}
	trial := dry(agent.HookPreToolUse)
	for i := range maxTried + 5 {
		trial.Add([]agent.Event{began(i)})
	}
	if got := trial.Reply(t.Context()); !trial.Done() || got.Calls != maxTried || got.Matched != maxTried || len(got.Examples) != maxExamples {
		t.Errorf("%d calls, %d matched, %d examples", got.Calls, got.Matched, len(got.Examples))
	}
	trial = dry(agent.HookPostToolUse)
	trial.Add([]agent.Event{{Session: "a", Data: agent.ToolCallEnd{CallID: "1", Tool: "Bash", Outcome: agent.OutcomeDone}}})
	trial.Next()
	trial.Add([]agent.Event{began(1)})
	if got := trial.Reply(t.Context()); got.Calls != 0 {
		t.Errorf("a call ended in another session: %+v", got)
	}
}

// A hook is tried on objects only.
func TestTriedOnObjects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	draft := HookDraft{Point: agent.HookStop, Action: HookAction{Kind: KindCommand, Command: "true"}}
	for _, input := range []string{`[1]`, `null`, `"x"`, `{`} {
		if _, err := f.Test(t.Context(), HookTestRequest{Draft: draft, Input: json.RawMessage(input)}); code(err) != backend.ProblemHookInput {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// Guards are the hooks that a decision waits for.
func TestWhatGuards(t *testing.T) {
	t.Parallel()
	for point, want := range map[agent.HookPoint]bool{
		agent.HookPreToolUse: true, agent.HookPermissionRequest: true, agent.HookPostToolUse: false, agent.HookStop: false,
	} {
		x := hook.Handler{Point: point}
		if guards(x) != want {
			t.Errorf("%s: %v", point, !want)
		}
		if x.Terms.Async = true; guards(x) {
			t.Errorf("%s beside the session", point)
		}
	}
}

// A hook that is removed has to be trusted anew if it comes back, a hook that is saved
// twice stands there once, and the user's own is nothing to trust.
func TestRemovedAndSavedTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", denies)
	f.accept()
	before := f.rows()[0]
	if before.State != StateRuns {
		t.Fatalf("%+v", before)
	}
	if _, err := f.Remove(t.Context(), HookRemoveRequest{ID: before.ID}); err != nil {
		t.Fatal(err)
	}
	f.write(".agent/settings.json", denies)
	if row := f.rows()[0]; row.ID != before.ID || row.State != StateUntrusted {
		t.Errorf("%+v", row)
	}
	draft := HookDraft{Point: agent.HookStop, Action: HookAction{Kind: KindCommand, Command: "true"}}
	for range 2 {
		if _, err := f.Save(t.Context(), HookSaveRequest{Scope: agent.ScopeUser, Draft: draft}); err != nil {
			t.Fatal(err)
		}
	}
	if rows := f.rows(); len(rows) != 2 || rows[0].Trust != "" || rows[1].Trust == "" {
		t.Errorf("%+v", rows)
	}
	if reply, err := f.review.List(t.Context(), backend.Empty{}); err != nil || len(reply.Items) != 1 || reply.Items[0].ID != before.ID {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Members of a hook that the editor does not know are kept when the hook is replaced,
// wherever it moves, and the preview shows them.
func TestPreviewIsWhatIsSaved(t *testing.T) {
	t.Parallel()
	for name, draft := range map[string]HookDraft{
		"in its place":    {Point: agent.HookPreToolUse, Matcher: "Bash", Name: "other"},
		"another matcher": {Point: agent.HookPreToolUse, Matcher: "Read"},
		"another event":   {Point: agent.HookStop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(".agent/settings.json", `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"true","description":"why","x-owner":{"a":[1]}}]}]}}`)
			draft.Action = HookAction{Kind: KindCommand, Command: "false"}
			request := HookSaveRequest{Draft: draft, Replaces: f.rows()[0].ID}
			preview, err := f.Preview(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Save(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			var shown, written any
			if err := errors.Join(json.Unmarshal([]byte(preview.JSON), &shown), json.Unmarshal([]byte(f.read(".agent/settings.json")), &written)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(written, shown); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(preview.JSON, `"x-owner"`) || !strings.Contains(preview.JSON, `"description": "why"`) {
				t.Error(preview.JSON)
			}
		})
	}
}

// A list that was cut says so.
func TestMoreThanAreRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, n := range []int{200, 201} {
		f.write(".agent/settings.json", `{"hooks":{"Stop":[{"hooks":[`+strings.TrimSuffix(strings.Repeat(`{"type":"command","command":"true"},`, n), ",")+`]}]}}`)
		reply, err := f.review.List(t.Context(), backend.Empty{})
		if err != nil || reply.More != (n > 200) {
			t.Errorf("%d: %t, %v", n, reply.More, err)
		}
	}
}
