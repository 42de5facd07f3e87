package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/provider"
)

// providers finds keys and addresses and keeps the client's adapters in step
// with them. It looks for keys when it is first asked, not before: a keyring
// may start programs.
type providers struct {
	cfg       *Config
	table     []provider.Row
	client    *llm.Client
	limiter   llm.Limiter
	catalogue func() (*catalogue.Catalogue, error) // read when first asked for

	mu     sync.Mutex
	loaded bool
	access map[string]access // replaced as a whole
}

// access is what a provider is called with.
type access struct {
	key, baseURL string // baseURL is empty where the user gave none
	source       KeySource
	variable     string // where source is the environment
}

func newProviders(cfg *Config) *providers {
	p := &providers{cfg: cfg, table: provider.Table(), client: llm.NewClient(), catalogue: sync.OnceValues(func() (*catalogue.Catalogue, error) {
		return readCatalogue(cfg.Home)
	})}
	p.client.Use(p.limiter.Around)
	return p
}

const baseURLSetting = "base_url."

// refresh looks for every provider's key and address. The environment wins
// over what is stored.
func (p *providers) refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := map[string]access{}
	for _, row := range p.table {
		a, err := p.find(ctx, row)
		if err != nil {
			return err
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
	p.access, p.loaded = found, true
	return nil
}

func (p *providers) find(ctx context.Context, row provider.Row) (access, error) {
	a := p.given(row)
	if a.key != "" {
		a.source = KeyFromEnvironment
	} else if key, source, err := p.cfg.Keys.Key(row.ID); err != nil {
		return a, &Error{
			Code: CodeKeyUnavailable, Message: fmt.Sprintf("The key of %s could not be read.", row.Name),
			Kept: "It was not changed.", Next: fmt.Sprintf("Unlock the keyring, or set %s.", row.KeyVariables[0]), Details: err.Error(), cause: err,
		}
	} else if key != "" {
		a.key, a.source = key, source
	}
	if a.baseURL == "" {
		stored, err := p.cfg.Store.Setting(ctx, baseURLSetting+row.ID)
		var e *Error
		if errors.As(err, &e) && e.Code == CodeStoreCorrupt {
			slog.Warn("the stored address of a provider is damaged; its key is not used until both are entered again", "provider", row.ID)
			return access{}, nil
		}
		if err != nil {
			return a, err
		}
		a.baseURL = stored
	}
	return a, nil
}

// config is what a provider's adapter is told.
func (p *providers) config(row provider.Row, a access) llm.AdapterConfig {
	return llm.AdapterConfig{APIKey: a.key, BaseURL: a.baseURL, Header: row.Header(p.cfg.Getenv, a.baseURL)}
}

// given is what the environment says of a provider.
func (p *providers) given(row provider.Row) access {
	said, variable := row.FromEnvironment(p.cfg.Getenv)
	a := access{key: said.APIKey, baseURL: said.BaseURL, variable: variable}
	if e := p.environment(); e.provider == row.ID {
		a.baseURL = cmp.Or(e.baseURL, a.baseURL)
		if e.key != "" {
			a.key, a.variable = e.key, keyVariable
		}
	}
	return a
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
		if slices.ContainsFunc(p.table, func(r provider.Row) bool { return r.ID == req.Provider && r.Needs.Cap }) {
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

// found returns what was found for each provider, to be read only.
func (p *providers) found(ctx context.Context) (map[string]access, error) {
	if err := p.load(ctx); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.access, nil
}

// get returns a provider's row and access.
func (p *providers) get(ctx context.Context, id string) (provider.Row, access, error) {
	found, err := p.found(ctx)
	if err != nil {
		return provider.Row{}, access{}, err
	}
	for _, row := range p.table {
		if row.ID == id {
			return row, found[id], nil
		}
	}
	return provider.Row{}, access{}, &Error{Code: CodeNoModel, Message: fmt.Sprintf("There is no provider %q.", id), Next: "Choose a model in the toolbar."}
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
	case row.Usable(a.key, a.baseURL):
		return nil
	case row.Needs.URL && a.baseURL == "":
		return &Error{Code: CodeNoModel, Message: fmt.Sprintf("%s has no address yet.", row.Name), Kept: "Your message is still in the box.", Next: fmt.Sprintf("Enter it in Settings → Keys, or set %s.", row.URLVariable)}
	}
	return &Error{Code: CodeNoModel, Message: fmt.Sprintf("There is no key for %s.", row.Name), Kept: "Your message is still in the box.", Next: fmt.Sprintf("Enter it in Settings → Keys, or set %s.", row.KeyVariables[0])}
}

// first returns the model that a new session uses where the user has chosen
// none: of the first provider that is set up and has one, else the demo.
func (p *providers) first(ctx context.Context) (provider, model string) {
	found, _ := p.found(ctx) // a fault in the keys is shown with them
	for _, row := range p.table {
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
			if ids, err := p.listed(ctx, row, a, listTimeout); err == nil && len(ids) > 0 {
				return row.ID, ids[0]
			}
		}
	}
	return demo.Provider, demo.Model
}

func (w *Workbench) listKeys(ctx context.Context, _ Empty) (KeyList, error) {
	var out KeyList
	out.Keyring, out.File = w.cfg.Keys.Place()
	found, err := w.providers.found(ctx)
	if err != nil {
		return out, err
	}
	for _, row := range w.providers.table {
		a := found[row.ID]
		out.Keys = append(out.Keys, KeyInfo{
			Provider: row.ID, Name: row.Name, Source: a.source, BaseURL: a.baseURL,
			Variable: cmp.Or(a.variable, row.KeyVariables[0]), NeedsBaseURL: row.Needs.URL, OwnBaseURL: row.BaseURL,
			Vendor: row.Vendor, Local: row.Running != nil,
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
	if err := w.cfg.Store.SetSetting(ctx, baseURLSetting+row.ID, base); err != nil {
		return KeyList{}, err
	}
	if key := strings.TrimSpace(in.Key); key != "" {
		if err := w.cfg.Keys.SetKey(row.ID, key); err != nil {
			return KeyList{}, &Error{Code: CodeKeyUnavailable, Message: "The key could not be saved.", Kept: "The old one is still there.", Next: fmt.Sprintf("Unlock the keyring, or set %s.", row.KeyVariables[0]), Details: err.Error(), cause: err}
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
