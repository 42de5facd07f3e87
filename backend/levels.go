package backend

import (
	"context"
	"log/slog"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/catalogue"
)

// Levels are the user's models for jobs of a level, as PROVIDER/ID; empty
// leaves it to Atelier.
type Levels struct {
	Low  string `json:"low,omitempty"`
	Mid  string `json:"mid,omitempty"`
	High string `json:"high,omitempty"`
}

func (l Levels) at(level catalogue.Level) string {
	return map[catalogue.Level]string{
		catalogue.LevelLow: l.Low, catalogue.LevelMid: l.Mid, catalogue.LevelHigh: l.High,
	}[level]
}

// levelVariable begins the names of the environment variables that set a
// level's model.
const levelVariable = "COMATE_AGENT_SDK_LLM_"

// atLevel returns the settings for a job of a level beside a session (COM-51):
// the model that the user chose for it, else one of the session's own provider,
// else the session's. A provider that the user did not pick is never asked: nor
// is an address of his own asked for a model of the vendor's.
func (w *Workbench) atLevel(ctx context.Context, set agent.Settings, level catalogue.Level) agent.Settings {
	p, err := w.preferences(ctx, Empty{})
	if err != nil {
		slog.Warn("read preferences", "err", err)
	}
	for _, ref := range []string{w.cfg.Getenv(levelVariable + strings.ToUpper(string(level))), p.Levels.at(level)} {
		provider, model, err := catalogue.ParseRef(ref)
		if err == nil && w.providers.ready(ctx, provider) == nil {
			return agent.Settings{Provider: provider, Model: model}
		}
	}
	own := agent.Settings{Provider: set.Provider, Model: set.Model}
	known, _ := w.providers.catalogue() // what is wrong with the user's rows is shown with the models
	_, listed := known.Lookup(set.Provider, set.Model)
	_, a, err := w.providers.get(ctx, set.Provider)
	if m, ok := known.Level(set.Provider, level); ok && listed && err == nil && a.baseURL == "" {
		own.Model = m.ID
	}
	return own
}
