package provider_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/provider"
)

// OC-04, K-27: models are reached by a key, at any compatible endpoint, on this machine or
// through an aggregator; subscriptions that only unofficial endpoints take are left out.
func TestChoiceOfProviders(t *testing.T) {
	t.Parallel()
	var keyed, local, routers, any int
	for _, row := range provider.Table() {
		for _, name := range []string{"copilot", "chatgpt"} {
			if strings.Contains(strings.ToLower(row.ID+row.Name), name) {
				t.Errorf("%s needs an unofficial endpoint", row.ID)
			}
		}
		switch {
		case row.Running != nil:
			local++
		case row.Needs.Key:
			keyed++
		}
		if row.ID == "openrouter" {
			routers++
		}
		if row.ID == "compat" && row.Needs.URL {
			any++
		}
	}
	if keyed < 12 || local < 3 || routers != 1 || any != 1 {
		t.Errorf("%d providers by key, %d local, %d aggregators, %d for any endpoint", keyed, local, routers, any)
	}
}
