package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// journal notes what happens in several goroutines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
}

// meet returns a function that returns once n goroutines have called it.
func meet(n int) func() {
	var all sync.WaitGroup
	all.Add(n)
	return func() { all.Done(); all.Wait() }
}

// K-40, LOOP-11, OAS-106: the calls of one answer run in the order in which they
// stand. Consecutive concurrent ones run at the same time: here two runs only end
// once both have begun.
func TestSourceOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails at once where nobody comes
		var j journal
		pairs := map[string]func(){"1": meet(2), "2": meet(2), "4": meet(2), "5": meet(2)}
		pairs["2"], pairs["5"] = pairs["1"], pairs["4"]
		run := func(name string) func(context.Context, agent.Invocation) agent.Result {
			return func(_ context.Context, c agent.Invocation) agent.Result {
				text := textOf(c.Input)
				j.note(name + " begins")
				if wait := pairs[text]; wait != nil {
					wait()
				}
				j.note(name + " ends")
				return agent.Result{Output: text}
			}
		}
		poll := note{name: "Poll", run: run("poll")}
		spec := poll.Spec()
		spec.ReadOnly, spec.Idempotent = true, true // and not Concurrent
		model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
			use("Note", "0"), use("Look", "1"), use("Look", "2"), use("Note", "3"), use("Look", "4"), use("Look", "5"), use("Poll", "6"), use("Poll", "7"),
		}}, llmtest.Round{Text: "Done."})
		r := newRig(t, model, note{name: "Look", readOnly: true, run: run("look")}, note{name: "Note", run: run("note")}, specified{poll, spec})
		r.cfg.Approver = approver(func(_ context.Context, req agent.ApprovalRequest) (agent.Answer, error) {
			j.note("ask about " + textOf([]byte(req.Input)))
			return agent.Answer{Decision: agent.Allow}, nil
		})
		r.run("go")
		want := []string{
			"ask about 0", "note begins", "note ends",
			"look begins", "look begins", "look ends", "look ends",
			"ask about 3", "note begins", "note ends",
			"look begins", "look begins", "look ends", "look ends",
			"poll begins", "poll ends", "poll begins", "poll ends",
		}
		if diff := cmp.Diff(want, j.lines); diff != "" {
			t.Error(diff)
		}
		for i, result := range seen(t, model) {
			if result.Text != fmt.Sprint(i) {
				t.Errorf("result %d is %q", i, result.Text)
			}
		}
	})
}

// K-40, K-05: a person is asked about a call when those before it have ended, also
// about one that may run beside them.
func TestAskedAfterEarlierCalls(t *testing.T) {
	t.Parallel()
	var j journal
	r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Look", "a"), use("Look", "b"), use("Look", "c")}}, llmtest.Round{Text: "Done."}),
		note{name: "Look", readOnly: true, run: func(_ context.Context, c agent.Invocation) agent.Result {
			j.note("look at " + textOf(c.Input))
			return agent.Result{Output: "seen"}
		}})
	r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
		if c.Point() == agent.HookPreToolUse && textOf(c.Tool().Input) == "b" {
			return agent.HookAdvice{Decision: agent.Ask}
		}
		return agent.HookAdvice{}
	}}
	r.cfg.Approver = approver(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
		j.note("ask")
		return agent.Answer{Decision: agent.Allow}, nil
	})
	r.run("go")
	slices.Sort(j.lines[2:]) // b and c run together
	if diff := cmp.Diff([]string{"look at a", "ask", "look at b", "look at c"}, j.lines); diff != "" {
		t.Error(diff)
	}
}

// shell is a tool that finds commands harmless which begin with "cat".
type shell struct{ note }

func (s shell) Access(_ context.Context, input json.RawMessage) agent.Access {
	command := textOf(input)
	return agent.Access{Command: command, OnlyReads: strings.HasPrefix(command, "cat")}
}

// K-40: commands that were found to only read run together, others alone; and so
// does one that a hook made another of.
func TestHarmlessCommandsRunTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		both := meet(2)
		run := note{name: "Shell", run: func(_ context.Context, c agent.Invocation) agent.Result {
			command := textOf(c.Input)
			j.note("begin " + command)
			if command == "cat" {
				both()
			}
			j.note("end " + command)
			return agent.Result{Output: "ran"}
		}}
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
			use("Shell", "cat"), use("Shell", "cat"), use("Shell", "rm 1"), use("Shell", "rm 2"), use("Shell", "cat 3"), use("Shell", "cat 4"),
		}}, llmtest.Round{Text: "Done."}), shell{run})
		r.cfg.Gate = agent.AllowAll
		r.cfg.Hooks = &hooks{advise: func(c agent.HookCall) agent.HookAdvice {
			if c.Point() == agent.HookPreToolUse && textOf(c.Tool().Input) == "cat 4" {
				return agent.HookAdvice{Input: json.RawMessage(`{"text":"rm 4"}`)}
			}
			return agent.HookAdvice{}
		}}
		r.run("go")
		want := []string{
			"begin cat", "begin cat", "end cat", "end cat", "begin rm 1", "end rm 1", "begin rm 2", "end rm 2",
			"begin cat 3", "end cat 3", "begin rm 4", "end rm 4",
		}
		if diff := cmp.Diff(want, j.lines); diff != "" {
			t.Error(diff)
		}
	})
}
