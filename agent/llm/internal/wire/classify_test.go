package wire

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
)

// Each of these is a server's way to say that a conversation is too long.
func TestOverflow(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"prompt too long; exceeded max context length by 1119046 tokens", "total length of all messages is too long",
		"The input (516368 tokens) is longer than the model's context length (262144 tokens).",
		"Trying to keep the first 4212 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
		"Trying to keep the first 9000 tokens when context overflows", "the model is loaded with a context length of only 8192 tokens, which is not enough",
		"Range of input length should be [1, 30720]", "This request exceeds the model's maximum context length of 131072 tokens",
		"Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
		"prompt token count of 140000 exceeds the limit of 128000", "Prompt has 300,000 tokens, but the configured context size is 100,000 tokens",
	} {
		if got := classify(400, "", text); got != llm.ClassContextOverflow {
			t.Errorf("%s: %s", text, got)
		}
		if got := classify(429, "", text); got == llm.ClassContextOverflow {
			t.Errorf("429 %s: %s", text, got)
		}
	}
	// A limit of tokens in a minute is no reason to shorten the conversation.
	for _, code := range []string{"rate_limit_error", "rate_limit_exceeded"} {
		if got := classify(0, code, "Too many tokens per minute, try again later."); got != llm.ClassRateLimit {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// A key that a server echoes in any form is neither shown nor stored, nor is
// half of it if the text is cut.
func TestRedact(t *testing.T) {
	t.Parallel()
	const key = `k3y"with/odd+signs&0123456789`
	e := NewEndpoint(Config{AdapterConfig: llm.AdapterConfig{BaseURL: "http://u:s3cret@127.0.0.1", APIKey: key}})
	for _, text := range []string{
		key, "s3cret", `k3y\"with/odd+signs\u00260123456789`, "k3y&#34;with/odd+signs&amp;0123456789",
		"k3y%22with%2Fodd%2Bsigns%260123456789", "azN5IndpdGgvb2RkK3NpZ25zJjAxMjM0NTY3ODk=",
	} {
		if got := e.Redact("<" + text + ">"); got != "<[key]>" && got != "<[key]=>" {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
	if err := e.Reported(500, "", strings.Repeat("x", 2040)+key); strings.Contains(err.Message, "k3y") {
		t.Errorf("half a key: %s", err.Message[2000:])
	}
	local := NewEndpoint(Config{AdapterConfig: llm.AdapterConfig{BaseURL: "http://127.0.0.1", APIKey: "ollama"}})
	if got := local.Redact("ollama is busy"); got != "ollama is busy" {
		t.Errorf("a placeholder: %s", got)
	}
}
