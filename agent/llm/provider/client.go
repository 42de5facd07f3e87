package provider

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

// Client returns a client of every provider for which the environment has a key
// or an address (LLM-02). The first of them, in the order of [Table], answers
// requests without a provider. A server on this machine counts if its address
// is given. A request to any other provider fails with an error of class config
// that names the variables to set.
func Client(getenv func(string) string) *llm.Client {
	c := llm.NewClient()
	c.Use(advised)
	for _, row := range Table() {
		cfg, _ := row.FromEnvironment(getenv)
		if row.SetUp(cfg.APIKey, cfg.BaseURL) {
			cfg.Header = row.Header(getenv, cfg.BaseURL)
			c.Set(row.New(cfg))
		}
	}
	return c
}

// advised adds to an error about an unconfigured provider how to configure it.
func advised(next llm.StreamFunc) llm.StreamFunc {
	return func(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
		return func(yield func(llm.Event, error) bool) {
			for ev, err := range next(ctx, req) {
				var e *llm.Error
				if errors.Is(err, llm.ErrNoProvider) && errors.As(err, &e) {
					told := *e
					told.Message += advice(req.Provider)
					err = &told
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	}
}

// advice says how to configure a provider, or any provider if none is named.
func advice(id string) string {
	if id == "" {
		return ": set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or the variable of another provider"
	}
	for _, row := range Table() {
		var wanted []string
		if row.Needs.Key {
			wanted = append(wanted, strings.Join(row.KeyVariables, " or "))
		}
		if row.Needs.URL || row.Running != nil {
			wanted = append(wanted, row.URLVariable)
		}
		if row.ID == id && len(wanted) > 0 {
			return ": set " + strings.Join(wanted, " and ")
		}
	}
	return ""
}

var standard struct {
	mu     sync.Mutex
	client *llm.Client
}

// Default returns the process's client, which it creates from the environment
// at the first call (LLM-07). Atelier itself does not use it, because it has
// settings.
func Default() *llm.Client {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	if standard.client == nil {
		standard.client = Client(os.Getenv)
	}
	return standard.client
}

// SetDefault replaces the client that [Default] returns; nil resets it.
func SetDefault(c *llm.Client) {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	standard.client = c
}
