package backend

import (
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/openai"
)

// providerTable lists the providers in the order a new session prefers them.
// The demo stands apart: it needs nothing and is the last resort.
var providerTable = []provider{
	{
		id: "openai", name: "OpenAI", keyVar: "OPENAI_API_KEY", urlVar: "OPENAI_BASE_URL",
		needsKey: true, defaultModel: "gpt-6.1-sol",
		adapter: func(key, baseURL string) llm.Adapter {
			return openai.New(openai.Config{APIKey: key, BaseURL: baseURL})
		},
	},
	{
		id: "anthropic", name: "Anthropic", keyVar: "ANTHROPIC_API_KEY", urlVar: "ANTHROPIC_BASE_URL",
		needsKey: true, needsCap: true, defaultModel: "claude-sonnet-5-5",
		adapter: func(key, baseURL string) llm.Adapter {
			return anthropic.New(anthropic.Config{APIKey: key, BaseURL: baseURL})
		},
	},
	{
		id: "gemini", name: "Google Gemini", keyVar: "GEMINI_API_KEY", otherKeyVar: "GOOGLE_API_KEY", urlVar: "GEMINI_BASE_URL",
		needsKey: true, defaultModel: "gemini-4-argon",
		adapter: func(key, baseURL string) llm.Adapter {
			return gemini.New(gemini.Config{APIKey: key, BaseURL: baseURL})
		},
	},
	{
		id: "compat", name: "OpenAI-compatible", keyVar: "COMPAT_API_KEY", urlVar: "COMPAT_BASE_URL",
		needsURL: true,
		adapter: func(key, baseURL string) llm.Adapter {
			return compat.New(compat.Config{APIKey: key, BaseURL: baseURL})
		},
	},
}
