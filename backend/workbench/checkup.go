package workbench

import (
	"context"

	"atelier.dev/atelier/backend/models"
)

// CheckProviders checks every configured provider, and looks for servers on
// this machine; see [models.Providers.Check].
func (w *Workbench) CheckProviders(ctx context.Context) ([]models.ProviderCheck, error) {
	chosen, err := w.NewSessionSettings(ctx)
	if err != nil {
		return nil, err
	}
	return w.providers.Check(ctx, chosen)
}

// CheckModels returns what is wrong with the user's own models file.
func (w *Workbench) CheckModels() error { return w.providers.CheckCatalogue() }
