package workbench

import (
	"context"
	"iter"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// compact compacts a session's conversation, and returns when that has begun.
func (w *Workbench) compact(ctx context.Context, in CompactRequest) (backend.Empty, error) {
	info, err := w.conversation.AtRest(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	if info.LastEnd == "" {
		return backend.Empty{}, backend.Problem(backend.ProblemNothingToCompact)
	}
	return backend.Empty{}, w.conversation.Begin(ctx, info, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return s.Compact(ctx, in.Focus)
	})
}

// CompactRequest is for conversation.compact.
type CompactRequest struct {
	Session string `json:"session"`
	// Focus names what the summary should keep in particular; it may be empty.
	Focus string `json:"focus,omitempty"`
}
