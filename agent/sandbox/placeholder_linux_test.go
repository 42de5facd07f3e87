package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// Two commands share their placeholders, and one that a killed program left is
// taken over.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	everyNamespace(t, sharePlaceholders)
}

func sharePlaceholders(t *testing.T, by enforcer) {
	y := newYard(t)
	y.by = by
	left := filepath.Join(y.project, ".mcp.json")
	if err := os.Mkdir(left, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, placeholderTime, placeholderTime); err != nil {
		t.Fatal(err)
	}
	var running []*Process
	for range 3 {
		spec := y.spec("echo ready; sleep 1000")
		ready := make(chan struct{})
		spec.Confine, spec.Output = &y.profile, func(string) { close(ready) }
		p, err := Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		<-ready
		running = append(running, p)
	}
	for i, p := range running {
		p.Stop()
		settle()
		_, err := os.Lstat(left)
		if last := i == len(running)-1; last != (err != nil) {
			t.Errorf("after %d of %d: %v", i+1, len(running), err)
		}
	}
	own := filepath.Join(y.project, ".vscode") // the user's, though it is empty
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	y.confined(t, "true")
	settle()
	if _, err := os.Lstat(own); err != nil {
		t.Error(err)
	}
}
