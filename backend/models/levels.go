package models

import (
	"context"
	"log/slog"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/backend"
)

// chosen returns the user's model for a level; empty if there is none.
func chosen(l backend.Levels, level catalogue.Level) string {
	return map[catalogue.Level]string{
		catalogue.LevelLow: l.Low, catalogue.LevelMid: l.Mid, catalogue.LevelHigh: l.High,
	}[level]
}

// levelVariable is the prefix of the environment variables that set a level's
// model.
const levelVariable = "COMATE_AGENT_SDK_LLM_"

// AtLevel returns the settings for a job of a level beside a session (COM-51):
// the model that the user chose for it, else one of the session's own provider,
// else the session's. A provider that the user did not choose is never asked,
// and a user's own address is never asked for a vendor's model.
func (p *Providers) AtLevel(ctx context.Context, set agent.Settings, level catalogue.Level) agent.Settings {
	prefs, err := backend.StoredPreferences(ctx, p.cfg.Settings)
	if err != nil {
		slog.Warn("could not read the preferences", "err", err)
	}
	for _, ref := range []string{p.cfg.Getenv(levelVariable + strings.ToUpper(string(level))), chosen(prefs.Levels, level)} {
		provider, model, err := catalogue.ParseRef(ref)
		if err == nil && p.Ready(ctx, provider) == nil {
			return agent.Settings{Provider: provider, Model: model}
		}
	}
	own := agent.Settings{Provider: set.Provider, Model: set.Model}
	known, _ := p.catalogue() // faults in the user's rows are shown with the models
	_, listed := known.Lookup(set.Provider, set.Model)
	_, a, err := p.get(ctx, set.Provider)
	if m, ok := known.Level(set.Provider, level); ok && listed && err == nil && a.baseURL == "" {
		own.Model = m.ID
	}
	return own
}
