//go:build unix

package hooks

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
)

// K-34: a guard that vanished while the program ran is missed after a restart as well,
// until it is back, the user does without it, or a run takes the project as it stands.
func TestMissedGuardsOutliveTheProgram(t *testing.T) {
	t.Parallel()
	for _, file := range []string{".claude/settings.json", "~/.agent/settings.json"} {
		for name, tt := range map[string]struct {
			then func(f *fixture)
			want agent.Decision
		}{
			"nothing":                  {func(*fixture) {}, agent.Ask},
			"it is back":               {func(f *fixture) { f.write(file, denies) }, agent.Deny},
			"it was back":              {func(f *fixture) { f.write(file, denies); f.decides(); f.restartAfter(func() { f.write(file, `{}`) }) }, ""},
			"the file is broken":       {func(f *fixture) { f.write(file, `{"hooks": {`); f.restart() }, agent.Ask},
			"broken and blank again":   {func(f *fixture) { f.write(file, `{"hooks": {`); f.restart(); f.decides(); f.write(file, ``) }, agent.Ask},
			"the user does without it": {func(f *fixture) { f.doWithout(); f.restart() }, ""},
		} {
			t.Run(file+", "+name, func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.write(file, denies)
				f.accept()
				f.write(file, `{}`)
				if got := f.decides(); got.Decision != agent.Ask {
					t.Fatalf("before the restart: %+v", got)
				}
				f.restart()
				tt.then(f)
				if got := f.decides(); got.Decision != tt.want {
					t.Errorf("%+v", got)
				}
				f.restart()
				if got := f.decides(); got.Decision != tt.want {
					t.Errorf("after another restart: %+v", got)
				}
			})
		}
	}
}

// doWithout has the user do without all guards that are missed.
func (f *fixture) doWithout() {
	f.t.Helper()
	reply, err := f.List(f.t.Context(), HooksRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range reply.Files {
		for _, x := range file.Missing {
			if _, err := f.review.Revoke(f.t.Context(), review.TrustRequest{ID: x.ID}); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

// A guard that vanished while its file could not be read is missed once the file can
// be, also after a restart.
func TestGuardsThatVanishFromABrokenFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", denies)
	f.accept()
	f.write(".agent/settings.json", `{"hooks": {`)
	f.decides()
	f.restartAfter(func() { f.write(".agent/settings.json", `{}`) })
	if got := f.decides(); got.Decision != agent.Ask {
		t.Errorf("%+v", got)
	}
}

// A guard that one run accepts as missing is missed in all other runs; a file that
// cannot be read does not stand, and the user's own hooks do not come with the
// project.
func TestRunsThatTakeTheProjectAsItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, text string
		want       agent.Decision
	}{
		"a project's":           {".agent/settings.json", `{}`, ""},
		"a project's, broken":   {".agent/settings.json", `{"hooks": {`, agent.Ask},
		"one of the user's own": {"~/.agent/settings.json", `{}`, agent.Ask},
	} {
		f := newFixture(t)
		f.write(tt.file, denies)
		f.accept()
		f.write(tt.file, tt.text)
		f.decides()
		f.restart()
		if _, err := f.TrustForRun(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.decides(); got.Decision != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
		f.restart()
		if got := f.decides(); got.Decision != agent.Ask {
			t.Errorf("%s, in the next run: %+v", name, got)
		}
	}
}

// A hook that the user removes is not missed, neither while another hook of the file
// waits nor later.
func TestRemovedGuardsAmongOthersThatWait(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".agent/settings.json", denies)
	f.accept()
	row := f.rows()[0]
	f.write(".agent/settings.json", strings.Replace(denies, `{"matcher"`, `{"matcher": "Edit", "hooks": [{"type": "command", "command": "false"}]}, {"matcher"`, 1))
	f.decides()
	if _, err := f.Remove(t.Context(), HookRemoveRequest{ID: row.ID}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after a restart"} {
		if got := f.decides(); got.Decision != "" {
			t.Errorf("%s: %+v", when, got)
		}
		f.restart()
	}
}

// Nothing that a guard runs or sends is kept in the database, where no secret may be.
func TestWhatIsKeptOfGuardsHasNoSecrets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.agent/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
		{"type": "http", "url": "http://127.0.0.1:1/?token=hushhush", "headers": {"X-Key": "hushhush"}},
		{"type": "command", "command": "curl --header sk-proj-abcdefghijklmnop1234 --data $(cat a-very-long-file-name-to-fill-the-name-of-the-hook) hushhush"}]}]}}`)
	f.decides()
	text, err := f.store.Setting(t.Context(), keyGuards+f.path("~/.agent/settings.json"))
	if err != nil || !strings.Contains(text, `"matcher":"Bash"`) || strings.Contains(text, "hushhush") || strings.Contains(text, "sk-proj") {
		t.Errorf("%v: %s", err, text)
	}
	f.write("~/.agent/settings.json", `{}`)
	if got := f.decides(); got.Decision != agent.Ask {
		t.Errorf("%+v", got)
	}
}

// Who refuses what took the place of a guard does without it. A guard that is gone is
// listed with the scope of its file.
func TestRefusingWhatTookAPlace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(".claude/settings.local.json", denies)
	f.accept()
	f.write(".claude/settings.local.json", strings.ReplaceAll(denies, "exit 2", "exit 0"))
	if got := f.decides(); got.Decision != agent.Ask {
		t.Errorf("changed: %+v", got)
	}
	if _, err := f.review.Refuse(t.Context(), review.TrustRequest{ID: f.rows()[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := f.decides(); got.Decision != "" {
		t.Errorf("refused: %+v", got)
	}
	f.write(".claude/settings.local.json", denies)
	f.accept()
	f.write(".claude/settings.local.json", `{}`)
	reply, err := f.review.List(t.Context(), backend.Empty{})
	if err != nil || len(reply.Items) != 1 || reply.Items[0].State != review.TrustState("gone") || reply.Items[0].Scope != agent.ScopeLocal {
		t.Errorf("%+v, %v", reply.Items, err)
	}
}

// Guards that could not be read once are read again when they are needed next.
func TestGuardsThatCouldNotBeRead(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	f := newFixtureOn(t, func(s Store) Store { return forgetful{s, &fails} })
	f.write(".agent/settings.json", denies)
	f.accept()
	f.decides()
	waits := strings.ReplaceAll(strings.ReplaceAll(denies, "Bash", "Edit"), "exit 2", "exit 0")
	f.restartAfter(func() { f.write(".agent/settings.json", waits) })
	fails.Store(true)
	f.decides()
	fails.Store(false)
	if got := f.decides(); got.Decision != agent.Ask {
		t.Errorf("%+v", got)
	}
}

// forgetful is a store that may fail to read what is kept of guards.
type forgetful struct {
	Store
	fails *atomic.Bool
}

func (s forgetful) Setting(ctx context.Context, key string) (string, error) {
	if s.fails.Load() && strings.HasPrefix(key, keyGuards) {
		return "", errors.New("the disk is gone")
	}
	return s.Store.Setting(ctx, key)
}
