package hook_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
)

// rig is an engine in a folder, what it logged and what it reported.
type rig struct {
	t        *testing.T
	folder   string
	handlers []hook.Handler
	options  hook.Options
	engine   *hook.Engine

	mu       sync.Mutex
	log      []hook.Entry
	reported []agent.Payload
	onReport func(agent.Payload) // called with each report; may be nil
}

func newRig(t *testing.T, handlers ...hook.Handler) *rig {
	t.Helper()
	r := &rig{t: t, folder: t.TempDir(), handlers: handlers}
	r.options = hook.Options{
		Folder: r.folder, Handlers: func() []hook.Handler { return r.handlers }, Runner: hook.Local{},
		Log: func(e hook.Entry) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.log = append(r.log, e)
		},
	}
	return r
}

// fire fires a point once; the engine is made when it is needed first.
func (r *rig) fire(data agent.HookInput) agent.HookAdvice {
	r.t.Helper()
	return r.fireIn(r.t.Context(), data)
}

func (r *rig) fireIn(ctx context.Context, data agent.HookInput) agent.HookAdvice {
	r.t.Helper()
	if r.engine == nil {
		r.engine = hook.New(r.options)
		r.t.Cleanup(r.engine.Close)
	}
	advice := r.engine.Fire(ctx, agent.HookCall{Session: "s1", Mode: agent.ModeDefault, Data: data}, func(p agent.Payload) {
		r.reported = append(r.reported, p)
		if r.onReport != nil {
			r.onReport(p)
		}
	})
	if (advice.By == nil) != (advice.Decision == "") {
		r.t.Errorf("%q was decided by %v", advice.Decision, advice.By)
	}
	if (advice.StoppedBy != nil) != advice.Stopped {
		r.t.Errorf("%t, stopped by %v", advice.Stopped, advice.StoppedBy)
	}
	advice.By, advice.StoppedBy = nil, nil // which tests look at only here
	return advice
}

// write writes a file of the folder and returns its path.
func (r *rig) write(name, text string, mode os.FileMode) string {
	r.t.Helper()
	path := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// parse reads hooks that have no problems.
func parse(t *testing.T, form hook.Form, text string) []hook.Handler {
	t.Helper()
	handlers, findings := hook.Parse(json.RawMessage(text), hook.Origin{Scope: hook.ScopeUser, File: "/home/me/settings.json", Form: form})
	for _, f := range findings {
		if !f.Harmless {
			t.Fatalf("line %d: %s", f.Line, f.Message)
		}
	}
	return handlers
}

// command returns hooks of one event that run a line.
func command(t *testing.T, event, matcher, line string) []hook.Handler {
	t.Helper()
	text, err := json.Marshal(map[string]any{event: []any{map[string]any{
		"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": line, "timeout": 60}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, hook.FormAgent, string(text))
}

// use is a call of a tool.
func use(tool, input string) agent.PreToolUseInput {
	return agent.PreToolUseInput{HookTool: agent.HookTool{Tool: tool, Input: json.RawMessage(input), CallID: "c1"}}
}

// COM-72, COM-76: a hook of a settings file denies a call.
func TestHookDenies(t *testing.T) {
	t.Parallel()
	r := newRig(t, command(t, "PreToolUse", "Bash", `echo "not on Fridays" >&2; exit 2`)...)
	advice := r.fire(use("Bash", `{"command":"ls"}`))
	if advice.Decision != agent.Deny || advice.Reason != "not on Fridays" {
		t.Errorf("%+v", advice)
	}
	if len(r.log) != 1 || r.log[0].Outcome != hook.OutcomeRan || r.log[0].Exit.Code != 2 || !strings.Contains(r.log[0].Input, `"tool_name":"Bash"`) {
		t.Errorf("%+v", r.log)
	}
	if len(r.reported) != 2 {
		t.Errorf("%+v", r.reported)
	}
	if advice := r.fire(use("Read", `{"file_path":"a"}`)); advice.Decision != "" || r.log[1].Outcome != hook.OutcomeNotMatched {
		t.Errorf("%+v, %+v", advice, r.log[1:])
	}
}

// read reads a file of the folder.
func (r *rig) read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// function returns the hook of a function.
func function(t *testing.T, c hook.Code) []hook.Handler {
	t.Helper()
	registry := hook.NewRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	return registry.Handlers()
}

// readIfThere reads a file that need not exist.
func (r *rig) readIfThere(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.folder, name))
	return string(text)
}

// timed changes the time that hooks have.
func timed(handlers []hook.Handler, d time.Duration) []hook.Handler {
	for i := range handlers {
		handlers[i].Terms.Timeout = d
	}
	return handlers
}
