package agent_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
)

func TestExplainedPause(t *testing.T) {
	t.Parallel()
	for pause, want := range map[time.Duration]string{
		time.Nanosecond:                 "1s",
		20 * time.Second:                "20s",
		time.Minute:                     "1m",
		90*time.Second - 1:              "1m30s",
		10*time.Minute + 10*time.Second: "10m10s",
		time.Hour:                       "1h",
		20*time.Hour + 10*time.Minute:   "20h10m",
		time.Hour + 30*time.Second:      "1h0m30s",
	} {
		if got := agent.Explain(&llm.Error{Class: llm.ClassServer, RetryAfter: pause}).Args[1]; got != want {
			t.Errorf("%d ns: %s, want %s", pause, got, want)
		}
	}
}

// The provider's own words end the message if they say more, and are always in
// the details.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want agent.Failure
	}{
		{
			"a refused key", &llm.Error{Class: llm.ClassAuth, Provider: "openai", Status: 401, Message: "Incorrect key.", RequestID: "r1"},
			agent.Failure{
				ID: agent.FailureAuth, Args: []string{"Incorrect key"}, Code: "auth", Message: "The provider does not accept the key.",
				Next: "Check the provider's key, then try again.", Details: "openai: Incorrect key. (auth, HTTP 401), request r1",
			},
		},
		{
			"a refused request, wrapped", fmt.Errorf("ask: %w", &llm.Error{Class: llm.ClassInvalid, Provider: "openai", Message: "max_tokens is {1}"}),
			agent.Failure{
				ID: agent.FailureInvalid, Args: []string{"max_tokens is {1}"}, Code: "invalid", Message: "The provider refused the request: max_tokens is {1}.",
				Next: "Change the message or choose another model, then try again.", Details: "openai: max_tokens is {1} (invalid)",
			},
		},
		{
			"a pause", &llm.Error{Class: llm.ClassOverloaded, Status: 529, RetryAfter: 1500 * time.Millisecond},
			agent.Failure{
				ID: agent.FailureOverloadedWait, Args: []string{"HTTP 529", "2s"}, Code: "overloaded", Message: "The provider is overloaded.",
				Next: "The provider asks to wait 2s. Try again after that, or choose another model.", Details: " (overloaded, HTTP 529)",
			},
		},
		{
			"no reason", &llm.Error{Class: llm.ClassServer},
			agent.Failure{
				ID: agent.FailureServer, Args: []string{"server"}, Code: "server", Message: "The provider failed: server.",
				Next: "Wait a little and try again, or choose another model.",
			},
		},
		{
			"another error", errors.New("the log is closed"),
			agent.Failure{
				ID: agent.FailureInternal, Args: []string{"the log is closed"}, Code: "internal", Message: "Something went wrong: the log is closed.",
				Next: "Try again.",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.want.Kept = "Everything up to here is kept."
			if diff := cmp.Diff(tt.want, agent.Explain(tt.err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
