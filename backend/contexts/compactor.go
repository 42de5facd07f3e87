package contexts

import (
	"context"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// policies are the meanings of the choices.
var policies = map[backend.CompactWhen]compaction.Policy{
	backend.CompactInTime:  compaction.DefaultPolicy,
	backend.CompactAtShare: {Ratio: compaction.DefaultPolicy.Ratio},
	backend.CompactAtEnd:   compaction.OASPolicy,
	backend.CompactNever:   {},
}

// CanCompact reports whether a choice has a meaning.
func CanCompact(when backend.CompactWhen) bool {
	_, ok := policies[when]
	return ok
}

// Models are those that may write summaries.
type Models interface {
	agent.Model
	agent.ModelFacts
}

// Compactor returns what compacts the sessions' conversations, according to the user's
// current choices. small returns the model for small jobs beside a session with its
// settings. The context ends the reading of the choices.
func Compactor(ctx context.Context, models Models, settings backend.Settings, small func(context.Context, agent.Settings) llm.Origin) agent.Compactor {
	room := func() RoomSettings {
		r, err := storedRoom(ctx, settings)
		if err != nil {
			slog.Warn("could not read how room is made; using the defaults", "err", err)
		}
		return r
	}
	return &compaction.Service{
		Model: models,
		Policy: func() compaction.Policy {
			p, err := backend.StoredPreferences(ctx, settings)
			if err != nil {
				slog.Warn("could not read when to compact", "err", err)
				return compaction.Policy{} // a summary that may be unwanted is not paid for
			}
			return room().over(policies[p.Compact])
		},
		By: func(ctx context.Context, set agent.Settings) llm.Origin {
			if room().OwnSummary {
				return llm.Origin{Provider: set.Provider, Model: set.Model}
			}
			return small(ctx, set)
		},
		Limits: func(by llm.Origin) llm.ModelLimits { return models.Limits(by.Provider, by.Model) },
	}
}
