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

// Without tools and surroundings, models are shown no tool and are briefed all the same.
func TestZeroSurroundings(t *testing.T) {
	t.Parallel()
	p := profile.New(nil, profile.Surroundings{})
	for _, provider := range []string{"openai", "anthropic", "gemini", "house"} {
		if shown := p.Profile(provider, "m").Tools.Definitions(); len(shown) > 0 {
			t.Errorf("%s is shown %d tools", provider, len(shown))
		}
		if told := p.Brief(t.Context(), agent.BriefingInput{Provider: provider, Model: "m"}); told.System == "" {
			t.Errorf("%s is told nothing", provider)
		}
	}
}
