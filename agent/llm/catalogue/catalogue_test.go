package catalogue

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
	"github.com/google/go-cmp/cmp"
)

var today = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// LLM-15: the file parses completely, and rows have the fields that a picker needs.
func TestModels(t *testing.T) {
	t.Parallel()
	c, err := With(read(t, "models.json")) // strict: every field of the file has its place
	if err != nil {
		t.Fatal(err)
	}
	for provider, newest := range map[string]string{"openai": "gpt-6.2-astra", "anthropic": "claude-fable-5-2", "gemini": "gemini-4-argon"} {
		rows := c.Models(provider, today)
		if len(rows) == 0 || rows[0].ID != newest {
			t.Errorf("%s begins with %+v", provider, rows)
		}
		for _, m := range rows {
			if m.Name == "" || m.ContextWindow <= 0 || m.Input == nil || m.Output == nil {
				t.Errorf("incomplete row: %+v", m)
			}
		}
	}
	for _, m := range c.models {
		for _, e := range m.Efforts {
			switch e {
			case llm.EffortNone, llm.EffortMinimal, llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortXHigh, llm.EffortMax:
			default:
				t.Errorf("%s has the unknown effort %q", m.ID, e)
			}
		}
	}
	if got := c.Models("google", today); got != nil {
		t.Error("rows of google beside those of gemini")
	}
	m, ok := c.Lookup("anthropic", "claude-opus-4-6")
	if !ok || !m.Reasons || m.Images == nil || !*m.Images || !m.PDF || !m.Tools || m.MaxOutput == 0 || len(m.Efforts) == 0 || m.Budget.Min != 1024 {
		t.Errorf("claude-opus-4-6: %+v", m)
	}
}

// A model is listed until the day of its shutdown.
func TestModelsGoAway(t *testing.T) {
	t.Parallel()
	c := New()
	listed := func(day time.Time) bool {
		for _, m := range c.Models("gemini", day) {
			if m.ID == "gemini-2.5-pro" {
				return m.Deprecated && m.Replacement == "gemini-3.8-flash"
			}
		}
		return false
	}
	if last := time.Date(2026, 11, 30, 23, 59, 59, 0, time.UTC); !listed(last) || listed(last.Add(time.Second)) {
		t.Errorf("listed on its last day: %v, a second later: %v", listed(last), listed(last.Add(time.Second)))
	}
}

// LLM-15: aliases and dated variants are the same model; others are not.
func TestLookup(t *testing.T) {
	t.Parallel()
	c := New()
	for _, tt := range []struct{ provider, id, want string }{
		{"openai", "gpt-6.1-sol", "gpt-6.1-sol"},
		{"openai", "gpt-5.6", "gpt-5.6-sol"},
		{"openai", "gpt-4o-2024-08-06", "gpt-4o"},
		{"openai", "gpt-6.1-sol-2026-10-26", "gpt-6.1-sol"},
		{"openai", "gpt-5.6-2026-09-01", "gpt-5.6-sol"},
		{"anthropic", "claude-sonnet-5-5-20260930", "claude-sonnet-5-5"},
		{"gemini", "gemini-3-flash", "gemini-3-flash-preview"},
		{"xai", "grok-4.20-0309-reasoning", "grok-4.20-0309-reasoning"},
		{"gemini", "gpt-6.1-sol", ""},
		{"openai", "gpt-6.1-sol-turbo", ""},
		{"openai", "", ""},
	} {
		if m, ok := c.Lookup(tt.provider, tt.id); m.ID != tt.want || ok != (tt.want != "") {
			t.Errorf("%s/%s is %q, %v; want %q", tt.provider, tt.id, m.ID, ok, tt.want)
		}
	}
}

// OAS-713: the user's rows override ours, field by field.
func TestUserRows(t *testing.T) {
	t.Parallel()
	c, err := With([]byte(`{"models": [
		{"provider": "openai", "id": "gpt-6.1-sol", "input": 1.5, "tiers": [{"above_input_tokens": 10, "output": 7}]},
		{"provider": "google", "id": "gemini-house", "input": 0.25, "output": 1, "aliases": ["house"]},
		{"provider": "openai", "id": "gpt-5.6", "input": 9, "output": 9}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	m, _ := c.Lookup("openai", "gpt-6.1-sol")
	want, _ := New().Lookup("openai", "gpt-6.1-sol")
	want.Input = new(Rate(1_500_000))
	want.Tiers = []Tier{{Above: 10, Rates: Rates{Output: new(Rate(7_000_000))}}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
	if m, _ := c.Lookup("gemini", "house"); m.Name != "gemini-house" || *m.Input != 250_000 {
		t.Errorf("a new model: %+v", m)
	}
	if m, _ := c.Lookup("openai", "gpt-5.6"); m.ID != "gpt-5.6" || m.ContextWindow != 0 {
		t.Errorf("a model under a former alias: %+v", m)
	}
	if m, _ := c.Lookup("openai", "gpt-5.6-sol"); m.ID != "gpt-5.6-sol" || *m.Input != 5_000_000 {
		t.Errorf("the model that had the alias: %+v", m)
	}
}

// A bad file is refused as a whole, with the line of the mistake, and our rows
// remain.
func TestBadUserFile(t *testing.T) {
	t.Parallel()
	good := `{"provider": "openai", "id": "gpt-6.1-sol", "input": 1}`
	for _, tt := range []struct{ name, file, says string }{
		{"no JSON", "{\"models\": [\n" + good + "\n" + good + "]}", "line 3"},
		{"empty", "", "line 1"},
		{"another form", `[]`, "line 1"},
		{"no models", `{"model": []}`, "line 1"},
		{"misspelt", "{\"models\": [\n" + good + ",\n{\"provider\": \"x\", \"id\": \"y\", \"inptu\": 1}]}", "line 3"},
		{"negative", "{\"models\": [" + good + ",\n\n{\"provider\": \"x\", \"id\": \"y\", \"input\": -1}]}", "line 3"},
		{"no number", "{\"models\": [" + good + ",\n{\"provider\": \"x\", \"id\": \"y\", \"input\": \"1\"}]}", "line 2"},
		{"too dear", "{\"models\": [{\"provider\": \"x\", \"id\": \"y\", \"input\": 1e300}]}", "line 1"},
		{"no id", "{\"models\": [\n{\"provider\": \"x\"}]}", "line 2"},
		{"hours", `{"models": [{"provider": "x", "id": "y", "price_peak": {"utc_weekday_windows": ["25:00-26:00"]}}]}`, "01:00-04:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := With([]byte(tt.file))
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("says %v, want %q", err, tt.says)
			}
			if m, ok := c.Lookup("openai", "gpt-6.1-sol"); !ok || *m.Input != 2_000_000 {
				t.Errorf("our own row was changed: %+v", m)
			}
		})
	}
}

func FuzzUserFile(f *testing.F) {
	f.Add([]byte(`{"models": [{"provider": "openai", "id": "gpt-6.1-sol", "tiers": [{"input": 1}], "price_promo": {"until": "x"}}]}`))
	f.Add([]byte(`{"models": [{"provider": "a", "id": "b", "price_peak": {"utc_weekday_windows": ["-"], "input": 0.1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &Catalogue{index: map[key]int{}}
		if c.load(data) != nil {
			return
		}
		for _, m := range c.models {
			if cost, _ := m.Price(llm.Usage{Input: 1e9, CacheRead: 1e9, CacheWrite: 1e9, Output: 1e9, Known: true}, today); cost < 0 {
				t.Errorf("%+v costs %d", m, cost)
			}
		}
	})
}

// OAS-709: the two places that sell GLM list the same models, each at its own
// price, or without a price if it is not known.
func TestTwoPlaces(t *testing.T) {
	t.Parallel()
	c := New()
	price := func(provider, id string) *Rate {
		m, ok := c.Lookup(provider, id)
		if !ok || !m.Reasons || m.ContextWindow == 0 {
			t.Errorf("%s/%s: %+v", provider, id, m)
		}
		return m.Input
	}
	if abroad, home := price("zai", "glm-5.2"), price("glm", "glm-5.2"); abroad == nil || home == nil || *abroad == *home {
		t.Errorf("glm-5.2 costs %v and %v", abroad, home)
	}
	if abroad, home := price("zai", "glm-5.3"), price("glm", "glm-5.3"); abroad == nil || home != nil {
		t.Errorf("glm-5.3 costs %v and %v", abroad, home)
	}
}
