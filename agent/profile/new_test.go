package profile_test

import (
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/tool"
)

// A session is opened when it is shown, so creating its profiles must take
// almost no time.
func BenchmarkNew(b *testing.B) {
	local, err := env.NewLocal(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	registry, err := agent.NewRegistry(tool.Builtin(local, tool.Options{})...)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		profile.New(registry, profile.Surroundings{}).Profile("openai", "m")
	}
}
