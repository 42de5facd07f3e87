//go:build unix

package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// A hook that is switched off does not run, also after a restart. Only so many switches
// are remembered, the newest.
func TestSwitch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.agent/settings.json", denies)
	id := f.rows()[0].ID
	var problem *backend.Error
	if _, err := f.Switch(t.Context(), HookSwitchRequest{ID: "gone"}); !errors.As(err, &problem) || problem.ID != backend.ProblemHookMissing {
		t.Errorf("%v", err)
	}
	if _, err := f.Switch(t.Context(), HookSwitchRequest{ID: id}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after a restart"} {
		if got := f.decides(); got.Decision != "" || f.rows()[0].State != StateOff {
			t.Errorf("off, %s: %+v, %s", when, got, f.rows()[0].State)
		}
		f.restart()
	}
	all, err := f.switches(t.Context())
	for i := len(all); i < maxSwitched; i++ {
		all = append(all, switched{ID: fmt.Sprint(i)})
	}
	b, _ := json.Marshal(all)
	if err := errors.Join(err, f.cfg.Store.SetSetting(t.Context(), keySwitched, string(b))); err != nil {
		t.Fatal(err)
	}
	if on, err := f.on(t.Context(), f.current(t.Context()).handlers[0]); on || err != nil {
		t.Errorf("at the limit: %t, %v", on, err)
	}
	if err := f.turn(t.Context(), HookSwitchRequest{ID: "one more"}); err != nil {
		t.Fatal(err)
	}
	if on, err := f.on(t.Context(), f.current(t.Context()).handlers[0]); !on || err != nil {
		t.Errorf("beyond the limit: %t, %v", on, err)
	}
}

// Of many files that change at once only so many are told, and what other programs fill
// is not watched.
func TestFilesAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", aboutEnv)
	f.Engine(t.Context(), Session{ID: "s", Folder: f.folder}).Close()
	f.write("node_modules/a/x.env", "")
	f.write(".worktrees/agent/x.env", "")
	dir := t.TempDir()
	for i := range maxChanges + 9 {
		if err := os.WriteFile(fmt.Sprintf("%s/%03d.env", dir, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(dir, f.path("many")); err != nil {
		t.Fatal(err)
	}
	f.await(fmt.Sprintf("add %03d.env", maxChanges-1), 1)
	f.write("last.env", "")
	seen := f.await("add last.env", 1)
	n := 0
	for _, what := range seen {
		if strings.HasPrefix(what, "add 0") {
			n++
		}
	}
	if n != maxChanges || slices.Contains(seen, "add x.env") {
		t.Errorf("%d files were told: %q", n, seen)
	}
}

// Only settings files and what is in the project is noticed. Once it is closed, nothing is
// watched.
func TestWhatIsNotNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", aboutEnv)
	f.Engine(t.Context(), Session{ID: "s", Folder: f.folder}).Close()
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-f.watch.Done():
	default:
		t.Fatal("files are still watched")
	}
	for name, want := range map[string]bool{".agent/settings.json": true, "x.env": true, "../elsewhere.env": false} {
		if got := f.watch.notice(f.path(name)); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Pages are told of new entries of the log, each session once.
func TestPagesAreToldOfEntries(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.agent/settings.json", denies)
	f.decides()
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if seen := f.await("logged s", 1); len(seen) != 1 {
		t.Errorf("%q", seen)
	}
}

// A draft runs on the newest of the calls that it matches, if that was asked for.
func TestDryRunOfADraft(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, run := range []bool{false, true} {
		trial, err := f.DryRun(t.Context(), HookDryRunRequest{Run: run, Draft: HookDraft{
			Point: agent.HookPreToolUse, Timeout: 300, Action: HookAction{Kind: KindCommand, Command: "echo no >&2; exit 2"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		trial.Add([]agent.Event{
			{Session: "s", Seq: 1, Data: agent.ToolCallStart{CallID: "c", Tool: "Bash", Input: `{"command":"x"}`}},
			{Session: "s", Seq: 2, Data: agent.ToolCallEnd{CallID: "c", Tool: "Bash", Outcome: agent.OutcomeDone}},
		})
		reply := trial.Reply(t.Context())
		trial.Close()
		if reply.Matched != 1 || len(reply.Examples) != 1 || (reply.Examples[0].Run != nil) != run {
			t.Fatalf("%+v", reply)
		}
		if run && reply.Examples[0].Run.Effect.Decision != agent.Deny {
			t.Errorf("%+v", reply.Examples[0].Run)
		}
	}
}
