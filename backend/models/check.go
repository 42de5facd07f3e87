package models

import (
	"context"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// ProviderCheck is what a check-up finds out about a provider.
type ProviderCheck struct {
	Provider   string
	Name       string
	Model      string // what new sessions begin with; empty for all but one provider
	Vendor     bool   // it has an API of its own
	Local      bool   // it runs on this machine, if it does, and nobody set it up
	Configured bool   // it can be used: set up, or found running
	Source     backend.KeySource
	BaseURL    string // without a secret; empty for the vendor's own
	Variable   string // what would set the provider up
	Connection ConnectionTest
}

// CheckProviders asks every provider that is set up whether it can be reached,
// and looks for servers on this machine, all at once and each no longer than a
// few seconds. The error is about the keys or the store.
func (p *Providers) Check(ctx context.Context, chosen agent.Settings) ([]ProviderCheck, error) {
	found, err := p.found(ctx)
	if err != nil {
		return nil, err
	}
	table := p.rows()
	checks := make([]ProviderCheck, len(table))
	var wg sync.WaitGroup
	for i, row := range table {
		a := found[row.ID]
		c := &checks[i]
		*c = ProviderCheck{
			Provider: row.ID, Name: row.Name, Vendor: row.Vendor, Local: row.Running != nil && !row.SetUp(a.key, a.baseURL),
			Configured: row.SetUp(a.key, a.baseURL), Source: a.source, BaseURL: shownAddress(a.baseURL),
		}
		if len(row.KeyVariables) > 0 {
			c.Variable = row.KeyVariables[0]
		}
		if row.Needs.URL && a.baseURL == "" {
			c.Variable = row.URLVariable
		}
		if row.ID == chosen.Provider {
			c.Model = chosen.Model
		}
		switch {
		case c.Configured || c.Model != "":
			c.Configured = true
			wg.Go(func() {
				c.Connection, _ = p.Test(ctx, ModelRef{Provider: row.ID, Model: c.Model}) // its provider is known
			})
		case c.Local:
			c.Variable = row.URLVariable
			wg.Go(func() { c.look(ctx, row) })
		}
	}
	wg.Wait()
	return checks, nil
}

// look finds out whether a server that nobody set up runs on this machine.
func (c *ProviderCheck) look(ctx context.Context, row provider.Row) {
	begin := time.Now()
	ids, err := row.Running(ctx)
	if err != nil {
		return
	}
	c.Configured, c.BaseURL = true, row.BaseURL
	c.Connection = ConnectionTest{Reachable: true, DurationMs: time.Since(begin).Milliseconds(), Models: len(ids)}
}

// CheckModels says what is wrong with the user's own models file.
func (p *Providers) CheckCatalogue() error {
	_, err := p.catalogue()
	return err
}
