// Package models knows the providers: their keys, addresses and models, what those
// take in and cost, and the client that reaches them.
package models

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// Config is what [Providers] need.
type Config struct {
	Keys     backend.KeyStore
	Settings backend.Settings
	Getenv   func(string) string // reads the environment
	Home     string              // where the user's own rows and what providers said lie
	// Vendors are the providers that are known by name; nil for [provider.Table].
	Vendors []provider.Row
}

// Providers finds keys and addresses and keeps the client's adapters in step
// with them. It looks for keys when it is first asked, not before: a keyring
// may start programs.
type Providers struct {
	catalogue.Facts // over row and local
	cfg             Config
	vendors         []provider.Row // those that are known by name
	client          *llm.Client
	limiter         llm.Limiter
	catalogue       func() (*catalogue.Catalogue, error) // read when first asked for

	listings *listings

	storing sync.Mutex // held while what is stored of a provider changes

	mu     sync.Mutex
	loaded bool
	own    []provider.Row    // the user's endpoints; replaced as a whole
	access map[string]access // the same
}

// access is what a provider is called with.
type access struct {
	key, baseURL string // baseURL is empty where the user gave none
	source       backend.KeySource
	variable     string // where source is the environment
}

func New(cfg Config) *Providers {
	if cfg.Vendors == nil {
		cfg.Vendors = provider.Table()
	}
	p := &Providers{
		cfg: cfg, vendors: cfg.Vendors, client: llm.NewClient(), listings: newListings(cfg.Home),
		catalogue: sync.OnceValues(func() (*catalogue.Catalogue, error) { return readCatalogue(cfg.Home) }),
	}
	p.Facts = catalogue.Facts{Of: p.row, Free: p.local}
	p.client.Use(p.limiter.Around, p.Middleware)
	return p
}

// refresh looks for every provider's key and address. The environment wins
// over what is stored.
func (p *Providers) refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	endpoints, err := p.storedEndpoints(ctx)
	if err != nil {
		return err
	}
	found := map[string]access{}
	var own []provider.Row
	for _, e := range endpoints {
		row, a, err := p.endpointRow(e)
		if err != nil {
			return err
		}
		own, found[row.ID] = append(own, row), a
		p.limiter.Forget(row.ID)
	}
	for _, row := range p.own {
		if _, ok := found[row.ID]; !ok {
			p.client.Remove(row.ID)
		}
	}
	said := p.environment(own)
	for _, row := range slices.Concat(p.vendors, own) {
		a, ok := found[row.ID]
		if !ok {
			if a, err = p.find(ctx, row, said); err != nil {
				return err
			}
		}
		found[row.ID] = a
		if a != p.access[row.ID] {
			p.limiter.Forget(row.ID)
		}
		if row.Usable(a.key, a.baseURL) {
			p.client.Set(row.New(p.config(row, a)))
		} else {
			p.client.Remove(row.ID)
		}
	}
	p.client.Set(demo.New(demo.Config{}))
	p.own, p.access, p.loaded = own, found, true
	return nil
}

// find puts together what the environment gives and what is stored. The
// environment wins, but its key is not sent to an address that was stored with
// a key of its own.
func (p *Providers) find(ctx context.Context, row provider.Row, e environment) (access, error) {
	a := p.given(row, e)
	s, err := p.stored(ctx, row.ID)
	if isDamaged(err) {
		slog.Warn("the stored address of a provider is damaged; its key is not used until both are entered again", "provider", row.ID)
		if a.baseURL == "" {
			return access{}, nil
		}
		s, err = stored{}, nil
	}
	if err != nil {
		return a, err
	}
	bound := a.baseURL == "" && originOf(s.address) != ""
	if a.key != "" && !bound {
		a.source = backend.KeyFromEnvironment
		return a, nil
	}
	key, source, err := p.key(row, s.entry)
	switch {
	case err != nil:
		return a, err
	case key != "":
		a.key, a.source, a.variable = key, source, ""
	case a.key != "":
		a.source = backend.KeyFromEnvironment
	}
	a.baseURL = cmp.Or(a.baseURL, s.address)
	return a, nil
}

// isDamaged reports whether an error says that what was stored does not verify.
func isDamaged(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeStoreCorrupt
}

// rows are the providers, those known by name before the user's own.
func (p *Providers) rows() []provider.Row {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.vendors, p.own)
}

// config is what a provider's adapter is told.
func (p *Providers) config(row provider.Row, a access) llm.AdapterConfig {
	return llm.AdapterConfig{APIKey: a.key, BaseURL: a.baseURL, Header: row.Header(p.cfg.Getenv, a.baseURL)}
}

// given is what the environment says of a provider.
func (p *Providers) given(row provider.Row, e environment) access {
	said, variable := row.FromEnvironment(p.cfg.Getenv)
	a := access{key: said.APIKey, baseURL: said.BaseURL, variable: variable}
	if e.provider == row.ID {
		a.baseURL = cmp.Or(e.baseURL, a.baseURL)
		if e.key != "" {
			a.key, a.variable = e.key, keyVariable
		}
	}
	return a
}

// Stream implements [agent.Model] over the client, whose adapters are looked
// for first if nobody has needed them yet.
func (p *Providers) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := p.load(ctx); err != nil {
			yield(llm.Event{}, &llm.Error{Class: llm.ClassConfig, Provider: req.Provider, Message: err.Error(), Cause: err})
			return
		}
		req.LongCache = req.LongCache || p.longCache(ctx, req)
		p.client.Stream(ctx, req)(yield)
	}
}

// longCache reports whether a session's request is to be cached for an hour.
// Requests beside a session share no prefix that would repay it.
func (p *Providers) longCache(ctx context.Context, req llm.Request) bool {
	if req.Provider != "anthropic" || req.CacheKey == "" {
		return false
	}
	preferences, err := backend.StoredPreferences(ctx, p.cfg.Settings)
	if err != nil {
		slog.Warn("read whether to cache for an hour", "err", err)
	}
	return preferences.LongCache
}

// load looks for the providers' keys if nobody has yet.
func (p *Providers) load(ctx context.Context) error {
	p.mu.Lock()
	loaded := p.loaded
	p.mu.Unlock()
	if loaded {
		return nil
	}
	return p.refresh(ctx)
}

// found returns what was found for each provider, to be read only.
func (p *Providers) found(ctx context.Context) (map[string]access, error) {
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.access, nil
}

// get returns a provider's row and access.
func (p *Providers) get(ctx context.Context, id string) (provider.Row, access, error) {
	found, err := p.found(ctx)
	if err != nil {
		return provider.Row{}, access{}, err
	}
	for _, row := range p.rows() {
		if row.ID == id {
			return row, found[id], nil
		}
	}
	return provider.Row{}, access{}, backend.Problem(backend.ProblemProviderUnknown, id)
}

// Ready refuses a provider that cannot be called.
func (p *Providers) Ready(ctx context.Context, id string) error {
	if id == demo.Provider {
		return p.load(ctx)
	}
	row, a, err := p.get(ctx, id)
	switch {
	case err != nil:
		return err
	case row.Usable(a.key, a.baseURL):
		return nil
	case row.Needs.URL && a.baseURL == "":
		return backend.Problem(backend.ProblemAddressMissing, row.Name, row.URLVariable)
	}
	return keyProblem(row, backend.ProblemKeyMissing, backend.ProblemKeyMissingOrSet)
}

// First returns the model that a new session uses where the user has chosen
// none: of the first provider that is set up and has one, else the demo.
func (p *Providers) First(ctx context.Context) (provider, model string) {
	found, _ := p.found(ctx) // a fault in the keys is shown with them
	for _, row := range p.rows() {
		if a, ok := found[row.ID]; ok && row.SetUp(a.key, a.baseURL) {
			if row.DefaultModel != "" {
				return row.ID, row.DefaultModel
			}
			known, _ := p.catalogue() // a fault in the user's rows is shown with the models
			if rows := known.Models(row.ID, time.Now()); len(rows) > 0 && row.Running == nil {
				return row.ID, rows[0].ID
			}
			if row.Deployments {
				continue
			}
			if models, err := p.listed(ctx, row, a, false); err == nil && len(models) > 0 {
				return row.ID, models[0].ID
			}
		}
	}
	return demo.Provider, demo.Model
}
