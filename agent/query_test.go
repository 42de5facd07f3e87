package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission"
)

// template is a rig's configuration as a host would keep it.
func template(t *testing.T, model agent.Model) *agent.Template {
	t.Helper()
	return agent.NewTemplate(func(string) (agent.Config, error) {
		r := newRig(t, model)
		r.cfg.Now, r.cfg.NewID, r.cfg.Facts = nil, nil, facts{}
		return r.cfg, nil
	})
}

// session begins a session of a runtime, or opens one again.
func session(t *testing.T, r *agent.Runtime, past ...agent.Event) *agent.Session {
	t.Helper()
	s, err := r.Session("s", past...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var scripted = agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault}

// OAS-101, OAS-105, OAS-114, OAS-117, OAS-712: a prompt comes back with its text, usage,
// rounds, cost by model, and how it ended.
func TestPrompt(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rounds []llmtest.Round
		limits agent.Limits
		want   agent.Status
		text   string
		turns  int
	}{
		"success":   {[]llmtest.Round{worth(2, look), worth(3)}, agent.DefaultLimits, agent.StatusSuccess, "So far.", 2},
		"max turns": {[]llmtest.Round{worth(2, look), worth(3)}, agent.Limits{Rounds: 1}, agent.StatusMaxTurns, "So far.", 1},
		"budget":    {[]llmtest.Round{worth(2, look), worth(3)}, agent.Limits{Budget: 3 * llm.Dollar / 2}, agent.StatusMaxBudget, "So far.", 1},
		"failure":   {[]llmtest.Round{{Status: 404}}, agent.DefaultLimits, agent.StatusFailed, "", 0},
	} {
		got, err := template(t, llmtest.Script(tt.rounds...)).Runtime(scripted, agent.Overrides{Limits: &tt.limits}).Query(t.Context(), "go")
		if (err == nil) != (name == "success") {
			t.Errorf("%s: %v", name, err)
		}
		if got.Status != tt.want || got.Text != tt.text || got.Turns != tt.turns || (got.Failure != nil) != (tt.want == agent.StatusFailed) {
			t.Errorf("%s: %+v", name, got)
		}
		if name != "success" {
			continue
		}
		cost := llm.Spending{Cost: 5 * llm.Dollar}
		want := []agent.ModelCost{{Provider: llmtest.Provider, Model: "m", Usage: llm.Usage{CacheWrite: 5, Known: true}, Cost: cost}}
		if diff := cmp.Diff(want, got.ByModel); diff != "" || got.Cost != cost || got.Rounds != 1 || got.Usage.CacheWrite != 5 {
			t.Errorf("%+v %s", got, diff)
		}
	}
}

// OAS-116, COM-92: an interrupt comes back as cancelled, with what was said so
// far, and the session can go on.
func TestPromptInterrupted(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "I was about", Hang: true}, llmtest.Round{Text: "On."})
	s := session(t, template(t, model).Runtime(scripted, agent.Overrides{}))
	var text string
	for ev, err := range s.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := ev.Data.(agent.TextDelta); ok && text == "" {
			text = d.Text
			s.Interrupt()
		}
	}
	if s.Transcript().LastEnd != agent.EndInterrupted {
		t.Errorf("ended as %s", s.Transcript().LastEnd)
	}
	if got, err := s.Prompt(t.Context(), "go on"); err != nil || got.Status != agent.StatusSuccess || got.Text != "On." {
		t.Errorf("%+v %v", got, err)
	}
}

// OAS-105, OAS-116, OAS-117: a prompt that the user cancels comes back with what was
// said and spent until then.
func TestPromptCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t, llmtest.Script(worth(2, look), worth(3)), note{name: "Look", readOnly: true,
		run: func(ctx context.Context, _ agent.Invocation) agent.Result {
			ctx.Value(interrupter{}).(func())()
			return agent.Result{Output: "seen"}
		}})
	r.cfg.Facts = facts{}
	s := r.open()
	got, err := s.Prompt(context.WithValue(t.Context(), interrupter{}, s.Interrupt), "go")
	if !errors.Is(err, agent.ErrInterrupted) || got.Status != agent.StatusCancelled || got.Text != "So far." || got.Cost.Cost != 2*llm.Dollar || got.Usage.CacheWrite != 2 {
		t.Errorf("%+v %v", got, err)
	}
}

// interrupter is the key of a session's Interrupt.
type interrupter struct{}

// OAS-103: each input of a stream is a full turn, in order; after one that did
// not end well no other begins.
func TestStreamInput(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Status: 404}, llmtest.Round{Text: "never"})
	s := session(t, template(t, model).Runtime(scripted, agent.Overrides{}))
	var events []agent.Event
	for ev, err := range s.StreamInput(t.Context(), slices.Values([]string{"a", "b", "c", "d"})) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, inputs(events)); diff != "" {
		t.Error(diff)
	}
}

// COM-01, COM-02, COM-03, COM-04, LOOP-03, LOOP-101: many runtimes and sessions of one
// template, side by side, know nothing of each other; a session's past counts
// before its runtime's settings.
func TestTemplate(t *testing.T) {
	t.Parallel()
	const n = 8
	var rounds []llmtest.Round
	for range n {
		rounds = append(rounds, llmtest.Round{Text: "Hi."})
	}
	model := llmtest.Script(rounds...)
	tpl := template(t, model)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			r := tpl.Runtime(scripted, agent.Overrides{System: "Be kind."})
			s, err := r.Session("")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Prompt(t.Context(), "hello"); err != nil || s.Transcript().Turn != 1 {
				t.Errorf("turn %d, %v", s.Transcript().Turn, err)
			}
		})
	}
	wg.Wait()
	for _, req := range model.Requests() {
		if len(req.Messages) != 1 || req.System != "Be kind." || req.Model != "m" {
			t.Errorf("%+v", req)
		}
	}
	past := agent.Event{Session: "s", Data: agent.SettingsChange{Settings: agent.Settings{Provider: "p", Model: "old"}}}
	if got := session(t, tpl.Runtime(scripted, agent.Overrides{}), past).Transcript().Settings.Model; got != "old" {
		t.Errorf("the past's model became %s", got)
	}
	closed := session(t, tpl.Runtime(scripted, agent.Overrides{}))
	closed.Close(t.Context())
	if _, err := closed.Prompt(t.Context(), "hello"); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("a closed session: %v", err)
	}
}

// COM-01, LOOP-10: a runtime's facts and options take the place of its template's;
// of the providers that it does not name the template's stay.
func TestOverrides(t *testing.T) {
	t.Parallel()
	by := func(provider, who string) map[string]agent.ProviderOptions {
		return map[string]agent.ProviderOptions{provider: {Header: http.Header{"X-By": {who}}}}
	}
	for name, tt := range map[string]struct {
		template  map[string]agent.ProviderOptions
		overrides agent.Overrides
		by        string // whose options are sent
		known     bool   // what it cost
	}{
		"none":                    {by(llmtest.Provider, "template"), agent.Overrides{}, "template", false},
		"facts":                   {by(llmtest.Provider, "template"), agent.Overrides{Facts: facts{}}, "template", true},
		"another's options":       {by(llmtest.Provider, "template"), agent.Overrides{Options: by("other", "runtime")}, "template", false},
		"options":                 {by(llmtest.Provider, "template"), agent.Overrides{Options: by(llmtest.Provider, "runtime")}, "runtime", false},
		"options where none were": {nil, agent.Overrides{Options: by(llmtest.Provider, "runtime")}, "runtime", false},
	} {
		model := llmtest.Script(worth(1))
		got, err := agent.NewTemplate(func(string) (agent.Config, error) {
			r := newRig(t, model)
			r.cfg.Options = tt.template
			return r.cfg, nil
		}).Runtime(scripted, tt.overrides).Query(t.Context(), "go")
		if err != nil {
			t.Fatal(err)
		}
		if sent := model.Requests()[0].Options.Header.Get("X-By"); sent != tt.by || (got.Cost.Unknown == 0) != tt.known {
			t.Errorf("%s: the options of %s were sent, the cost is %+v", name, sent, got.Cost)
		}
	}
}

// A configuration that lacks what nothing can take the place of is refused in
// words, by every way to a session.
func TestIncompleteConfig(t *testing.T) {
	t.Parallel()
	const want = "make session: its configuration has no Profiles, no Gate"
	if _, err := agent.New(agent.Config{Model: llmtest.Script()}); err == nil || err.Error() != want {
		t.Errorf("a session: %v", err)
	}
	r := agent.NewTemplate(func(string) (agent.Config, error) { return agent.Config{Model: llmtest.Script()}, nil }).
		Runtime(scripted, agent.Overrides{System: "Be kind."})
	if _, err := r.Query(t.Context(), "hello"); err == nil || err.Error() != want {
		t.Errorf("a query: %v", err)
	}
	for _, limits := range []agent.Limits{{Rounds: -1}, {Turns: -1}, {Continuations: -1}, {LoopWindow: -1}, {Budget: -1}} {
		cfg := agent.Config{Model: llmtest.Script(), Gate: agent.AllowAll, Profiles: agent.Plain("", nil), Limits: limits}
		if _, err := agent.New(cfg); err == nil || !strings.Contains(err.Error(), "is negative: -1") {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	if _, err := agent.NewRegistry(nil); err == nil {
		t.Error("a nil tool was registered")
	}
	fault := errors.New("no such folder")
	r = agent.NewTemplate(func(string) (agent.Config, error) { return agent.Config{}, fault }).Runtime(scripted, agent.Overrides{})
	if _, err := r.Session(""); !errors.Is(err, fault) {
		t.Errorf("a template: %v", err)
	}
}

// The zero values of a configuration mean what their comments say: the machine's
// clock, ids of its own, nobody to ask.
func TestLeastConfig(t *testing.T) {
	t.Parallel()
	tools, err := agent.NewRegistry(note{name: "Note"})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Note", "a")}}, llmtest.Round{Text: "Done."})
	s, err := agent.New(agent.Config{Model: model, Gate: &gate{}, Profiles: agent.Plain("", tools)})
	if err != nil {
		t.Fatal(err)
	}
	s.Configure(scripted)
	var events []agent.Event
	for ev, err := range s.Run(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, ev)
		if ev.Session == "" || ev.At == 0 {
			t.Errorf("%+v", ev)
		}
	}
	ends := find[agent.ToolCallEnd](events)
	if len(ends) != 1 || ends[0].Outcome != agent.OutcomeDenied || !strings.Contains(ends[0].Output, "nobody") {
		t.Errorf("%+v", ends)
	}
}

// COM-01, COM-04: sessions of one template that run at the same time share neither
// their gate nor what a person granted one of them.
func TestSessionsOfATemplateShareNoGate(t *testing.T) {
	t.Parallel()
	const sessions, calls = 4, 50
	dir := t.TempDir()
	var asked atomic.Int32
	template := agent.NewTemplate(func(string) (agent.Config, error) {
		tools, err := agent.NewRegistry(note{name: "Note"})
		if err != nil {
			return agent.Config{}, err
		}
		var rounds []llmtest.Round
		for i := range calls {
			same := use("Note", fmt.Sprint(i))
			rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{same, same}}) // asked about once
		}
		policy, err := permission.New(dir, permission.Rules{})
		return agent.Config{
			Model: llmtest.Script(append(rounds, llmtest.Round{Text: "Done."})...), Gate: policy, Profiles: agent.Plain("", tools),
			Approver: approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
				asked.Add(1)
				return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}, nil
			}),
		}, err
	})
	r := template.Runtime(scripted, agent.Overrides{})
	var wg sync.WaitGroup
	for range sessions {
		wg.Go(func() {
			if result, err := r.Query(t.Context(), "go"); err != nil || result.Text != "Done." {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != sessions*calls {
		t.Errorf("asked %d times, want %d", n, sessions*calls)
	}
}
