package llm

import (
	"context"
	"fmt"
	"iter"
	"sync"
)

// Client routes requests to adapters by provider name, never by guessing from
// a model's name (LLM-03). It is safe for concurrent use.
type Client struct {
	mu       sync.RWMutex
	adapters map[string]Adapter
}

// NewClient returns a client over the given adapters.
func NewClient(adapters ...Adapter) *Client {
	c := &Client{adapters: make(map[string]Adapter, len(adapters))}
	for _, a := range adapters {
		c.adapters[a.Name()] = a
	}
	return c
}

// Set adds or replaces an adapter, for example when the user changes a key.
// Streams under way keep the adapter they began with.
func (c *Client) Set(a Adapter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adapters[a.Name()] = a
}

// Remove forgets a provider.
func (c *Client) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.adapters, name)
}

// Stream sends the request to its provider's adapter. An unknown provider
// yields one [*Error] of class config.
func (c *Client) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	c.mu.RLock()
	a := c.adapters[req.Provider]
	c.mu.RUnlock()
	if a == nil {
		return func(yield func(Event, error) bool) {
			yield(Event{}, &Error{
				Class: ClassConfig, Provider: req.Provider,
				Message: fmt.Sprintf("no provider %q is configured", req.Provider),
			})
		}
	}
	return a.Stream(ctx, req)
}
