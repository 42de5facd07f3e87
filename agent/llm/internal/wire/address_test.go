package wire

import "testing"

// LLM-02: an address is taken as people copy it from manuals: with or without the
// version, and with the name of a method.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://localhost:11434":                           "http://localhost:11434/v1",
		"http://localhost:11434/":                          "http://localhost:11434/v1",
		" http://localhost:1234/v1/ ":                      "http://localhost:1234/v1",
		"http://localhost:8080/v1/chat/completions":        "http://localhost:8080/v1",
		"https://api.openai.com":                           "https://api.openai.com/v1",
		"https://api.openai.com/v1/responses":              "https://api.openai.com/v1",
		"https://api.openai.com/v1/models/":                "https://api.openai.com/v1",
		"https://gateway.example/openai":                   "https://gateway.example/openai",
		"https://gateway.example/openai/chat/completions/": "https://gateway.example/openai",
		"https://x.example/v1/completions":                 "https://x.example/v1",
		"not an address":                                   "not an address",
		"":                                                 "",
	} {
		if got := Versioned(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
	for given, want := range map[string]string{
		"https://api.anthropic.com/v1/messages": "https://api.anthropic.com", "https://api.anthropic.com/v1/": "https://api.anthropic.com",
		"https://proxy.example/anthropic/v1/messages": "https://proxy.example/anthropic", "https://api.anthropic.com": "https://api.anthropic.com",
	} {
		if got := TrimVersion(given, "/v1"); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
