package catalogue

import (
	"testing"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/provider"
)

// A model that is not listed is assumed to be like the newest of its family,
// and marked so; a price is never assumed. Without a family nothing is assumed.
func TestAssume(t *testing.T) {
	t.Parallel()
	c := New()
	for _, tt := range []struct{ provider, id, want string }{
		{"anthropic", "claude-opus-6", "claude-opus-5-5"},
		{"anthropic", "claude-opus-5-6-20270101", "claude-opus-5-5"},
		{"anthropic", "claude-fable-5-3", "claude-fable-5-2"},
		{"anthropic", "claude-3-opus", ""}, // older than all listed ones
		{"openai", "gpt-7-sol", "gpt-6.2-sol"},
		{"openai", "gpt-6.1-luna", "gpt-6-luna"},
		{"gemini", "gemini-5-flash", "gemini-3.8-flash"},
		{"deepseek", "deepseek-v5-pro", "deepseek-v4-pro"},
		{"qwen", "qwen4-max", "qwen3.8-max"},
		{"azure", "gpt-6.1-sol", "gpt-6.1-sol"},
		{"azure", "production", ""},
		{"openrouter", "anthropic/claude-opus-5.5", "claude-opus-5-5"},
		{"openrouter", "x-ai/grok-4.7", "grok-4.7"},
		{"huggingface", "moonshotai/Kimi-K3", "kimi-k3"},
		{"openrouter", "somebody/something", ""},
		{"compat", "gpt-6.1-sol", ""}, // a name alone does not tell the vendor
		{"openai", "", ""},
		{"openai", "-", ""},
	} {
		m, ok := c.Assume(tt.provider, tt.id)
		if m.Assumed != tt.want || ok != (tt.want != "") {
			t.Errorf("%s/%s is taken for %q, want %q", tt.provider, tt.id, m.Assumed, tt.want)
		}
		if ok && (m.ContextWindow == 0 || m.Input != nil || m.KnowledgeCutoff != "" || m.Shutdown != "" || m.ID != tt.id) {
			t.Errorf("%s/%s: %+v", tt.provider, tt.id, m)
		}
		if _, priced := m.Price(llm.Usage{Input: 1, Known: true}, today); priced {
			t.Errorf("%s/%s has a price", tt.provider, tt.id)
		}
	}
}

// Every row belongs to a provider that can be chosen.
func TestRowsAreSelectable(t *testing.T) {
	t.Parallel()
	selectable := map[string]bool{}
	for _, row := range provider.Table() {
		selectable[row.ID] = true
	}
	for _, m := range New().models {
		if !selectable[m.Provider] {
			t.Errorf("%s/%s belongs to no selectable provider", m.Provider, m.ID)
		}
	}
}

func FuzzAssume(f *testing.F) {
	f.Add("openai", "gpt-7-sol")
	f.Add("openrouter", "anthropic/claude-9.9-20270101")
	c := New()
	f.Fuzz(func(t *testing.T, provider, id string) {
		if m, ok := c.Assume(provider, id); ok == (m.Assumed == "") {
			t.Errorf("%q is taken for %q: %v", id, m.Assumed, ok)
		}
	})
}

// The families of the rows are found once; a turn asks for an assumed row several
// times.
func TestAssumeIsCheap(t *testing.T) {
	c := New()
	c.Assume("openai", "gpt-7-sol")
	if n := testing.AllocsPerRun(10, func() { c.Assume("openai", "gpt-7-sol") }); n > 20 {
		t.Errorf("%.0f allocations", n)
	}
	c.Register(Model{Provider: "openai", ID: "gpt-6.9-sol"})
	if m, _ := c.Assume("openai", "gpt-7-sol"); m.Assumed != "gpt-6.9-sol" {
		t.Errorf("after a registration: %q", m.Assumed)
	}
}
