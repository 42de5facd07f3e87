//go:build unix

package sandbox_test

import (
	"testing"

	"atelier.dev/atelier/agent/sandbox"
)

// The cost of a command that prints 10 MB, without its own.
func BenchmarkFlood(b *testing.B) {
	for b.Loop() {
		r, err := sandbox.Run(b.Context(), sandbox.Spec{
			Argv: []string{"/bin/bash", "-c", "yes 'a line of a log' | head -c 10000000"}, Dir: b.TempDir(), Merge: true,
			Output: func(string) {}, SpillDir: b.TempDir(),
		})
		if err != nil || r.Spill.Path == "" {
			b.Fatal(err)
		}
	}
}
