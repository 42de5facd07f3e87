package provider

import (
	"os"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

// Client returns a client of every provider that the environment has a key or
// an address for (LLM-02). The first of them, in the order of [Table], answers
// requests that name none. A server on this machine counts where its address
// was given. Without any, each request fails with an error of class config.
func Client(getenv func(string) string) *llm.Client {
	c := llm.NewClient()
	for _, row := range Table() {
		cfg, _ := row.FromEnvironment(getenv)
		if row.SetUp(cfg.APIKey, cfg.BaseURL) {
			cfg.Header = row.Header(getenv, cfg.BaseURL)
			c.Set(row.New(cfg))
		}
	}
	return c
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
