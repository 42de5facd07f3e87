package workbench

import (
	"slices"

	"atelier.dev/atelier/agent/llm/compat"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/models"
)

// MoveLocal moves local presets to other addresses, where a test's servers
// listen: pairs of a preset's id and its address. Call it before anything else.
func (w *Workbench) MoveLocal(moves ...string) {
	table := provider.Table()
	for _, p := range compat.Presets() {
		if i := slices.Index(moves, p.ID); i >= 0 {
			p.BaseURL = moves[i+1]
			table[slices.IndexFunc(table, func(r provider.Row) bool { return r.ID == p.ID })] = provider.FromPreset(p)
		}
	}
	w.providers = models.New(models.Config{Keys: w.cfg.Keys, Settings: w.cfg.Store, Getenv: w.cfg.Getenv, Home: w.cfg.Home, Vendors: table})
	w.calls = w.dispatcher()
}

// Providers returns the workbench's providers.
func (w *Workbench) Providers() *models.Providers { return w.providers }

// Sessions returns the sessions in memory.
func (w *Workbench) Sessions() *live.Sessions { return w.sessions }

// CommandTimeout is the user's time limit for commands without one.
var CommandTimeout = (*Workbench).commandTimeout

// SuggestionFrom reads a prompt from a model's answer.
var SuggestionFrom = suggestionFrom
