package mcp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
)

func kind(err error) mcp.FaultKind {
	var fault *mcp.Fault
	if errors.As(err, &fault) {
		return fault.Kind
	}
	if err != nil {
		return mcp.FaultKind(err.Error())
	}
	return ""
}

// A server that never becomes a connection is named for what it is.
func TestServerThatDoesNotStart(t *testing.T) { // OAS-408, OAS-416
	t.Parallel()
	hangs := map[string]bool{"init-hang": true, "init-silent": true, "init-foreign": true, "init-garbage": true, "list-hang": true, "list-foreign": true, "never-reads": true}
	stdio := map[string]mcp.FaultKind{
		"start-crash": mcp.FaultExited, "init-crash": mcp.FaultExited, "init-hang": mcp.FaultSlow, "init-silent": mcp.FaultSlow, "init-error": mcp.FaultAnswer,
		"init-version": mcp.FaultVersion, "init-text": mcp.FaultProtocol, "init-huge": mcp.FaultTooLarge, "init-foreign": mcp.FaultSlow, "init-garbage": mcp.FaultGarbage,
		"init-unversioned": mcp.FaultProtocol, "init-ends-output": mcp.FaultProtocol, "list-ends-output": mcp.FaultProtocol, "list-foreign": mcp.FaultSlow,
		"endless-line": mcp.FaultTooLarge, "garbage-flood": mcp.FaultGarbage, "list-hang": mcp.FaultSlow, "list-crash": mcp.FaultExited, "list-error": mcp.FaultAnswer,
		"list-text": mcp.FaultProtocol, "list-deep": mcp.FaultGarbage, "never-reads": mcp.FaultSlow,
	}
	http := map[string]mcp.FaultKind{
		"start-crash": mcp.FaultHTTP, "init-hang": mcp.FaultSlow, "init-silent": mcp.FaultProtocol, "init-error": mcp.FaultAnswer, "init-version": mcp.FaultVersion,
		"init-text": mcp.FaultProtocol, "init-huge": mcp.FaultTooLarge, "endless-line": mcp.FaultTooLarge, "garbage-flood": mcp.FaultHTTP, "list-hang": mcp.FaultSlow,
		"list-error": mcp.FaultAnswer, "list-text": mcp.FaultProtocol, "list-deep": mcp.FaultProtocol,
		"init-foreign": mcp.FaultProtocol, "list-foreign": mcp.FaultProtocol, "init-unversioned": mcp.FaultProtocol,
		"http-401": mcp.FaultAuth, "http-403": mcp.FaultHTTP, "http-404": mcp.FaultHTTP, "http-500": mcp.FaultHTTP, "http-html": mcp.FaultProtocol,
		"http-empty": mcp.FaultProtocol, "http-cut": mcp.FaultProtocol, "http-sse-cut": mcp.FaultProtocol, "http-metadata": mcp.FaultRedirect,
		"http-away": mcp.FaultRedirect, "http-file": mcp.FaultRedirect, "http-circle": mcp.FaultRedirect, "http-endless": mcp.FaultTooLarge,
	}
	try := func(t *testing.T, s mcp.Server, want mcp.FaultKind) {
		s.Limits.Start = 30 * time.Second
		if hangs[s.Name] {
			s.Limits.Start = 500 * time.Millisecond
			if want != mcp.FaultSlow || s.Name == "list-hang" || s.Name == "list-foreign" {
				s.Limits.Start = 5 * time.Second // a slow machine must have time to see more than silence
			}
		}
		trial := mcp.New(mcp.Config{Dir: t.TempDir()}).Try(t.Context(), s)
		if got := kind(trial.Status.Reason); got != want {
			t.Errorf("the reason is %q, want %q: %v", got, want, trial.Status.Reason)
		}
		state := mcp.StateFailed
		if want == mcp.FaultAuth {
			state = mcp.StateNeedsAuth
		}
		if trial.Status.State != state || len(trial.Status.Tools) > 0 {
			t.Errorf("status: %+v", trial.Status)
		}
		if s.Name == "start-crash" && want == mcp.FaultExited && trial.Stderr != "no database\n" {
			t.Errorf("it printed %q", trial.Stderr)
		}
		last := len(trial.Steps) - 1
		if last < 0 || trial.Steps[last].Err == nil || last > 0 != strings.HasPrefix(s.Name, "list-") {
			t.Errorf("it failed after the steps %+v", trial.Steps)
		}
	}
	for behaviour, want := range stdio {
		t.Run("stdio/"+behaviour, func(t *testing.T) { t.Parallel(); try(t, mcptest.Stdio(t, behaviour), want) })
	}
	for behaviour, want := range http {
		t.Run("http/"+behaviour, func(t *testing.T) { t.Parallel(); try(t, mcptest.HTTP(t, behaviour), want) })
	}
	t.Run("no such program", func(t *testing.T) {
		t.Parallel()
		try(t, mcp.Server{Name: "none", Transport: mcp.TransportStdio, Stdio: mcp.Stdio{Command: "there-is-no-such-program"}}, mcp.FaultNoFile)
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		try(t, mcp.Server{Name: "none", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: "http://127.0.0.1:1/mcp"}}, mcp.FaultRefused)
	})
	t.Run("metadata", func(t *testing.T) {
		t.Parallel()
		try(t, mcp.Server{Name: "none", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: "http://169.254.169.254/mcp"}}, mcp.FaultRefused)
	})
}

// A server that is odd works all the same, and goes on to work.
func TestServerThatIsOdd(t *testing.T) {
	t.Parallel()
	both := []string{
		"no-features", "pages", "deep-schemas", "lists-fail", "many-tools", "cursor-same", "cursor-endless", "names", "schemas", "long-words", "storm", "renames", "asks-loop",
		"asks-nonsense", "log-flood", "progress-flood", "answer-twice", "answer-foreign", "answer-string", "answer-null", "answer-object", "answer-batch",
		"call-base64", "call-4mb",
	}
	work := func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, s.Name)
		for range 2 {
			result := h.call(t, s.Name, "echo", `{"text":"hello"}`)
			if len(result.Content) != 1 || result.IsError {
				t.Errorf("echo: %+v", result)
			}
		}
		status := h.connected(t, s.Name)
		if status.Health.Restarts != 0 || len(status.Tools) > 1000 {
			t.Errorf("status: %+v", status.Health)
		}
		if _, entries := h.Log(s.Name); len(entries) > 500 {
			t.Errorf("%d entries in the log", len(entries))
		}
	}
	for _, behaviour := range append(both, "banner", "bom", "crlf", "binary", "chatty") {
		t.Run("stdio/"+behaviour, func(t *testing.T) { t.Parallel(); work(t, mcptest.Stdio(t, behaviour)) })
	}
	for _, behaviour := range both {
		t.Run("http/"+behaviour, func(t *testing.T) { t.Parallel(); work(t, mcptest.HTTP(t, behaviour)) })
	}
}

// A call that goes wrong says how, and the server can be called again.
func TestCallThatGoesWrong(t *testing.T) {
	t.Parallel()
	stdio := map[string]mcp.FaultKind{
		"call-garbage": mcp.FaultGarbage, "call-text": mcp.FaultProtocol, "call-content": mcp.FaultProtocol, "call-crash": mcp.FaultExited, "call-ends-output": mcp.FaultProtocol,
		"call-100mb": mcp.FaultTooLarge, "call-endless": mcp.FaultTooLarge,
	}
	http := map[string]mcp.FaultKind{
		"call-garbage": mcp.FaultProtocol, "call-text": mcp.FaultProtocol, "call-content": mcp.FaultProtocol,
		"call-100mb": mcp.FaultTooLarge, "call-endless": mcp.FaultTooLarge, "http-frame": mcp.FaultTooLarge,
	}
	wrong := func(t *testing.T, s mcp.Server, want mcp.FaultKind) {
		h := manager(t, mcp.Config{}, s)
		h.connected(t, s.Name)
		_, err := h.Call(t.Context(), mcp.CallRequest{Server: s.Name, Tool: "echo", Input: json.RawMessage(`{"text":"x"}`)})
		if got := kind(err); got != want {
			t.Errorf("the call failed with %q, want %q: %v", got, want, err)
		}
		if s.Name == "http-frame" || s.Name == "call-100mb" || s.Name == "call-endless" {
			return // every call of theirs is like that
		}
		if result := h.call(t, s.Name, "fail", `{}`); !result.IsError || len(result.Content) != 1 {
			t.Errorf("another call: %+v", result)
		}
		if status := h.connected(t, s.Name); status.Health.Calls != 2 || status.Health.Failures != 2 {
			t.Errorf("health: %+v", status.Health)
		}
	}
	for behaviour, want := range stdio {
		t.Run("stdio/"+behaviour, func(t *testing.T) { t.Parallel(); wrong(t, mcptest.Stdio(t, behaviour), want) })
	}
	for behaviour, want := range http {
		t.Run("http/"+behaviour, func(t *testing.T) { t.Parallel(); wrong(t, mcptest.HTTP(t, behaviour), want) })
	}
}
