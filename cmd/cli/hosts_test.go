package cli_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// OC-06: the hosts that were contacted are listed with why and how much, and offline, by the
// flag or the variable, is refused by the program and listed, while this machine is reached.
func TestHostsAndOffline(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Here."}, llmtest.Round{Text: "Still here."})
	run := func(code int, want string, args ...string) {
		t.Helper()
		out, errs, got := p.run(args...)
		if got != code || !strings.Contains(out+errs, want) {
			t.Errorf("%v: exit code %d, want %d with %q: %s%s", args, got, code, want, out, errs)
		}
	}
	run(0, "No host", "hosts")
	run(0, "Here.", "run", "--model", "openai/m", "go")
	run(0, "model    127.0.0.1  1 requests", "hosts")
	run(0, "Still here.", "run", "--offline", "--model", "openai/m", "go")
	run(6, "offline, as --offline or ATELIER_OFFLINE says", "--offline", "run", "--max-retries", "0", "--model", "openai/m", "--base-url", "https://api.name.invalid/v1", "go")
	p.env = append(p.env, "ATELIER_OFFLINE=1")
	run(6, "offline, as --offline or ATELIER_OFFLINE says", "run", "--max-retries", "0", "--model", "openai/m", "--base-url", "http://192.0.2.1/v1", "go")
	run(0, `"host":"api.name.invalid","purpose":"model"`, "hosts", "--json")
	run(0, "192.0.2.1  0 requests, 0 bytes sent, 0 received, 1 refused", "hosts")
}
