//go:build unix

package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/storage"
)

// fixture is the hooks of a folder, over a real database and real files.
type fixture struct {
	*Hooks
	t            *testing.T
	store        *storage.Store
	folder, user string
	mu           sync.Mutex
	seen, rules  []string
	happened     chan struct{} // receives when seen grew
	around       func(Store) Store
	review       *review.Reviewer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return newFixtureOn(t, func(s Store) Store { return s })
}

// newFixtureOn is newFixture with a wrapper around the store.
func newFixtureOn(t *testing.T, around func(Store) Store) *fixture {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, folder: filepath.Join(base, "project"), user: filepath.Join(base, "user"), happened: make(chan struct{}, 1), around: around}
	for _, dir := range []string{f.folder, f.user} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if f.store, err = storage.Open(t.Context(), filepath.Join(base, "home")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.store.Close() })
	f.restart()
	t.Cleanup(func() { _ = f.Close(context.Background()) })
	return f
}

// restart begins anew with what is stored.
func (f *fixture) restart() { f.restartAfter(func() {}) }

// restartAfter does something while the program does not run.
func (f *fixture) restartAfter(something func()) {
	f.t.Helper()
	if f.Hooks != nil {
		if err := f.Close(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
	something()
	trusted := trust.New(trust.Config{Folder: f.folder, User: f.user, Store: f.store})
	f.Hooks = New(Config{
		Folder: f.folder, User: f.user, Store: f.around(f.store), Trust: trusted,
		Engine: hook.Options{Runner: hook.Local{}}, Access: func(string, json.RawMessage) agent.Access { return agent.Access{} },
		AddRule: func(_ context.Context, session, rule string, d agent.Decision) error {
			f.rules = append(f.rules, session+" "+string(d)+" "+rule)
			return nil
		},
		Changed: f.changed, Observe: f.observe,
		FolderOf: func(_ context.Context, session string) string { return f.path(session) },
	})
	f.review = review.New(trusted, f.Hooks)
}

// changed takes note that the log of a session has new entries.
func (f *fixture) changed(session string) {
	if session != "" {
		f.note("logged " + session)
	}
}

func (f *fixture) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, what)
	select {
	case f.happened <- struct{}{}:
	default:
	}
}

func (f *fixture) observe(data agent.HookInput) {
	switch d := data.(type) {
	case agent.ConfigChangeInput:
		f.note(d.Source + " " + filepath.Base(d.Path))
	case agent.FileChangedInput:
		f.note(d.Event + " " + filepath.Base(d.Path))
	}
}

// await waits until something was told some times, and returns all that was told.
func (f *fixture) await(what string, times int) []string {
	f.t.Helper()
	for {
		f.mu.Lock()
		seen := slices.Clone(f.seen)
		f.mu.Unlock()
		n := 0
		for _, s := range seen {
			if s == what {
				n++
			}
		}
		if n >= times {
			return seen
		}
		select {
		case <-f.happened:
		case <-time.After(time.Minute):
			f.t.Fatalf("%q was not told %d times, but %q", what, times, seen)
		}
	}
}

// write writes a file of the project at once; a path that begins with ~ is the
// user's.
func (f *fixture) write(name, text string) {
	f.t.Helper()
	path := f.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	tmp := filepath.Join(filepath.Dir(f.folder), "tmp")
	if err := os.WriteFile(tmp, []byte(text), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(f.user, rest)
	}
	return filepath.Join(f.folder, name)
}

func (f *fixture) read(name string) string {
	f.t.Helper()
	b, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(b)
}

func (f *fixture) rows() []HookRow {
	f.t.Helper()
	reply, err := f.List(f.t.Context(), HooksRequest{})
	if err != nil {
		f.t.Fatal(err)
	}
	return reply.Hooks
}

// accept trusts everything that stands there.
func (f *fixture) accept() {
	f.t.Helper()
	for _, row := range f.rows() {
		shown, err := f.review.Show(f.t.Context(), review.TrustRequest{ID: row.ID})
		if err != nil {
			f.t.Fatal(err)
		}
		if _, err := f.review.Accept(f.t.Context(), review.TrustAcceptRequest{ID: row.ID, Seal: shown.Seal}); err != nil {
			f.t.Fatal(err)
		}
	}
}

// decides fires the hooks before a call of Bash.
func (f *fixture) decides() agent.HookAdvice {
	f.t.Helper()
	e := f.Engine(f.t.Context(), Session{ID: "s", Account: "s", Folder: f.folder})
	defer e.Close()
	call := agent.HookTool{Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), CallID: "c"}
	return e.Fire(f.t.Context(), agent.HookCall{Session: "s", Data: agent.PreToolUseInput{HookTool: call}}, func(agent.Payload) {})
}

const denies = `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}`

func code(err error) backend.ProblemID {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.ID
	}
	return ""
}

// Saving and removing hooks keeps everything else in the file as it is.
func TestSaveAndRemove(t *testing.T) {
	t.Parallel()
	const before = `{
	"model": "x",  "hooks": {
		"PreToolUse": [
			{"matcher": "Bash", "hooks": [{"type": "command", "command": "a", "rewakeMessage": 1}, {"type": "command", "command": "b"}]},
			"odd"
		],
		"Later": 7
	},
	"permissions": {"deny": ["Bash(rm *)"]}
}
`
	f := newFixture(t)
	f.write(".agent/settings.json", before)
	f.accept()
	save := func(in HookSaveRequest) HookRow {
		t.Helper()
		row, err := f.Save(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	draft := HookDraft{Name: "n", Point: agent.HookPreToolUse, Matcher: "Edit", Timeout: 5, Action: HookAction{Kind: KindCommand, Command: "c > d && e"}}
	row := save(HookSaveRequest{Scope: agent.ScopeProject, Draft: draft})
	if row.State != StateRuns || row.Draft.Action.Command != "c > d && e" || row.Origin.Line == 0 || row.Draft.Timeout != 5 {
		t.Errorf("%+v", row)
	}
	text := f.read(".agent/settings.json")
	if !strings.Contains(text, `"command": "c > d && e"`) || !strings.HasPrefix(text, before[:strings.Index(before, `"odd"`)]) {
		t.Errorf("%s", text)
	}
	draft.Matcher = "Write"
	moved := save(HookSaveRequest{Draft: draft, Replaces: row.ID})
	if rows := f.rows(); len(rows) != 3 || moved.ID == row.ID {
		t.Errorf("%+v", rows)
	}
	draft.Timeout = 7
	if again := save(HookSaveRequest{Draft: draft, Replaces: moved.ID}); again.ID != moved.ID || again.Draft.Timeout != 7 || len(f.rows()) != 3 {
		t.Errorf("%+v of %d", again, len(f.rows()))
	}
	if _, err := f.Remove(t.Context(), HookRemoveRequest{ID: moved.ID}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, f.read(".agent/settings.json")); diff != "" {
		t.Error(diff)
	}
	first := f.rows()[0]
	first.Draft.Action.Command = "aa"
	if save(HookSaveRequest{Draft: first.Draft, Replaces: first.ID}); !strings.Contains(f.read(".agent/settings.json"), `"rewakeMessage": 1`) {
		t.Errorf("a member was lost: %s", f.read(".agent/settings.json"))
	}
}

// A hook that the user writes is trusted at once, unless it runs files of the
// project. A hook that could not run is not saved, and a file that cannot be read
// stays as it is.
func TestSavedHooksAreTrusted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	save := func(in HookSaveRequest) HookRow {
		t.Helper()
		row, err := f.Save(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return row
	}
	draft := HookDraft{Point: agent.HookPreToolUse, Matcher: "Edit", Action: HookAction{Kind: KindCommand, Command: "true"}}
	f.write("check.sh", "exit 0")
	draft.Action.Command = "sh check.sh"
	if row := save(HookSaveRequest{Scope: agent.ScopeLocal, Draft: draft}); row.State != StateUntrusted {
		t.Errorf("a script that nobody was shown %s", row.State)
	}
	if row := save(HookSaveRequest{Scope: agent.ScopeUser, Draft: HookDraft{Point: agent.HookStop, Action: HookAction{Kind: KindCommand, Command: "true"}}}); row.State != StateRuns {
		t.Errorf("the user's own %s", row.State)
	}
	for name, bad := range map[string]HookSaveRequest{
		"hook_scope":   {Scope: agent.ScopeSession, Draft: draft},
		"hook_missing": {Replaces: "gone", Draft: draft},
		"hook_draft":   {Scope: agent.ScopeUser, Draft: HookDraft{Point: "never", Action: draft.Action}},
	} {
		if _, err := f.Save(t.Context(), bad); string(code(err)) != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, d := range []HookDraft{
		{Point: agent.HookStop, Action: HookAction{Kind: KindCommand}}, {Point: agent.HookStop, Action: HookAction{Kind: KindHTTP, URL: "ftp://x"}},
		{Point: agent.HookPreToolUse, Matcher: "(", Action: draft.Action}, {Point: agent.HookStop, Action: HookAction{Kind: KindUnknown, Command: "x"}},
	} {
		if _, err := f.Save(t.Context(), HookSaveRequest{Scope: agent.ScopeUser, Draft: d}); code(err) != backend.ProblemHookDraft {
			t.Errorf("%+v: %v", d, err)
		}
	}
	f.write("~/.agent/settings.json", "{")
	if _, err := f.Save(t.Context(), HookSaveRequest{Scope: agent.ScopeUser, Draft: draft}); code(err) != backend.ProblemHookUnwritten || f.read("~/.agent/settings.json") != "{" {
		t.Errorf("%v", err)
	}
}

// K-34: a guard that was in force is not dropped silently, whatever becomes of its
// file: what it guards is asked about until it can be read again, or until the user
// has decided about what took its place.
func TestGuardsAreNotDropped(t *testing.T) {
	t.Parallel()
	other := strings.ReplaceAll(denies, `"Bash"`, `"Nothing"`)
	asked := agent.HookAdvice{Decision: agent.Ask, Final: true}
	for name, tt := range map[string]struct {
		trusted bool
		then    string
		want    agent.HookAdvice
		decided agent.Decision // after what stands there was trusted
	}{
		"it stays":                      {true, denies, agent.HookAdvice{Decision: agent.Deny}, agent.Deny},
		"the file is broken":            {true, `{"hooks": `, asked, agent.Ask},
		"it was never trusted":          {false, `{"hooks": `, agent.HookAdvice{}, ""},
		"another one takes its place":   {true, other, asked, ""},
		"it vanished before we began":   {true, `{"hooks": {}}`, agent.HookAdvice{}, ""},
		"the rest of the file is other": {true, strings.Replace(denies, "{", `{"model": "x", `, 1), agent.HookAdvice{Decision: agent.Deny}, agent.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write(".agent/settings.json", denies)
			if got := f.decides(); got.Decision != "" {
				t.Errorf("before it was trusted: %+v", got)
			}
			if tt.trusted {
				f.accept()
				if got := f.decides(); got.Decision != agent.Deny {
					t.Errorf("trusted: %+v", got)
				}
			}
			if name == "it vanished before we began" {
				f.restartAfter(func() { f.write(".agent/settings.json", tt.then) })
			} else {
				f.write(".agent/settings.json", tt.then)
			}
			for _, when := range []string{"at once", "after a restart"} {
				got := f.decides()
				if got.Decision != "" && (got.By == nil || got.By.File != f.path(".agent/settings.json")) {
					t.Errorf("%s: %+v decided", when, got.By)
				}
				got.Reason, got.By = "", nil
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("%s: %s", when, diff)
				}
				f.restart()
			}
			reply, err := f.List(t.Context(), HooksRequest{})
			if err != nil || len(reply.Files) != 1 || (len(reply.Files[0].Missing) > 0) != (tt.want.Decision == agent.Ask) {
				t.Errorf("%+v, %v", reply.Files, err)
			}
			f.accept()
			if got := f.decides(); got.Decision != tt.decided {
				t.Errorf("in the end: %+v", got)
			}
		})
	}
}

// K-34: no hook of a project allows anything for the rest of a session.
func TestRulesOfHooks(t *testing.T) {
	t.Parallel()
	wants := func(behavior string) string {
		return strings.Replace(denies, "echo no >&2; exit 2", `printf '{\"permissionUpdate\": {\"tool\": \"Bash(git push *)\", \"behavior\": \"`+behavior+`\"}}'`, 1)
	}
	for _, tt := range []struct {
		file, behavior string
		want           []string
	}{
		{"~/.agent/settings.json", "allow", []string{"s allow Bash(git push *)"}},
		{".agent/settings.json", "deny", []string{"s deny Bash(git push *)"}},
		{".agent/settings.json", "ask", []string{"s ask Bash(git push *)"}},
		{".agent/settings.json", "allow", nil},
		{".claude/settings.local.json", "allow", nil},
	} {
		f := newFixture(t)
		f.write(tt.file, wants(tt.behavior))
		f.accept()
		f.decides()
		if diff := cmp.Diff(tt.want, f.rules); diff != "" {
			t.Errorf("%s %s: %s", tt.file, tt.behavior, diff)
		}
	}
}

// A settings file that changes is told once, and so is a file that a hook names.
func TestWatch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("old.env", "1")
	f.write("sub/known.env", "1")
	f.Engine(t.Context(), Session{ID: "s", Folder: f.folder}).Close()
	f.write("before.env", "nobody asks")
	f.write(".agent/settings.json", `{"hooks": {"FileChanged": [{"matcher": "\\.env$", "hooks": [{"type": "command", "command": "x"}]}]}}`)
	f.await("project_settings settings.json", 1)
	for _, step := range []struct{ name, text, want string }{
		{"old.env", "2", "change old.env"}, {"new.env", "1", "add new.env"}, {"other.txt", "1", ""}, {"sub/known.env", "2", "change known.env"},
		{"old.env", "", "unlink old.env"}, {"~/.agent/settings.json", "{}", "user_settings settings.json"}, {".agent/settings.local.json", "{", "local_settings settings.local.json"},
	} {
		if step.text == "" {
			if err := os.Remove(f.path(step.name)); err != nil {
				t.Fatal(err)
			}
		} else {
			f.write(step.name, step.text)
		}
		if step.want != "" {
			f.await(step.want, 1)
		}
	}
	f.write(".agent/settings.json", "{}")
	f.write(".claude/settings.json", "{}")
	seen := f.await("project_settings settings.json", 3)
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, s := range seen {
		counts[s]++
	}
	if n := counts["project_settings settings.json"]; n != 3 {
		t.Errorf("three changes of the project's settings were told as %d", n)
	}
	for _, once := range []string{"change old.env", "add new.env", "unlink old.env", "change known.env", "user_settings settings.json", "local_settings settings.local.json"} {
		if counts[once] != 1 {
			t.Errorf("%s was told %d times: %q", once, counts[once], seen)
		}
	}
	if n := counts["add before.env"] + counts["add other.txt"]; n > 0 {
		t.Errorf("told of what no hook names: %q", seen)
	}
}
