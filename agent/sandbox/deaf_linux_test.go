package sandbox_test

import (
	"testing"

	"atelier.dev/atelier/agent/sandbox"
)

// A command that closes its input and lives on is noticed, without a byte written to it.
func TestInputClosed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		close  bool // the input, from this side
		want   bool
	}{
		"closed by the command": {script: "exec 0<&-; exec sleep 1000", want: true},
		"closed from this side": {script: "exec sleep 1000", close: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := sandbox.Start(t.Context(), sandbox.Spec{Argv: []string{"sh", "-c", tt.script}, Input: true, Whole: true})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop()
			if tt.close {
				go func() { _ = p.Input().Close() }() // before or during the wait, which it ends
			}
			if got := p.InputClosed(); got != tt.want {
				t.Errorf("closed by the command: %v", got)
			}
		})
	}
}
