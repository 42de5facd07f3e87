package profile_test

import (
	"testing"

	"atelier.dev/atelier/agent/profile"
)

func TestParseNaming(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{"": true, "native": true, "spec": true, "Spec": false, "codex": false} {
		if n, err := profile.ParseNaming(s); (err == nil) != ok || ok && string(n) != s {
			t.Errorf("%q: %q, %v", s, n, err)
		}
	}
}
