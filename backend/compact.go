package backend

import (
	"context"
	"iter"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
)

// CompactWhen says when conversations are made short without being asked (K-08).
type CompactWhen string

// The choices.
const (
	CompactInTime  CompactWhen = ""      // whichever of the next two comes first
	CompactAtShare CompactWhen = "share" // four fifths of the window
	CompactAtEnd   CompactWhen = "end"   // all but 10,000 tokens of it
	CompactNever   CompactWhen = "never"
)

// policies are what the choices mean.
var policies = map[CompactWhen]compaction.Policy{
	CompactInTime:  compaction.DefaultPolicy,
	CompactAtShare: {Ratio: compaction.DefaultPolicy.Ratio},
	CompactAtEnd:   {Reserve: compaction.DefaultPolicy.Reserve},
	CompactNever:   {},
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
func (w *Workbench) compact(ctx context.Context, in CompactRequest) (Empty, error) {
	info, err := w.atRest(ctx, in.Session)
	if err != nil {
		return Empty{}, err
	}
	if info.LastEnd == "" {
		return Empty{}, &Error{Code: CodeInvalid, Message: "There is nothing to summarise yet.", Next: "Send a message first."}
	}
	return Empty{}, w.begin(ctx, info, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return s.Compact(ctx, in.Focus)
	})
}
