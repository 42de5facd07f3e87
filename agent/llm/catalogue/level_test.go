package catalogue_test

import (
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm/catalogue"
)

// COM-51: every level of a known provider has a model that can still be called
// and has a price, which grows with the level.
func TestLevels(t *testing.T) {
	t.Parallel()
	c := catalogue.New()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, provider := range []string{"openai", "anthropic", "gemini", "deepseek"} {
		var last float64
		for _, level := range []catalogue.Level{catalogue.LevelLow, catalogue.LevelMid, catalogue.LevelHigh} {
			m, ok := c.Level(provider, level)
			if !ok || m.Output == nil || m.Shutdown != "" && m.Shutdown <= now.Format(time.DateOnly) {
				t.Errorf("%s %s: %+v", provider, level, m)
				continue
			}
			if price := m.Output.PerMillion(); price < last {
				t.Errorf("%s: %s costs less than the level below it", provider, m.ID)
			} else {
				last = price
			}
		}
	}
	if m, ok := c.Level("ollama", catalogue.LevelLow); ok {
		t.Errorf("ollama: %s", m.ID)
	}
}

// References are read as people write them.
func TestParseRef(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string][2]string{"openai/gpt-6": {"openai", "gpt-6"}, " groq/openai/gpt-oss-20b ": {"groq", "openai/gpt-oss-20b"}} {
		if provider, id, err := catalogue.ParseRef(ref); err != nil || provider != want[0] || id != want[1] {
			t.Errorf("ParseRef(%q) = %q, %q, %v", ref, provider, id, err)
		}
	}
	for _, ref := range []string{"", "gpt-6", "/gpt-6", "openai/"} {
		if _, _, err := catalogue.ParseRef(ref); err == nil {
			t.Errorf("ParseRef(%q) succeeded", ref)
		}
	}
}
