package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
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

// StoreState is what the page says of the database.
type StoreState struct {
	backend.StoreHealth
	// Problems are sentences about what is wrong, if anything is.
	Problems []*backend.Error `json:"problems,omitempty"`
}

// storeHealth says how the database is.
func (w *Workbench) storeHealth(context.Context, backend.Empty) (StoreState, error) {
	health := w.cfg.Store.Health()
	return StoreState{health, health.Problems()}, nil
}

// acceptLoss forgets what was lost, once the user was told.
func (w *Workbench) acceptLoss(ctx context.Context, _ backend.Empty) (StoreState, error) {
	if err := w.cfg.Store.Accept(); err != nil {
		return StoreState{}, err
	}
	return w.storeHealth(ctx, backend.Empty{})
}
