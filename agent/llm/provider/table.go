// Package provider lists the providers that Atelier knows: their names, where
// their keys and addresses come from, and how to call them. With the keys in
// the environment it creates a client for programs without settings (LLM-02).
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
	// BaseURL is the adapter's default address, if it is worth showing.
	BaseURL string
	// KeyVariables are the environment variables of its key, in order of
	// precedence, and URLVariable that of its address.
	KeyVariables []string
	URLVariable  string
	// HeaderVariables maps headers to the variables that they are read from.
	// They are sent only to the provider's own address.
	HeaderVariables map[string]string
	Needs           Needs
	DefaultModel    string
	// Deployments says that its models are called by names that the user chose,
	// while it lists other names.
	Deployments bool
	// Running asks a server on this machine for its models; nil for other
	// providers.
	Running func(context.Context) ([]string, error)
	// WindowSetting is how the window of a server on this machine is set, with a
	// %d for the tokens; empty for others.
	WindowSetting string
	New           func(llm.AdapterConfig) llm.Adapter
}

// Needs are what a call of the provider requires.
type Needs struct {
	Key, URL bool
}

// FromEnvironment returns what the environment says about the provider, and the
// variable of the key, empty if there is none.
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

// Header returns additional headers for the provider's own address; empty for
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

// SetUp reports whether the user has configured the provider. A server on this
// machine needs nothing to be called, but counts as configured only if its
// address was given.
func (r Row) SetUp(key, baseURL string) bool {
	return r.Usable(key, baseURL) && (r.Running == nil || baseURL != "")
}

// Table lists the providers in the order in which a new session prefers them.
// The demo comes last, because it needs nothing. The caller owns the returned
// table.
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

// Compatible returns a function that makes adapters, under a provider's name,
// for the user's address: for Chat Completions, unless the address is known to
// need Responses.
func Compatible(id string) func(llm.AdapterConfig) llm.Adapter {
	return func(cfg llm.AdapterConfig) llm.Adapter {
		if openai.Serves(cfg.BaseURL) {
			return openai.NewAt(id, cfg)
		}
		return compat.NewAt(id, cfg)
	}
}

// FromPreset returns the row of a Chat Completions endpoint.
func FromPreset(p compat.Preset) Row {
	row := Row{
		ID: p.ID, Name: p.Name, BaseURL: p.BaseURL, KeyVariables: p.KeyVariables, URLVariable: p.URLVariable,
		Needs: Needs{Key: !p.Local}, DefaultModel: p.DefaultModel, WindowSetting: p.WindowSetting,
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

// BaseURLVariable returns the environment variable for another address of a
// provider; empty if there is no such provider.
func BaseURLVariable(id string) string {
	for _, row := range Table() {
		if row.ID == id {
			return row.URLVariable
		}
	}
	return ""
}
