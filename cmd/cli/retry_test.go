package cli_test

import (
	"bufio"
	"encoding/json"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// OAS-724: a run retries as often and as late as the default says, or as often
// as its flag says.
func TestRunRetries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		of   int
	}{
		"by default":       {nil, llm.DefaultRetries.Retries},
		"by --max-retries": {[]string{"--max-retries", "1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, llmtest.Round{Status: 503}, llmtest.Round{Text: "Done."})
			cmd := p.command(append([]string{"run", "--output", "stream-json", "--model", "compat/test-model"}, append(tt.args, "hello")...)...)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var again *agent.Retrying
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 8<<20)
			for lines.Scan() {
				var ev agent.Event
				if json.Unmarshal(lines.Bytes(), &ev) != nil {
					continue
				}
				if r, ok := ev.Data.(agent.Retrying); ok {
					again = &r
					_ = cmd.Process.Signal(syscall.SIGINT) // it need not be waited for
				}
			}
			_ = cmd.Wait() // it was interrupted
			base := llm.DefaultRetries.Base.Milliseconds()
			if again == nil || again.Of != tt.of || again.DelayMs < base/2 || again.DelayMs > base*2 {
				t.Errorf("asked again as %+v, want one of %d", again, tt.of)
			}
		})
	}
}
