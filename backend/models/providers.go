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

// Config is what [Providers] needs.
type Config struct {
	Keys     backend.KeyStore
	Settings backend.Settings
	Getenv   func(string) string // reads the environment
	Home     string              // the folder of the user's own rows and the providers' lists
	// Catalogue returns the models of Home; nil means [Catalogue].
	Catalogue func() (*catalogue.Catalogue, error)
	// Vendors are the built-in providers; nil means [provider.Table].
	Vendors []provider.Row
	// Folder returns the folder in which a session works, for external agents.
	Folder  func(ctx context.Context, session string) (string, error)
	Version string
}

// Providers finds keys and addresses and keeps the client's adapters up to date
// with them. It looks for keys when they are first needed, not before, because
// a keyring may start programs.
type Providers struct {
	catalogue.Facts // answers from row and local
	cfg             Config
	vendors         []provider.Row // the built-in ones
	client          *llm.Client
	limiter         llm.Limiter
	catalogue       func() (*catalogue.Catalogue, error) // read when first asked for

	listings *listings
	External *External

	// storing is held while stored data of a provider changes, and reading while
	// keys and addresses are read. Neither delays a session that knows its
	// provider, because a keyring may wait for the user.
	storing sync.Mutex
	reading sync.Mutex

	helped helped

	mu     sync.Mutex        // guards what follows; never held during I/O
	own    []provider.Row    // the user's endpoints; replaced as a whole
	access map[string]access // the same; nil until it was read
}

// access is what is needed to call a provider.
type access struct {
	key, baseURL string // baseURL is empty if the user gave none
	source       backend.KeySource
	variable     string // set if source is the environment
	garbled      bool   // what is stored as its key is not readable
	damaged      bool   // its stored address is, so that its key is sent nowhere
}

func New(cfg Config) *Providers {
	if cfg.Vendors == nil {
		cfg.Vendors = provider.Table()
	}
	if cfg.Catalogue == nil {
		cfg.Catalogue = Catalogue(cfg.Home)
	}
	p := &Providers{
		cfg: cfg, vendors: cfg.Vendors, client: llm.NewClient(), listings: newListings(cfg.Home),
		catalogue: cfg.Catalogue,
	}
	p.External = &External{p: p}
	p.Facts = catalogue.Facts{Of: p.row, Free: p.External.free}
	p.client.Use(p.limiter.Around, p.Middleware)
	return p
}

// refresh looks for every provider's key and address. The environment overrides
// what is stored.
func (p *Providers) refresh(ctx context.Context) error {
	p.reading.Lock()
	defer p.reading.Unlock()
	return p.read(ctx)
}

// load is refresh if that was not done yet.
func (p *Providers) load(ctx context.Context) error {
	if p.isLoaded() {
		return nil
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.isLoaded() { // by a caller that was first
		return nil
	}
	return p.read(ctx)
}

func (p *Providers) isLoaded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.access != nil
}

// read does what [Providers.refresh] says. Its caller holds reading, so that
// nobody else changes own and access.
func (p *Providers) read(ctx context.Context) error {
	endpoints, err := p.storedEndpoints(ctx)
	if err == nil {
		err = p.helped.read(p.cfg.Home)
	}
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
	outside, err := p.External.rows(ctx)
	if err != nil {
		return err
	}
	for _, row := range outside {
		own, found[row.ID] = append(own, row), access{}
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
		if a.key == "" {
			if key := p.helped.key(ctx, row.ID); key != "" {
				a.key, a.source, a.variable = key, backend.KeyFromEnvironment, "apiKeyHelper"
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own, p.access = own, found
	return nil
}

// find combines the environment and what is stored. The environment takes
// precedence, but its key is not sent to an address that was stored with a key
// of its own.
func (p *Providers) find(ctx context.Context, row provider.Row, e environment) (access, error) {
	a := p.given(row, e)
	s, err := p.stored(ctx, row.ID)
	if isDamaged(err) {
		slog.Warn("the stored address of a provider is damaged; its key is not used until both are entered again", "provider", row.ID)
		if a.baseURL == "" {
			return access{damaged: true}, nil
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

// isDamaged reports whether an error says that stored data failed verification.
func isDamaged(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeStoreCorrupt
}

// rows returns the providers, the built-in ones before the user's own.
func (p *Providers) rows() []provider.Row {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.vendors, p.own)
}

// config returns the configuration of a provider's adapter.
func (p *Providers) config(row provider.Row, a access) llm.AdapterConfig {
	return p.helped.through(row.ID, llm.AdapterConfig{APIKey: a.key, BaseURL: a.baseURL, Header: row.Header(p.cfg.Getenv, a.baseURL)})
}

// given returns what the environment says about a provider.
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

// Stream implements [agent.Model] with the client. It first loads the adapters
// if nothing has needed them yet.
func (p *Providers) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := p.load(ctx); err != nil {
			yield(llm.Event{}, &llm.Error{Class: llm.ClassConfig, Provider: req.Provider, Message: err.Error(), Cause: err})
			return
		}
		preferences, err := backend.StoredPreferences(ctx, p.cfg.Settings)
		if err != nil {
			slog.Warn("could not read how long to cache and to wait", "err", err)
		}
		// Side requests share no prefix that would repay an hour in the cache.
		req.LongCache = req.LongCache || preferences.LongCache && req.Provider == "anthropic" && req.CacheKey != ""
		req.Patience = cmp.Or(req.Patience, time.Duration(preferences.Patience)*time.Minute)
		p.stream(ctx, req, yield)
	}
}

// found returns what was found for each provider. Callers must not change it.
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

// Ready returns an error if a provider cannot be called.
func (p *Providers) Ready(ctx context.Context, id string) error {
	if id == demo.Provider {
		return p.load(ctx)
	}
	row, a, err := p.get(ctx, id)
	switch {
	case err != nil:
		return err
	case a.garbled:
		return backend.Problem(backend.ProblemKeyGarbled, row.Name)
	case a.damaged:
		return backend.Problem(backend.ProblemAddressDamaged, row.Name)
	case row.Usable(a.key, a.baseURL):
		return nil
	case row.Needs.URL && a.baseURL == "":
		return backend.Problem(backend.ProblemAddressMissing, row.Name, row.URLVariable)
	}
	if err := p.helped.failed(row); err != nil {
		return err
	}
	return keyProblem(row, backend.ProblemKeyMissing, backend.ProblemKeyMissingOrSet)
}

// First returns the model of a new session if the user has chosen none: that of
// the first configured provider that has one, else the demo.
func (p *Providers) First(ctx context.Context) (provider, model string) {
	found, _ := p.found(ctx) // faults in the keys are shown with the keys
	for _, row := range p.rows() {
		if a, ok := found[row.ID]; ok && row.SetUp(a.key, a.baseURL) {
			if row.DefaultModel != "" {
				return row.ID, row.DefaultModel
			}
			known, _ := p.catalogue() // faults in the user's rows are shown with the models
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
