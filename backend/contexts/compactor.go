package contexts

import (
	"context"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
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

// Compactor returns what compacts the sessions' conversations, according to the user's
// current choice. The context ends its reading of the choice.
func Compactor(ctx context.Context, model agent.Model, settings backend.Settings) agent.Compactor {
	return &compaction.Service{Model: model, Policy: func() compaction.Policy {
		p, err := backend.StoredPreferences(ctx, settings)
		if err != nil {
			slog.Warn("could not read when to compact", "err", err)
			return compaction.Policy{} // a summary that may be unwanted is not paid for
		}
		return policies[p.Compact]
	}}
}
