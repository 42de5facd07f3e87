// Package provider lists the providers that Atelier knows: their names, where
// their keys and addresses come from, and how to call them. With the
// environment's keys it makes a client for programs that have no settings of
// their own (LLM-02).
package provider

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/gemini"
	"atelier.dev/atelier/agent/llm/openai"
)

// Row is one provider.
type Row struct {
	ID, Name string
	Vendor   bool // it has an API of its own
	// BaseURL is the address that its adapter uses where it is given none, if
	// that is worth showing.
	BaseURL string
	// KeyVariables are the environment variables of its key, strongest first,
	// and URLVariable that of its address.
	KeyVariables []string
	URLVariable  string
	// HeaderVariables are variables by the header that they are sent in, to the
	// provider's own address only.
	HeaderVariables map[string]string
	Needs           Needs
	DefaultModel    string
	// Deployments says that it calls its models by names of the user's, and
	// lists others.
	Deployments bool
	// Running asks a server on this machine which models it has; nil where the
	// provider is none.
	Running func(context.Context) ([]string, error)
	New     func(llm.AdapterConfig) llm.Adapter
}

// Needs are what a provider cannot be called without.
type Needs struct {
	Key, URL bool
}

// FromEnvironment is what the environment says of the provider, and in which
// variable the key was found; empty where there is none.
func (r Row) FromEnvironment(getenv func(string) string) (cfg llm.AdapterConfig, variable string) {
	read := func(name string) string { return strings.TrimSpace(getenv(name)) }
	for _, name := range r.KeyVariables {
		if cfg.APIKey = read(name); cfg.APIKey != "" {
			variable = name
			break
		}
	}
	if r.URLVariable != "" {
		cfg.BaseURL = read(r.URLVariable)
	}
	return cfg, variable
}

// Header is what goes to the provider's own address besides the key; empty for
// any other address.
func (r Row) Header(getenv func(string) string, baseURL string) http.Header {
	header := http.Header{}
	for name, variable := range r.HeaderVariables {
		if value := strings.TrimSpace(getenv(variable)); value != "" && baseURL == "" {
			header.Set(name, value)
		}
	}
	return header
}

// Usable reports whether the provider can be called with a key and an address,
// either of which may be empty.
func (r Row) Usable(key, baseURL string) bool {
	return (key != "" || !r.Needs.Key) && (baseURL != "" || !r.Needs.URL)
}

// SetUp reports whether the user gave the provider what it needs. A server on
// this machine needs nothing to be called, but is the user's choice only where
// its address was given.
func (r Row) SetUp(key, baseURL string) bool {
	return r.Usable(key, baseURL) && (r.Running == nil || baseURL != "")
}

// Table lists the providers in the order a new session prefers them. The demo
// stands apart: it needs nothing and is the last resort. The table is the
// caller's own.
func Table() []Row {
	table := []Row{
		{
			ID: "openai", Name: "OpenAI", Vendor: true, KeyVariables: []string{"OPENAI_API_KEY"}, URLVariable: "OPENAI_BASE_URL",
			HeaderVariables: map[string]string{"Openai-Organization": "OPENAI_ORG_ID", "Openai-Project": "OPENAI_PROJECT_ID"},
			Needs:           Needs{Key: true}, DefaultModel: "gpt-6.1-sol", New: adapterOf(openai.New),
		},
		{
			ID: "anthropic", Name: "Anthropic", Vendor: true, KeyVariables: []string{"ANTHROPIC_API_KEY"}, URLVariable: "ANTHROPIC_BASE_URL",
			Needs: Needs{Key: true}, DefaultModel: "claude-sonnet-5-5", New: adapterOf(anthropic.New),
		},
		{
			ID: "gemini", Name: "Google Gemini", Vendor: true, KeyVariables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, URLVariable: "GEMINI_BASE_URL",
			Needs: Needs{Key: true}, DefaultModel: "gemini-4-argon", New: adapterOf(gemini.New),
		},
		{
			ID: "compat", Name: "OpenAI-compatible", KeyVariables: []string{"COMPAT_API_KEY"}, URLVariable: "COMPAT_BASE_URL",
			Needs: Needs{URL: true}, New: Compatible("compat"),
		},
	}
	for _, p := range compat.Presets() {
		table = append(table, FromPreset(p))
	}
	local := slices.IndexFunc(table, func(r Row) bool { return r.Running != nil })
	return slices.Insert(table, local, Row{
		ID: "azure", Name: "Azure OpenAI", KeyVariables: []string{"AZURE_OPENAI_API_KEY"}, URLVariable: "AZURE_OPENAI_ENDPOINT",
		Needs: Needs{Key: true, URL: true}, Deployments: true,
		New: func(cfg llm.AdapterConfig) llm.Adapter { return openai.NewAzure("azure", cfg) },
	})
}

// Compatible makes adapters, under a provider's name, for whatever answers at
// the user's address: in Chat Completions, unless the address is known to want
// Responses.
func Compatible(id string) func(llm.AdapterConfig) llm.Adapter {
	return func(cfg llm.AdapterConfig) llm.Adapter {
		if openai.Serves(cfg.BaseURL) {
			return openai.NewAt(id, cfg)
		}
		return compat.NewAt(id, cfg)
	}
}

// FromPreset is the row of an endpoint of the Chat Completions format.
func FromPreset(p compat.Preset) Row {
	row := Row{
		ID: p.ID, Name: p.Name, BaseURL: p.BaseURL, KeyVariables: p.KeyVariables, URLVariable: p.URLVariable,
		Needs: Needs{Key: !p.Local}, DefaultModel: p.DefaultModel,
		New: adapterOf(p.New),
	}
	if p.Local {
		row.Running = p.Running
	}
	return row
}

func adapterOf[A llm.Adapter](construct func(llm.AdapterConfig) A) func(llm.AdapterConfig) llm.Adapter {
	return func(cfg llm.AdapterConfig) llm.Adapter { return construct(cfg) }
}

// BaseURLVariable is the environment variable that moves a provider to another
// address; empty where there is no such provider.
func BaseURLVariable(id string) string {
	for _, row := range Table() {
		if row.ID == id {
			return row.URLVariable
		}
	}
	return ""
}
