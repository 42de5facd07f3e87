package backend

import (
	"context"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/openai"
)

// provider is one row of the table of providers.
type provider struct {
	id, name string
	vendor   bool     // it has an API of its own
	baseURL  string   // the address that its adapter uses where it is given none, if that is worth showing
	keyVars  []string // the environment variables of its key, strongest first
	urlVar   string   // and of its address
	// headerVars are variables by the header that they are sent in, to the
	// provider's own address only.
	headerVars   map[string]string
	needs        needs
	defaultModel string
	deployments  bool // it calls its models by names of the user's, and lists others
	// running asks a server on this machine which models it has; nil where the
	// provider is none.
	running func(context.Context) ([]string, error)
	adapter func(llm.AdapterConfig) llm.Adapter
}

// needs are what a provider cannot be called without.
type needs struct {
	key, url bool
	cap      bool // on the answer's tokens
}

// setUp reports whether the user gave a provider what it needs. A server on
// this machine needs nothing to be called, but is the user's choice only where
// its address was given.
func (r provider) setUp(a access) bool {
	return r.usable(a) && (r.running == nil || a.baseURL != "")
}

// usable reports whether a provider can be called.
func (r provider) usable(a access) bool {
	return (a.key != "" || !r.needs.key) && (a.baseURL != "" || !r.needs.url)
}

// providerTable lists the providers in the order a new session prefers them.
// The demo stands apart: it needs nothing and is the last resort.
func providerTable() []provider {
	table := []provider{
		{
			id: "openai", name: "OpenAI", vendor: true, keyVars: []string{"OPENAI_API_KEY"}, urlVar: "OPENAI_BASE_URL",
			headerVars: map[string]string{"Openai-Organization": "OPENAI_ORG_ID", "Openai-Project": "OPENAI_PROJECT_ID"},
			needs:      needs{key: true}, defaultModel: "gpt-6.1-sol", adapter: adapterOf(openai.New),
		},
		{
			id: "anthropic", name: "Anthropic", vendor: true, keyVars: []string{"ANTHROPIC_API_KEY"}, urlVar: "ANTHROPIC_BASE_URL",
			needs: needs{key: true, cap: true}, defaultModel: "claude-sonnet-5-5", adapter: adapterOf(anthropic.New),
		},
		{
			id: "gemini", name: "Google Gemini", vendor: true, keyVars: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, urlVar: "GEMINI_BASE_URL",
			needs: needs{key: true}, defaultModel: "gemini-4-argon", adapter: adapterOf(gemini.New),
		},
		{
			id: "compat", name: "OpenAI-compatible", keyVars: []string{"COMPAT_API_KEY"}, urlVar: "COMPAT_BASE_URL",
			needs: needs{url: true}, adapter: adapterOf(compat.New),
		},
	}
	for _, p := range compat.Presets() {
		table = append(table, presetRow(p))
	}
	return table
}

func presetRow(p compat.Preset) provider {
	row := provider{
		id: p.ID, name: p.Name, baseURL: p.BaseURL, keyVars: p.KeyVariables, urlVar: p.URLVariable,
		needs: needs{key: !p.Local, url: p.BaseURL == ""}, defaultModel: p.DefaultModel, deployments: p.Deployments,
		adapter: adapterOf(p.New),
	}
	if p.Local {
		row.running = p.Running
	}
	return row
}

func adapterOf[A llm.Adapter](construct func(llm.AdapterConfig) A) func(llm.AdapterConfig) llm.Adapter {
	return func(cfg llm.AdapterConfig) llm.Adapter { return construct(cfg) }
}

// BaseURLVariable is the environment variable that moves a provider to another
// address; empty where there is no such provider.
func BaseURLVariable(provider string) string {
	for _, row := range providerTable() {
		if row.id == provider {
			return row.urlVar
		}
	}
	return ""
}
