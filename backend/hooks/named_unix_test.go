//go:build unix

package hooks

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// K-34: whoever makes a file that a guard of the user's own happens to name does not
// switch the guard off: what it guards is asked about until the user has decided.
func TestOwnGuardsThatNameFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("~/.agent/settings.json", strings.ReplaceAll(denies, "echo no", "grep -v push; echo no"))
	if got := f.decides(); got.Decision != agent.Deny {
		t.Fatalf("%+v", got)
	}
	f.write("push", "")
	if got := f.decides(); got.Decision != agent.Ask || !got.Final || !strings.Contains(got.Reason, "it names files of the project that you have not trusted yet") {
		t.Errorf("with the file: %+v", got)
	}
	if _, err := f.RefuseTrust(t.Context(), TrustRequest{ID: f.rows()[0].ID}); err != nil {
		t.Fatal(err)
	}
	if got := f.decides(); got.Decision != "" {
		t.Errorf("refused: %+v", got)
	}
	f.accept()
	if got := f.decides(); got.Decision != agent.Deny {
		t.Errorf("trusted: %+v", got)
	}
}
