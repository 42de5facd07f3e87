package workbench

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// breakdown describes what fills a session's context. It folds the log again, a
// page at a time, so that it does not need the goroutine that owns the session,
// which may be working. Only one runs at a time, because a long log takes a
// while.
func (w *Workbench) breakdown(ctx context.Context, in SessionRef) (agent.ContextBreakdown, error) {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return agent.ContextBreakdown{}, err
	}
	l, release, err := w.sessions.Open(ctx, in.Session)
	if err != nil {
		return agent.ContextBreakdown{}, err
	}
	defer release()
	select {
	case w.measuring <- struct{}{}:
		defer func() { <-w.measuring }()
	case <-ctx.Done():
		return agent.ContextBreakdown{}, context.Cause(ctx)
	}
	var past agent.Transcript
	for after := int64(0); after < info.Seq; after += maxPage {
		events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: in.Session, After: after, Before: after + maxPage + 1})
		if err != nil {
			return agent.ContextBreakdown{}, err
		}
		for _, ev := range events {
			if info.TookBack(ev.Seq) {
				past.ApplyTakenBack(ev)
			} else {
				past.Apply(ev)
			}
		}
	}
	return l.Breakdown(ctx, &past), nil
}
