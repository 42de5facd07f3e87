package llm

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// StreamFunc requests one answer and yields it like an [Adapter].
type StreamFunc func(context.Context, Request) iter.Seq2[Event, error]

// Middleware wraps a [StreamFunc]: it sees each request and every event of its
// answer, and may change either (LLM-05).
type Middleware func(next StreamFunc) StreamFunc

// Client routes requests to adapters by provider name, never by guessing from
// a model's name (LLM-03). It is safe for concurrent use. The zero value has no
// adapters.
type Client struct {
	mu       sync.RWMutex
	adapters []Adapter // in the order they were added
	layers   []Middleware
	stream   StreamFunc // nil while there are no layers
}

// NewClient returns a client of the given adapters. A request without a
// provider goes to the first one.
func NewClient(adapters ...Adapter) *Client {
	c := &Client{}
	for _, a := range adapters {
		c.Set(a)
	}
	return c
}

// Set adds or replaces an adapter, for example when the user changes a key.
// Running streams keep their adapter.
func (c *Client) Set(a Adapter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(a.Name()); i >= 0 {
		c.adapters = slices.Clone(c.adapters)
		c.adapters[i] = a
		return
	}
	c.adapters = append(c.adapters, a)
}

// Remove removes a provider.
func (c *Client) Remove(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.adapters = slices.DeleteFunc(slices.Clone(c.adapters), func(a Adapter) bool { return a.Name() == name })
}

// Use adds middleware for all later requests. The layer that was added first
// sees a request first and its answer last.
func (c *Client) Use(layers ...Middleware) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.layers = append(c.layers, layers...)
	c.stream = c.route
	for _, layer := range slices.Backward(c.layers) {
		c.stream = layer(c.stream)
	}
}

// Stream sends the request to its provider's adapter. If the request is invalid
// or its provider is unknown, Stream yields one [*Error].
func (c *Client) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	c.mu.RLock()
	stream := c.stream
	c.mu.RUnlock() // a layer may wait for a goroutine that is about to change the client
	if stream == nil {
		stream = c.route
	}
	return stream(ctx, req)
}

// route is the innermost [StreamFunc].
func (c *Client) route(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		a, err := c.adapter(req.Provider)
		if err == nil {
			req.Provider = a.Name()
			err = req.check()
		}
		if err != nil {
			yield(Event{}, err)
			return
		}
		a.Stream(ctx, req)(yield)
	}
}

func (c *Client) adapter(name string) (Adapter, *Error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if i := c.index(name); i >= 0 {
		return c.adapters[i], nil
	}
	switch {
	case name != "":
		return nil, &Error{Class: ClassConfig, Provider: name, Message: fmt.Sprintf("no provider %q is configured", name), Cause: ErrNoProvider}
	case len(c.adapters) == 0:
		return nil, &Error{Class: ClassConfig, Message: "no provider is configured", Cause: ErrNoProvider}
	default:
		return c.adapters[0], nil
	}
}

func (c *Client) index(name string) int {
	return slices.IndexFunc(c.adapters, func(a Adapter) bool { return a.Name() == name })
}
