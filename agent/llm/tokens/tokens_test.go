package tokens_test

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// COM-25: texts are counted with cl100k_base, or with the vendor's own
// tokenizer if that is public.
func TestCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "hello world": 2, "tiktoken is great!": 6, "antidisestablishmentarianism": 6,
		"お誕生日おめでとう": 9,
	} {
		if got := tokens.Count(text); got != want {
			t.Errorf("Count(%q) = %d, want %d", text, got, want)
		}
		if got := tokens.CountFor("anthropic", "claude-x", text); got != want {
			t.Errorf("another vendor's: %d, want %d", got, want)
		}
	}
	if got := tokens.CountFor("openai", "gpt-6-sol", "お誕生日おめでとう"); got != 8 {
		t.Errorf("openai's own: %d, want 8", got)
	}
	if openai, routed := tokens.CountFor("openai", "m", "你好世界"), tokens.CountFor("openrouter", "openai/gpt-6", "你好世界"); openai != routed {
		t.Errorf("%d and %d", openai, routed)
	}
}

// An estimate is near the count of ordinary text in several scripts.
func TestEstimate(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "- review: Reviews a change, and says what may break.\n", "func main() { fmt.Println(\"hello world\") }\n",
		"Größe und Übermaß, naïve façade.", "检查一次更改，并说明可能出错的地方。", "お誕生日おめでとう", "Проверяет изменения.", "🙂🙂🙂",
	} {
		if got, counted := tokens.Estimate(text), tokens.Count(text); 2*got < counted || got > 2*counted+4 {
			t.Errorf("%q: estimated %d, counted %d", text, got, counted)
		}
	}
}

// A text of one very long word is counted quickly.
func TestCountOfOneWord(t *testing.T) {
	t.Parallel()
	if got := tokens.Count(strings.Repeat("a", 1<<18)); got < 1<<14 || got > 1<<17 {
		t.Errorf("%d tokens", got)
	}
}

// COM-25: a conversation is counted as its texts, calls, results and pictures.
// The rest is estimated when the time is up.
func TestCountMessages(t *testing.T) {
	t.Parallel()
	hello := llm.Part{Kind: llm.PartText, Text: "hello world"} // 2
	messages := []llm.Message{
		{Role: llm.RoleUser, Parts: []llm.Part{hello, {Kind: llm.PartMedia, Media: &llm.Media{Data: make([]byte, 1<<20)}}}},
		{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "hello world"}},
			{Kind: llm.PartToolCall, Call: &llm.ToolCall{Name: "hello", Arguments: []byte("hello world")}},
		}},
		{Role: llm.RoleTool, Parts: []llm.Part{{Kind: llm.PartToolResult, Result: &llm.ToolResult{Parts: []llm.Part{hello, hello}}}}},
	}
	if got, want := tokens.CountMessages("p", "m", messages, time.Minute), 3*4+2+1500+2+1+2+4; got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
	if got, want := tokens.CountMessages("p", "m", messages, -1), 3*4+3+1500+3+1+3+6; got != want {
		t.Errorf("without time %d tokens, want %d", got, want)
	}
}

// COM-25: a bounded count does not depend on the machine. What it does not count is taken to
// be like what it did.
func TestBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("hello world ", tokens.Enough/12)
	c := tokens.Bounded("p", "m")
	first := c.Text(text)
	if exact := tokens.Count(text); first < exact-exact/100 || first > exact+exact/100 {
		t.Errorf("counted %d of %d", first, exact)
	}
	c.Text("hello world ")
	signs := strings.Repeat("1!@#", len(text)/4) // of more tokens, which are not counted any more
	if rest := c.Text(signs); rest < first-first/50 || rest > first+first/50 {
		t.Errorf("the rest is taken for %d, not %d", rest, first)
	}
	if n := tokens.Bounded("p", "m").Messages([]llm.Message{llm.Text(llm.RoleUser, "hello world")}); n != 6 {
		t.Errorf("%d tokens", n)
	}
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("func main() { fmt.Println(\"hello world\", 你好) }\n", 2000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Count(text)
	}
}
