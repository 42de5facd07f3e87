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

// familyLevels are names of a vendor's families, which stand for a level with any other.
var familyLevels = map[string]catalogue.Level{"haiku": catalogue.LevelLow, "sonnet": catalogue.LevelMid, "opus": catalogue.LevelHigh}

// Named returns the settings for a model as the file of a skill names it: a level, one of
// Claude's families, or a model that the session's provider is known to have. It reports
// false for any other name. No file chooses another provider.
func (p *Providers) Named(ctx context.Context, set agent.Settings, name string) (agent.Settings, bool) {
	name = strings.TrimPrefix(strings.TrimSpace(name), set.Provider+"/")
	level := catalogue.Level(strings.ToLower(name))
	if of, ok := familyLevels[string(level)]; ok {
		level = of
	}
	switch level {
	case catalogue.LevelLow, catalogue.LevelMid, catalogue.LevelHigh:
		if at := p.AtLevel(ctx, set, level); at.Provider == set.Provider {
			return at, true
		}
		return agent.Settings{}, false
	}
	known, _ := p.catalogue() // faults in the user's rows are shown with the models
	if _, ok := known.Lookup(set.Provider, name); !ok {
		return agent.Settings{}, false
	}
	return agent.Settings{Provider: set.Provider, Model: name}, true
}
