package models

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/agent/llm/reach"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend"
)

// helperTime limits how long the command for a key may take.
const helperTime = 30 * time.Second

// helped are the endpoints of the user's file, and the keys that commands printed.
type helped struct {
	mu        sync.Mutex
	endpoints map[string]reach.Endpoint
	keys      map[string]helpedKey
}

type helpedKey struct {
	key   string
	err   error
	until time.Time
}

// read reads the user's file.
func (h *helped) read(home string) error {
	endpoints, err := reach.Read(home)
	if err != nil {
		return backend.Problem(backend.ProblemInternal, err.Error()).Because(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endpoints = endpoints
	if h.keys == nil {
		h.keys = map[string]helpedKey{}
	}
	return nil
}

// of returns the endpoint of a provider, and the newest key of its command.
func (h *helped) of(id string) (reach.Endpoint, helpedKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.endpoints[id], h.keys[id]
}

// key returns the key that the command of a provider prints; empty if it has none.
func (h *helped) key(ctx context.Context, id string) string {
	e, key := h.of(id)
	if e.KeyHelper == "" {
		return ""
	}
	if key.key != "" && time.Now().Before(key.until) {
		return key.key
	}
	key = helpedKey{}
	if key.key, key.err = runHelper(ctx, e.KeyHelper); key.err != nil {
		slog.Warn("the command for a provider's key failed", "provider", id, "err", key.err)
	}
	key.until = time.Now().Add(e.TTL())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys[id] = key
	return key.key
}

// runHelper runs a command line of the user's for a key. What it prints is kept out of errors.
func runHelper(ctx context.Context, line string) (key string, err error) {
	argv := []string{"/bin/sh", "-c", line}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd.exe", "/d", "/s", "/c", line}
	}
	r, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Timeout: helperTime, Limit: 64 << 10})
	switch {
	case err != nil:
		return "", fmt.Errorf("start it: %w", err)
	case r.TimedOut:
		return "", fmt.Errorf("it took longer than %s", helperTime)
	case r.ExitCode != 0:
		return "", fmt.Errorf("it ended with exit code %d", r.ExitCode)
	}
	return reach.Key(r.Stdout)
}

// failed says why the command for a provider's key gave none; nil if it gave one, or there
// is no such command.
func (h *helped) failed(row provider.Row) error {
	e, key := h.of(row.ID)
	if e.KeyHelper == "" || key.err == nil {
		return nil
	}
	return keyProblem(row, backend.ProblemKeyUnread, backend.ProblemKeyUnreadOrSet).Because(fmt.Errorf("run the apiKeyHelper of %s: %w", reach.File, key.err))
}

// renew asks the command for a provider's key again if its key has expired, or is refused.
func (p *Providers) renew(ctx context.Context, id string, refused bool) (renewed bool) {
	e, key := p.helped.of(id)
	if e.KeyHelper == "" || !refused && key.err == nil && time.Now().Before(key.until) {
		return false
	}
	p.helped.mu.Lock()
	delete(p.helped.keys, id)
	p.helped.mu.Unlock()
	if err := p.refresh(ctx); err != nil {
		slog.Warn("could not renew the key of a provider", "provider", id, "err", err)
		return false
	}
	_, now := p.helped.of(id)
	return now.key != "" && now.key != key.key
}

// through gives an adapter the client of its endpoint. What cannot be used fails each request,
// so that nothing is sent around it.
func (h *helped) through(id string, cfg llm.AdapterConfig) llm.AdapterConfig {
	e, _ := h.of(id)
	client, err := e.Client()
	if err != nil {
		client = reach.Broken(err)
	}
	cfg.HTTPClient = client
	return cfg
}

// stream is what the client streams; a key of a command that the provider refuses is renewed
// once.
func (p *Providers) stream(ctx context.Context, req llm.Request, yield func(llm.Event, error) bool) {
	p.renew(ctx, req.Provider, false)
	var refused *llm.Error
	first := true
	p.client.Stream(ctx, req)(func(ev llm.Event, err error) bool {
		if first && errors.As(err, &refused) && refused.Class == llm.ClassAuth {
			if e, _ := p.helped.of(req.Provider); e.KeyHelper != "" {
				return false
			}
		}
		first, refused = false, nil
		return yield(ev, err)
	})
	if refused == nil {
		return
	}
	if !p.renew(ctx, req.Provider, true) {
		yield(llm.Event{}, refused)
		return
	}
	p.client.Stream(ctx, req)(yield)
}
