//go:build unix

package hooks

import (
	"atelier.dev/atelier/backend/review"

	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
)

// K-34: a trusted guard that is taken out while the program runs, by an edit, with its
// folder or by a change of the branch, is missed until it is back or the user does
// without it.
func TestGuardsThatVanish(t *testing.T) {
	t.Parallel()
	const two = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}, {"type": "command", "command": "true"}]}]}}`
	const file = ".claude/settings.json"
	for name, vanish := range map[string]func(f *fixture){
		"the hooks": func(f *fixture) { f.write(file, `{}`) },
		"one of them": func(f *fixture) {
			f.write(file, strings.Replace(two, `{"type": "command", "command": "echo no >&2; exit 2"}, `, "", 1))
		},
		"the file": func(f *fixture) {
			if err := os.Remove(f.path(file)); err != nil {
				t.Error(err)
			}
		},
		"the folder": func(f *fixture) {
			if err := os.RemoveAll(f.path(".claude")); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(file, two)
			f.accept()
			vanish(f)
			for range 2 {
				if got := f.decides(); got.Decision != agent.Ask || !got.Final || !strings.Contains(got.Reason, "it cannot be found in its file any more") {
					t.Errorf("missing: %+v", got)
				}
			}
			f.write(file, two)
			if got := f.decides(); got.Decision != agent.Deny {
				t.Errorf("back: %+v", got)
			}
			vanish(f)
			reply, err := f.List(t.Context(), HooksRequest{})
			if err != nil || len(reply.Files) != 1 || len(reply.Files[0].Missing) == 0 {
				t.Fatalf("%+v, %v", reply.Files, err)
			}
			for _, x := range reply.Files[0].Missing {
				if _, err := f.review.Revoke(t.Context(), review.TrustRequest{ID: x.ID}); err != nil || !x.Gone {
					t.Errorf("%+v: %v", x, err)
				}
			}
			if got := f.decides(); got.Decision != "" {
				t.Errorf("in the end: %+v", got)
			}
		})
	}
}

// A guard of the user's own is missed if nothing takes its place, such as while an
// editor writes the file.
func TestOwnGuardsThatVanish(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then []string
		want agent.Decision
	}{
		"a blank file":             {[]string{""}, agent.Ask},
		"blank and then broken":    {[]string{"", `{"hooks": {`}, agent.Ask},
		"blank and then whole":     {[]string{"", denies}, agent.Deny},
		"another one at its event": {[]string{strings.ReplaceAll(denies, "exit 2", "exit 0")}, ""},
	} {
		f := newFixture(t)
		f.write("~/.agent/settings.json", denies)
		if got := f.decides(); got.Decision != agent.Deny {
			t.Fatalf("%+v", got)
		}
		for _, text := range tt.then {
			f.write("~/.agent/settings.json", text)
			f.rows()
		}
		if got := f.decides(); got.Decision != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
		reply, err := f.List(t.Context(), HooksRequest{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range reply.Files[0].Missing {
			if _, err := f.review.Revoke(t.Context(), review.TrustRequest{ID: x.ID}); err != nil {
				t.Fatal(err)
			}
		}
		if got := f.decides(); name == "a blank file" && got.Decision != "" {
			t.Errorf("%s, in the end: %+v", name, got)
		}
	}
}

// A hook that the user removes in the page is not missed.
func TestGuardsThatAreRemoved(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(f *fixture, row HookRow) error{
		"removed": func(f *fixture, row HookRow) error {
			_, err := f.Remove(t.Context(), HookRemoveRequest{ID: row.ID})
			return err
		},
		"saved for another event": func(f *fixture, row HookRow) error {
			row.Draft.Point, row.Draft.Matcher = agent.HookStop, ""
			_, err := f.Save(t.Context(), HookSaveRequest{Draft: row.Draft, Replaces: row.ID})
			return err
		},
		"saved with another matcher": func(f *fixture, row HookRow) error {
			row.Draft.Matcher = "Nothing"
			_, err := f.Save(t.Context(), HookSaveRequest{Draft: row.Draft, Replaces: row.ID})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, file := range []string{".agent/settings.json", "~/.agent/settings.json"} {
				f := newFixture(t)
				f.write(file, denies)
				f.accept()
				if err := remove(f, f.rows()[0]); err != nil {
					t.Fatal(err)
				}
				if got := f.decides(); got.Decision != "" {
					t.Errorf("%s: %+v", file, got)
				}
			}
		})
	}
}

// counting is a store that counts what is read.
type counting struct {
	Store
	reads atomic.Int64
}

func (c *counting) Setting(ctx context.Context, key string) (string, error) {
	c.reads.Add(1)
	return c.Store.Setting(ctx, key)
}

// A decision about one hook reads nothing about the others, however many there are.
func TestDecisionsAreIndependent(t *testing.T) {
	t.Parallel()
	reads := func(n int) int64 {
		f := newFixture(t)
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"type": "command", "command": "exit %d"}`, i))
		}
		f.write(".agent/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [`+strings.Join(all, ", ")+`]}]}}`)
		store := &counting{Store: f.store}
		f.cfg.Store = store
		id := f.rows()[0].ID
		shown, err := f.review.Show(t.Context(), review.TrustRequest{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		before := store.reads.Load()
		if _, err := f.review.Accept(t.Context(), review.TrustAcceptRequest{ID: id, Seal: shown.Seal}); err != nil {
			t.Fatal(err)
		}
		return store.reads.Load() - before
	}
	if few, many := reads(2), reads(40); few == 0 || many != few {
		t.Errorf("it reads %d settings with 2 hooks and %d with 40", few, many)
	}
}
