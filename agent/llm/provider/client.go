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

// Client returns a client of every provider that the environment has a key or
// an address for (LLM-02). The first of them, in the order of [Table], answers
// requests that name none. A server on this machine counts where its address
// was given. A request for any other fails with an error of class config, which
// names the variables to set.
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

// advised adds to an error about a provider that is not set up how that is done.
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

// advice says how a provider is set up, any where none is named.
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

// Default is the process's client, made from its environment when it is first
// asked for (LLM-07). Atelier itself does without: it has settings.
func Default() *llm.Client {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	if standard.client == nil {
		standard.client = Client(os.Getenv)
	}
	return standard.client
}

// SetDefault makes c what [Default] returns; nil makes it anew.
func SetDefault(c *llm.Client) {
	standard.mu.Lock()
	defer standard.mu.Unlock()
	standard.client = c
}
