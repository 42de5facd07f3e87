package guard

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

// memory is a store of settings.
type memory struct {
	mu     sync.Mutex
	values map[string]string
	read   func(context.Context) // called after a value was read; may be nil
}

func (m *memory) Setting(ctx context.Context, key string) (string, error) {
	m.mu.Lock()
	value := m.values[key]
	m.mu.Unlock()
	if m.read != nil {
		m.read(ctx)
	}
	return value, context.Cause(ctx)
}

func (m *memory) SetSetting(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
	return nil
}

func (m *memory) ChangeSetting(_ context.Context, key string, change func(string) (string, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, err := change(m.values[key])
	if err == nil {
		m.values[key] = text
	}
	return err
}

// world is a project and a user with a guard.
type world struct {
	t             *testing.T
	project, user string
	store         *memory
	now           time.Time
	*Guard
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, project: filepath.Join(base, "project"), user: filepath.Join(base, "user"), store: &memory{values: map[string]string{}},
		now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for _, dir := range []string{w.project, w.user} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	return w
}

// open is what another start of the program does.
func (w *world) open() {
	w.Guard = New(Config{Folder: w.project, User: w.user, Store: w.store, Now: func() time.Time { return w.now }})
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) decides(command string) agent.Decision {
	w.t.Helper()
	return w.Set(w.t.Context(), "s1").Judge(agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command}}, nil).Decision
}

func (w *world) wants(command string, want agent.Decision) {
	w.t.Helper()
	if got := w.decides(command); got != want {
		w.t.Errorf("%s: %q, want %q", command, got, want)
	}
}

func (w *world) add(rule string, d agent.Decision, scope agent.Scope) {
	w.t.Helper()
	if _, err := w.Add(w.t.Context(), AddRequest{Session: "s1", Rule: rule, Decision: d, Scope: scope}); err != nil {
		w.t.Fatal(err)
	}
}

// acceptAll accepts what the project's files allow.
func (w *world) acceptAll() {
	w.t.Helper()
	reply, err := w.Rules(w.t.Context(), "s1")
	for _, f := range reply.Files {
		if err == nil && f.Seal != "" {
			_, err = w.Accept(w.t.Context(), AcceptRequest{Path: f.Path, Seal: f.Seal})
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// OAS-630: rules of every scope hold at once and after another start, and deny wins
// wherever it stands.
func TestRulesOfEveryScope(t *testing.T) {
	t.Parallel()
	for _, scope := range []agent.Scope{agent.ScopeSession, agent.ScopeLocal, agent.ScopeProject, agent.ScopeUser} {
		w := newWorld(t)
		w.wants("make x", "")
		w.add("Bash(make *)", agent.Allow, scope)
		w.wants("make x", agent.Allow)
		w.open()
		w.wants("make x", agent.Allow)
		w.add("Bash(make x)", agent.Deny, agent.ScopeUser)
		w.wants("make x", agent.Deny)
		reply, err := w.Rules(t.Context(), "s1")
		if err != nil || len(reply.Rules) != 2 {
			t.Fatalf("%+v, %v", reply, err)
		}
		for _, e := range reply.Rules {
			if e.State != StateHolds {
				t.Errorf("%+v", e)
			}
			if _, err := w.Remove(t.Context(), RemoveRequest{Session: "s1", Rule: e.Rule, Decision: e.Decision, Scope: e.Scope, File: e.File}); err != nil {
				t.Error(err)
			}
		}
		w.wants("make x", "")
	}
}

// A deleted session leaves no rules.
func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("Bash(make *)", agent.Deny, agent.ScopeSession)
	if err := w.Forget(t.Context(), "s1", "s2"); err != nil {
		t.Fatal(err)
	}
	w.wants("make x", "")
	if got := w.store.values; got[keySession+"s1"] != "" {
		t.Errorf("%v", got)
	}
}

// An allow rule of a project's files holds only after the user has accepted it.
func TestProjectsAreAcceptedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.project, ".claude", "settings.json")
	w.write(path, `{"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(rm *)"]}}`)
	w.wants("make x", "")
	w.wants("rm x", agent.Deny)
	reply, err := w.Rules(t.Context(), "")
	if err != nil || len(reply.Files) != 1 || reply.Files[0].Unaccepted != 1 {
		t.Fatalf("%+v, %v", reply, err)
	}
	accept := AcceptRequest{Path: path, Seal: reply.Files[0].Seal}
	w.write(path, `{"permissions": {"allow": ["Bash(make *)", "Bash(curl *)"], "deny": ["Bash(rm *)"]}}`)
	if _, err := w.Accept(t.Context(), accept); err == nil {
		t.Error("another content was accepted")
	}
	w.write(path, `{"permissions": {"allow": ["Bash(make *)"], "deny": ["Bash(rm *)"]}, "x": 1}`)
	if _, err := w.Accept(t.Context(), accept); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.wants("make x", agent.Allow)
	w.write(path, `{"permissions": {"allow": ["Bash(make *)", "Bash(curl *)"]}}`)
	w.wants("make x", agent.Allow)
	w.wants("curl x.dev", "")
}

// A rule is written beside what a file has already.
func TestFilesKeepTheirMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.user, ".agent", "settings.json")
	w.write(path, `{"zeta": 1.50, "permissions": {"mode": "x", "allow": ["Read(a&b)"]}, "alpha": {"b": 1, "a": 2}}`)
	expires := w.now.Add(time.Hour)
	if _, err := w.Add(t.Context(), AddRequest{Rule: "Bash(make *)", Decision: agent.Allow, Scope: agent.ScopeUser, Expires: expires.UnixMilli()}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "zeta": 1.50,
  "permissions": {
    "mode": "x",
    "allow": [
      "Read(a&b)",
      {
        "rule": "Bash(make *)",
        "expires": "2026-01-02T04:04:05Z"
      }
    ]
  },
  "alpha": {
    "b": 1,
    "a": 2
  }
}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	w.wants("make x", agent.Allow)
	w.now = expires
	w.wants("make x", "")
}

// A rule that the user ends stays where it stands, and does nothing.
func TestEndRule(t *testing.T) {
	t.Parallel()
	for _, scope := range []agent.Scope{agent.ScopeUser, agent.ScopeProject} {
		w := newWorld(t)
		in := AddRequest{Rule: "Bash(make *)", Decision: agent.Allow, Scope: scope, Expires: w.now.Add(time.Hour).UnixMilli()}
		if _, err := w.Add(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		w.wants("make x", agent.Allow)
		in.Ended = true
		ended, err := w.Add(t.Context(), in)
		if err != nil || ended.State != StateExpired || ended.Expires > w.now.UnixMilli() {
			t.Fatalf("%+v, %v", ended, err)
		}
		w.wants("make x", "")
		reply, err := w.Rules(t.Context(), "")
		if err != nil || len(reply.Rules) != 1 || reply.Rules[0].State != StateExpired {
			t.Errorf("%+v, %v", reply, err)
		}
	}
}

// Bad input is reported where it stands, and the stricter side is taken.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("Bash(make *)", agent.Allow, agent.ScopeUser)
	path := filepath.Join(w.project, ".agent", "settings.json")
	w.write(path, "{\n  \"permissions\": {\n    \"deny\": [\"Bash(rm\"]\n  }\n}")
	w.wants("make x", agent.Ask)
	reply, err := w.Rules(t.Context(), "")
	if err != nil || len(reply.Rules) != 2 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if e := reply.Rules[1]; e.State != StateUnreadable || e.Line != 3 || e.Problem == nil || !strings.Contains(e.Problem.Message, "bracket") {
		t.Errorf("%+v", e)
	}
	w.write(path, "{\n  \"permissions\": \n")
	w.wants("make x", agent.Allow)
	w.wants("curl x.dev", agent.Ask)
	if j := w.Set(t.Context(), "").Judge(agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "curl x.dev"}}, nil); j.Unread != path {
		t.Errorf("%+v", j)
	}
	if reply, err = w.Rules(t.Context(), ""); err != nil || len(reply.Files) != 2 || reply.Files[1].Problem == nil {
		t.Errorf("%+v, %v", reply, err)
	}
	if _, err := w.Add(t.Context(), AddRequest{Rule: "Bash(ls)", Decision: agent.Deny, Scope: agent.ScopeProject}); err == nil {
		t.Error("a rule was added to a broken file")
	}
}

// K-51: a member of the sandbox's settings that nothing reads is named.
func TestUnknownMembersOfTheSandbox(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"enabled": true, "deniedCommands": ["x"], "network": {"allowedDomains": []}}`: nil,
		`{"deniedCommand": ["x"]}`:                        {"deniedCommand"},
		`{"denyPaths": [], "Enabled": true}`:              {"denyPaths"},
		`{"network": {"deniedDomain": [], "x": 1}}`:       {"network.deniedDomain", "network.x"},
		`{"excludedCommands": [], "allowedWritePath": 1}`: {"allowedWritePath", "excludedCommands"},
		`{"network": 3}`:                                  nil, // which makes the file unreadable
		`[]`:                                              nil,
	} {
		w := newWorld(t)
		w.write(filepath.Join(w.user, ".agent", "settings.json"), `{"sandbox": `+text+`}`)
		reply, err := w.Rules(t.Context(), "")
		if err != nil || len(reply.Files) != 1 {
			t.Fatalf("%s: %+v %v", text, reply, err)
		}
		if diff := cmp.Diff(want, reply.Files[0].Unknown); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
