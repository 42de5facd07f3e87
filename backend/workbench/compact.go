package workbench

import (
	"context"
	"iter"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/backend"
)

// policies are the meanings of the choices.
var policies = map[backend.CompactWhen]compaction.Policy{
	backend.CompactInTime:  compaction.DefaultPolicy,
	backend.CompactAtShare: {Ratio: compaction.DefaultPolicy.Ratio},
	backend.CompactAtEnd:   {Reserve: compaction.DefaultPolicy.Reserve},
	backend.CompactNever:   {},
}

// compactor compacts the sessions' conversations, according to the user's
// current choice.
func (w *Workbench) compactor() agent.Compactor {
	return &compaction.Service{Model: w.providers, Policy: func() compaction.Policy {
		p, err := backend.StoredPreferences(w.ctx, w.cfg.Store)
		if err != nil {
			slog.Warn("could not read when to compact", "err", err)
			return compaction.Policy{} // a summary that may be unwanted is not paid for
		}
		return policies[p.Compact]
	}}
}

// compact compacts a session's conversation, and returns when that has begun.
func (w *Workbench) compact(ctx context.Context, in CompactRequest) (backend.Empty, error) {
	info, err := w.atRest(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	if info.LastEnd == "" {
		return backend.Empty{}, backend.Problem(backend.ProblemNothingToCompact)
	}
	return backend.Empty{}, w.begin(ctx, info, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return s.Compact(ctx, in.Focus)
	})
}

// CompactRequest is for conversation.compact.
type CompactRequest struct {
	Session string `json:"session"`
	// Focus names what the summary should keep in particular; it may be empty.
	Focus string `json:"focus,omitempty"`
}
