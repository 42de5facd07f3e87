package models

import (
	"context"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// ProviderCheck is the result of checking a provider.
type ProviderCheck struct {
	Provider   string
	Name       string
	Model      string // the model of new sessions; empty for all but one provider
	Vendor     bool   // it has an API of its own
	Local      bool   // it was found running on this machine, without configuration
	Configured bool   // it can be used: configured, or found running
	Source     backend.KeySource
	BaseURL    string // without secrets; empty for the vendor's own
	Variable   string // the variable that would configure the provider
	Connection ConnectionTest
}

// Check asks every configured provider whether it can be reached, and looks for
// servers on this machine, all at once and for at most a few seconds each. The
// error is about the keys or the store.
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

// look checks whether a server that nobody configured runs on this machine.
func (c *ProviderCheck) look(ctx context.Context, row provider.Row) {
	begin := time.Now()
	ids, err := row.Running(ctx)
	if err != nil {
		return
	}
	c.Configured, c.BaseURL = true, row.BaseURL
	c.Connection = ConnectionTest{Reachable: true, DurationMs: time.Since(begin).Milliseconds(), Models: len(ids)}
}

// CheckCatalogue returns what is wrong with the user's own models file.
func (p *Providers) CheckCatalogue() error {
	_, err := p.catalogue()
	return err
}
