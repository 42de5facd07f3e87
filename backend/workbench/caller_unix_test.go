//go:build unix

package workbench_test

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

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
)

func arguments(t *testing.T, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// questions answers what a person is asked, and remembers it.
type questions struct {
	mu     sync.Mutex
	asked  []string
	answer agent.Answer
}

func (q *questions) ask(_ context.Context, r agent.ApprovalRequest) agent.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = append(q.asked, r.Tool)
	return q.answer
}

// A program's calls go the way of a model's: they are judged, asked about, run and
// stored, without a request to any model.
func TestCallerCallsTools(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	if err := os.WriteFile(filepath.Join(p.folder, "a.txt"), []byte("alpha\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := &questions{answer: agent.Answer{Decision: agent.Deny, Feedback: "Not now."}}
	c := p.bench.NewCaller("a \"program\"\nof theirs", agent.ModeDefault, q.ask)
	defer c.Close()

	specs, err := c.Tools()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Read", "Write", "Edit", "Bash", "Grep", "Glob", "RunAgent"} {
		if !slices.ContainsFunc(specs, func(s agent.Spec) bool { return s.Name == name }) {
			t.Errorf("%s is not offered", name)
		}
	}
	end, err := c.Call(t.Context(), "Read", arguments(t, map[string]any{"file_path": "a.txt"}), nil)
	if err != nil || end.IsError || !strings.Contains(end.Output, "alpha") {
		t.Fatalf("Read: %+v, %v", end, err)
	}
	write := arguments(t, map[string]any{"file_path": "b.txt", "content": "beta\n"})
	if end, err = c.Call(t.Context(), "Write", write, nil); err != nil || end.Outcome != agent.OutcomeDenied {
		t.Fatalf("a denied call: %+v, %v", end, err)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "b.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a denied call wrote: %v", err)
	}
	q.answer = agent.Answer{Decision: agent.Allow}
	if end, err = c.Call(t.Context(), "Write", write, nil); err != nil || end.Outcome != agent.OutcomeDone {
		t.Fatalf("an allowed call: %+v, %v", end, err)
	}
	var printed strings.Builder
	if end, err = c.Call(t.Context(), "Bash", arguments(t, map[string]any{"command": "echo one; echo two >b.txt"}), func(text string) { printed.WriteString(text) }); err != nil || end.IsError {
		t.Fatalf("Bash: %+v, %v", end, err)
	}
	if printed.String() != "one\n" {
		t.Errorf("it printed %q", printed.String())
	}
	if end, err = c.Call(t.Context(), "Nothing", nil, nil); err != nil || !end.IsError {
		t.Errorf("an unknown tool: %+v, %v", end, err)
	}
	if want := []string{"Write", "Write", "Bash"}; !slices.Equal(q.asked, want) {
		t.Errorf("asked about %v, want %v", q.asked, want)
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests went to models", n)
	}
	list := must[backend.SessionPage](p, "sessions.list", backend.Empty{})
	if len(list.Sessions) != 1 || list.Sessions[0].Usage.Input != 0 || strings.Contains(list.Sessions[0].Title, "\n") {
		t.Errorf("the sessions are %+v", list.Sessions)
	}
}

// A call that nobody waits for any more is stopped, and so is everything when the
// program leaves.
func TestCallerInterrupts(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), "sk-test"))
	q := &questions{answer: agent.Answer{Decision: agent.Allow}}
	c := p.bench.NewCaller("test", agent.ModeDefault, q.ask)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Call(ctx, "Bash", arguments(t, map[string]any{"command": "echo begun; exec sleep 600"}), func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
	if end, err := c.Call(t.Context(), "Bash", arguments(t, map[string]any{"command": "pwd"}), nil); err != nil || end.IsError {
		t.Errorf("the next call: %+v, %v", end, err)
	}
	left := make(chan error, 1)
	_, err = c.Call(t.Context(), "Bash", arguments(t, map[string]any{"command": "echo begun; exec sleep 600"}), func(string) {
		go func() { c.Close(); left <- nil }()
	})
	if err == nil {
		t.Error("a call ended although the program had left")
	}
	<-left
	if _, err := c.Call(t.Context(), "Bash", nil, nil); err == nil {
		t.Error("a caller that was closed still calls")
	}
}

// A call whose turn ends before it is told why, and no other turn is begun for it.
func TestCallerIsToldWhyNothingRan(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	put(t, user+"/.agent/settings.json", onEvent("UserPromptSubmit", "", "echo 'Not at night.' >&2; exit 2"))
	p := newPage(t, t.TempDir(), t.TempDir(), homely(llmtest.Serve(t), user))
	c := p.bench.NewCaller("test", agent.ModeDefault, nil)
	defer c.Close()
	for range 2 {
		end, err := c.Call(t.Context(), "Read", arguments(t, map[string]any{"file_path": "a.txt"}), nil)
		if err != nil || !end.IsError || !strings.Contains(end.Output, "Not at night.") {
			t.Fatalf("%+v, %v", end, err)
		}
	}
	if runs := logged(p, hooks.HookLogRequest{Point: agent.HookUserPromptSubmit}, 2); len(runs) != 2 {
		t.Errorf("%d turns were begun for two calls", len(runs))
	}
}

// An agent that a program starts works on the user's model, reports, and asks the
// program what a person has to decide.
func TestCallerRunsAgent(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	q := &questions{answer: agent.Answer{Decision: agent.Allow}}
	p.session("openai") // so that its model is the one that the user chose
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "c.txt", "content": "gamma\n"})}}, llmtest.Round{Text: "Written."})
	c := p.bench.NewCaller("test", agent.ModeDefault, q.ask)
	defer c.Close()
	end, err := c.Call(t.Context(), "RunAgent", arguments(t, map[string]any{"task": "Write c.txt.", "model": model}), nil)
	if err != nil || end.IsError || !strings.Contains(end.Output, "Written.") {
		t.Fatalf("RunAgent: %+v, %v", end, err)
	}
	if want := []string{"RunAgent", "Write"}; !slices.Equal(q.asked, want) {
		t.Errorf("asked about %v, want %v", q.asked, want)
	}
}
