package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// looked is a tool that counts how often it is asked what a call would touch.
type looked struct {
	note
	access func(context.Context)
}

func (l looked) Access(ctx context.Context, input json.RawMessage) agent.Access {
	l.access(ctx)
	return agent.Access{Command: textOf(input), OnlyReads: true}
}

// A tool may have to look at files and to start git for it, so that it is asked what a call
// would touch once, and once more after somebody was asked about the call.
func TestAccessIsFoundOutOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		verdict agent.Decision
		want    int
	}{"allowed": {agent.Allow, 1}, "denied": {agent.Deny, 1}, "asked": {agent.Ask, 2}} {
		asked := 0
		tool := looked{note{name: "Shell"}, func(context.Context) { asked++ }}
		r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Shell", "ls")}}, llmtest.Round{Text: "Done."}), tool)
		r.cfg.Gate = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict {
			return agent.Verdict{Decision: tt.verdict, Reason: "It is a test."}
		})
		r.run("go")
		if asked != tt.want {
			t.Errorf("%s: the tool was asked %d times, want %d", name, asked, tt.want)
		}
	}
}

// A stop reaches a tool and a gate that take long to find out what a call would do. Nobody is
// asked about such a call, and it does not run.
func TestStopReachesWhatIsFoundOut(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"access", "gate"} {
		synctest.Test(t, func(t *testing.T) {
			begun, ran := make(chan bool), false
			wait := func(ctx context.Context, here string) {
				if here == at {
					close(begun)
					<-ctx.Done()
				}
			}
			tool := looked{note{name: "Shell", run: func(context.Context, agent.Invocation) agent.Result {
				ran = true
				return agent.Result{}
			}}, func(ctx context.Context) { wait(ctx, "access") }}
			r := newRig(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use("Shell", "ls")}}), tool)
			r.cfg.Gate = agent.GateFunc(func(ctx context.Context, _ agent.GateCall) agent.Verdict {
				wait(ctx, "gate")
				return agent.Verdict{Decision: agent.Ask, Reason: "It is a test."}
			})
			r.open()
			go func() {
				<-begun
				r.session.Interrupt()
			}()
			events := r.run("go")
			if n := len(find[agent.ApprovalRequest](events)); n > 0 || ran || end(t, events) != agent.EndInterrupted {
				t.Errorf("%s: %d questions, ran %v, ended %s", at, n, ran, end(t, events))
			}
		})
	}
}
