package workbench

import (
	"context"
	"iter"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/backend"
)

// policies are what the choices mean.
var policies = map[backend.CompactWhen]compaction.Policy{
	backend.CompactInTime:  compaction.DefaultPolicy,
	backend.CompactAtShare: {Ratio: compaction.DefaultPolicy.Ratio},
	backend.CompactAtEnd:   {Reserve: compaction.DefaultPolicy.Reserve},
	backend.CompactNever:   {},
}

// compactor makes the sessions' conversations short, as the user has chosen by
// the time it is asked.
func (w *Workbench) compactor() agent.Compactor {
	return &compaction.Service{Model: w.providers, Policy: func() compaction.Policy {
		p, err := w.storedPreferences(w.ctx)
		if err != nil {
			slog.Warn("read when to compact", "err", err)
			return compaction.Policy{} // nothing is paid for that may not be wanted
		}
		return policies[p.Compact]
	}}
}

// compact makes a session's conversation short, and returns when that has begun.
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
	// Focus is what the summary is to keep in particular; empty for nothing.
	Focus string `json:"focus,omitempty"`
}
