package backend

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/demo"
)

// provider is one row of the table of providers.
type provider struct {
	id, name     string
	keyVar       string // the environment variable of its key
	otherKeyVar  string // one that counts where keyVar is empty, or none
	urlVar       string // and of its address
	needsURL     bool   // it is nothing but an address
	needsKey     bool
	needsCap     bool // its API demands a cap on the answer
	defaultModel string
	adapter      func(key, baseURL string) llm.Adapter
}

// providers finds keys and addresses and keeps the client's adapters in step
// with them. It looks for keys when it is first asked, not before: a keyring
// may start programs.
type providers struct {
	cfg       *Config
	client    *llm.Client
	catalogue func() (*catalogue.Catalogue, error) // read when first asked for

	mu     sync.Mutex
	loaded bool
	access map[string]access
}

// access is what a provider is called with.
type access struct {
	key, baseURL string
	source       KeySource
}

func newProviders(cfg *Config) *providers {
	return &providers{cfg: cfg, client: llm.NewClient(), catalogue: sync.OnceValues(func() (*catalogue.Catalogue, error) {
		return readCatalogue(cfg.Home)
	})}
}

const baseURLSetting = "base_url."

// refresh looks for every provider's key and address. The environment wins
// over what is stored.
func (p *providers) refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[string]access{}
	for _, row := range providerTable {
		a, err := p.find(ctx, row)
		if err != nil {
			return err
		}
		found[row.id] = a
		if row.usable(a) {
			p.client.Set(row.adapter(a.key, a.baseURL))
		} else {
			p.client.Remove(row.id)
		}
	}
	p.client.Set(demo.New(demo.Config{}))
	p.access, p.loaded = found, true
	return nil
}

func (p *providers) find(ctx context.Context, row provider) (access, error) {
	getenv := func(name string) string { return strings.TrimSpace(p.cfg.Getenv(name)) }
	a := access{key: cmp.Or(getenv(row.keyVar), getenv(row.otherKeyVar)), baseURL: getenv(row.urlVar)}
	if a.key != "" {
		a.source = KeyFromEnvironment
	} else if key, source, err := p.cfg.Keys.Key(row.id); err != nil {
		return a, &Error{
			Code: CodeKeyUnavailable, Message: fmt.Sprintf("The key of %s could not be read.", row.name),
			Kept: "It was not changed.", Next: fmt.Sprintf("Unlock the keyring, or set %s.", row.keyVar), Details: err.Error(), cause: err,
		}
	} else if key != "" {
		a.key, a.source = key, source
	}
	if a.baseURL == "" {
		stored, err := p.cfg.Store.Setting(ctx, baseURLSetting+row.id)
		if err != nil {
			return a, err
		}
		a.baseURL = stored
	}
	return a, nil
}

func (r provider) usable(a access) bool {
	return (a.key != "" || !r.needsKey) && (a.baseURL != "" || !r.needsURL)
}

// Stream implements [agent.Model] over the client, whose adapters are looked
// for first if nobody has needed them yet, and adds to the request what the
// catalogue knows of its model.
func (p *providers) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if err := p.load(ctx); err != nil {
			yield(llm.Event{}, &llm.Error{Class: llm.ClassConfig, Provider: req.Provider, Message: err.Error(), Cause: err})
			return
		}
		row := p.row(req.Provider, req.Model)
		req.Reasoning = row.Control()
		if slices.ContainsFunc(providerTable, func(r provider) bool { return r.id == req.Provider && r.needsCap }) {
			req.MaxOutput = int(row.MaxOutput)
		}
		p.client.Stream(ctx, req)(yield)
	}
}

// load looks for the providers' keys if nobody has yet.
func (p *providers) load(ctx context.Context) error {
	p.mu.Lock()
	loaded := p.loaded
	p.mu.Unlock()
	if loaded {
		return nil
	}
	return p.refresh(ctx)
}

// get returns a provider's row and access.
func (p *providers) get(ctx context.Context, id string) (provider, access, error) {
	if err := p.load(ctx); err != nil {
		return provider{}, access{}, err
	}
	for _, row := range providerTable {
		if row.id == id {
			p.mu.Lock()
			defer p.mu.Unlock()
			return row, p.access[id], nil
		}
	}
	return provider{}, access{}, &Error{Code: CodeNoModel, Message: fmt.Sprintf("There is no provider %q.", id), Next: "Choose a model in the toolbar."}
}

// ready refuses a provider that cannot be called.
func (p *providers) ready(ctx context.Context, id string) error {
	if id == demo.Provider {
		return p.load(ctx)
	}
	row, a, err := p.get(ctx, id)
	switch {
	case err != nil:
		return err
	case row.usable(a):
		return nil
	case row.needsURL && a.baseURL == "":
		return &Error{Code: CodeNoModel, Message: fmt.Sprintf("%s has no address yet.", row.name), Kept: "Your message is still in the box.", Next: fmt.Sprintf("Enter it in Settings → Keys, or set %s.", row.urlVar)}
	}
	return &Error{Code: CodeNoModel, Message: fmt.Sprintf("There is no key for %s.", row.name), Kept: "Your message is still in the box.", Next: fmt.Sprintf("Enter it in Settings → Keys, or set %s.", row.keyVar)}
}

// first returns the model that a new session uses where the user has chosen
// none: of the first provider that can be called, else the demo.
func (p *providers) first(ctx context.Context) (provider, model string) {
	for _, row := range providerTable {
		if _, a, err := p.get(ctx, row.id); err == nil && row.usable(a) {
			if row.defaultModel != "" {
				return row.id, row.defaultModel
			}
			known, _ := p.catalogue() // a fault in the user's rows is shown with the models
			if rows := known.Models(row.id, time.Now()); len(rows) > 0 {
				return row.id, rows[0].ID
			}
			if ids, err := p.listed(ctx, row, a, listTimeout); err == nil && len(ids) > 0 {
				return row.id, ids[0]
			}
		}
	}
	return demo.Provider, demo.Model
}

func (w *Workbench) listKeys(ctx context.Context, _ Empty) (KeyList, error) {
	var out KeyList
	out.Keyring, out.File = w.cfg.Keys.Place()
	for _, row := range providerTable {
		_, a, err := w.providers.get(ctx, row.id)
		if err != nil {
			return out, err
		}
		out.Keys = append(out.Keys, KeyInfo{
			Provider: row.id, Name: row.name, Source: a.source, BaseURL: a.baseURL,
			Variable: row.keyVar, NeedsBaseURL: row.needsURL,
		})
	}
	return out, nil
}

// setKey stores a provider's key and address. An endpoint is only ever set by
// the user: nothing in a project can redirect a key.
func (w *Workbench) setKey(ctx context.Context, in SetKeyRequest) (KeyList, error) {
	row, _, err := w.providers.get(ctx, in.Provider)
	if err != nil {
		return KeyList{}, err
	}
	base := strings.TrimSpace(in.BaseURL)
	if base != "" {
		u, err := url.Parse(base)
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
			return KeyList{}, &Error{Code: CodeInvalid, Message: "The address is no http or https address.", Kept: "Nothing was changed.", Next: "Enter it like https://host/v1."}
		}
	}
	if err := w.cfg.Store.SetSetting(ctx, baseURLSetting+row.id, base); err != nil {
		return KeyList{}, err
	}
	if key := strings.TrimSpace(in.Key); key != "" {
		if err := w.cfg.Keys.SetKey(row.id, key); err != nil {
			return KeyList{}, &Error{Code: CodeKeyUnavailable, Message: "The key could not be saved.", Kept: "The old one is still there.", Next: fmt.Sprintf("Unlock the keyring, or set %s.", row.keyVar), Details: err.Error(), cause: err}
		}
	}
	if err := w.providers.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return w.listKeys(ctx, Empty{})
}

func (w *Workbench) removeKey(ctx context.Context, in ProviderRef) (KeyList, error) {
	if _, _, err := w.providers.get(ctx, in.Provider); err != nil {
		return KeyList{}, err
	}
	if err := w.cfg.Keys.RemoveKey(in.Provider); err != nil {
		return KeyList{}, &Error{Code: CodeKeyUnavailable, Message: "The key could not be removed.", Kept: "It is still there.", Details: err.Error(), cause: err}
	}
	if err := w.providers.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return w.listKeys(ctx, Empty{})
}
