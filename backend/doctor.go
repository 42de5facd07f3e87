package backend

import (
	"context"
	"net/url"
	"sync"
)

// ProviderCheck is what a check-up finds out about a provider.
type ProviderCheck struct {
	Provider   string
	Name       string
	Model      string // what new sessions begin with; empty for all but one provider
	Configured bool
	Source     KeySource // of the key; empty where there is none
	BaseURL    string    // without a password; empty for the vendor's own
	Variable   string    // what would set the provider up
	Connection ConnectionTest
}

// CheckProviders asks every provider that is set up whether it can be reached,
// all at once and each no longer than a few seconds. The error is about the
// keys or the store.
func (w *Workbench) CheckProviders(ctx context.Context) ([]ProviderCheck, error) {
	chosen, err := w.NewSessionSettings(ctx)
	if err != nil {
		return nil, err
	}
	checks := make([]ProviderCheck, len(providerTable))
	var wg sync.WaitGroup
	for i, row := range providerTable {
		_, a, err := w.providers.get(ctx, row.id)
		if err != nil {
			return nil, err
		}
		c := &checks[i]
		*c = ProviderCheck{
			Provider: row.id, Name: row.name, Configured: row.usable(a), Source: a.source,
			BaseURL: withoutPassword(a.baseURL), Variable: row.keyVar,
		}
		if row.needsURL {
			c.Variable = row.urlVar
		}
		if row.id == chosen.Provider {
			c.Model = chosen.Model
		}
		if c.Configured {
			wg.Go(func() {
				c.Connection, _ = w.testModel(ctx, ModelRef{Provider: row.id, Model: c.Model}) // its provider is known
			})
		}
	}
	wg.Wait()
	return checks, nil
}

// CheckModels says what is wrong with the user's own models file.
func (w *Workbench) CheckModels() error {
	_, err := w.providers.catalogue()
	return err
}

func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}
