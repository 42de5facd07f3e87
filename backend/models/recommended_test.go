package models

import (
	"slices"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// OC-10: a few models are recommended, of those that a provider lists itself when it was asked;
// one that is only like them is not, and none of them ends soon.
func TestRecommendedModels(t *testing.T) {
	t.Parallel()
	p := New(Config{Home: t.TempDir(), Settings: noSettings{}, Keys: noKeys{}, Getenv: func(string) string { return "" }})
	known, err := p.catalogue()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for _, vendor := range []string{"openai", "anthropic", "gemini"} {
		count := 0
		for _, m := range known.Models(vendor, now) {
			if !m.Recommended {
				continue
			}
			count++
			if m.Deprecated || m.Shutdown != "" || !m.Tools {
				t.Errorf("%s/%s is recommended, although it ends or has no tools", m.Provider, m.ID)
			}
		}
		if count < 1 || count > 3 {
			t.Errorf("%d models of %s are recommended", count, vendor)
		}
	}
	infos := p.modelInfos("anthropic", []llm.ListedModel{{ID: "claude-sonnet-5-5"}, {ID: "claude-sonnet-9-9"}}, now)
	var got []string
	for _, m := range infos {
		if m.Recommended {
			got = append(got, m.ID)
		}
	}
	if !slices.Equal(got, []string{"claude-sonnet-5-5"}) {
		t.Errorf("recommended of the provider's list: %v", got)
	}
}
