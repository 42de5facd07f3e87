package workbench

import (
	"context"
	"iter"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/undoing"
)

// newContexts returns what shows and changes the contexts of the workbench's sessions.
func newContexts(w *Workbench) *contexts.Contexts {
	return contexts.New(contexts.Config{
		Log: w.cfg.Store, Session: w.session, Now: time.Now, Settings: w.cfg.Store, Keys: w.providers.Keys,
		Folder: w.cfg.Folder, Home: w.cfg.Home, Place: w.project.FolderOf, ReadOnly: w.cfg.ReadOnly,
		Open: func(ctx context.Context, id string) (contexts.Session, func(), error) {
			return w.sessions.Open(ctx, id)
		},
		Alone: func(ctx context.Context, id string, do contexts.Action) error {
			err := w.undo.ExclusivelyIn(ctx, id, func(s *agent.Session) undoing.Action {
				return func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
					return do(ctx, s, info, record)
				}
			})
			if err != nil && backend.AsError(err).ID == backend.ProblemUndoWorking {
				return live.ErrWorking
			}
			return err
		},
		Compact: func(ctx context.Context, id, summary string) error {
			info, err := w.conversation.AtRest(ctx, id)
			if err != nil {
				return err
			}
			return w.conversation.Begin(ctx, info, func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
				return s.CompactTo(ctx, summary)
			})
		},
	})
}
