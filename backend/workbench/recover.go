package workbench

import (
	"context"
	"errors"
	"log/slog"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/schedules"
)

// Recover handles the folder's sessions whose process ended in the middle of a turn. A
// turn that waits for a person keeps waiting; any other turn is marked as interrupted,
// and the session can continue. Sessions that were allowed everything ask again.
// Sessions that another process runs are left alone. The remains of an import that a
// crash cut off are removed. Hosts call it once, when they can show the results.
func (w *Workbench) Recover(ctx context.Context) error {
	if w.cfg.Store.Health().ReadOnly {
		return nil // nothing can be continued
	}
	if err := w.cfg.Store.DropUnfinished(ctx); err != nil {
		slog.Warn("could not remove what is left of an import", "err", err)
	}
	sessions, err := w.cfg.Store.Unsettled(ctx, w.cfg.Folder)
	if err != nil {
		return err
	}
	for _, info := range sessions {
		var e *backend.Error
		if err := w.recoverFrom(ctx, info); errors.As(err, &e) && e.Code == backend.CodeBusy {
			continue // it is running after all
		} else if err != nil {
			slog.Warn("could not recover a session", "session", info.ID, "err", err)
		}
	}
	w.scheduling.Go(func() { w.schedules.Run(w.ctx) })
	return nil
}

// newSchedules returns the prompts that run later in sessions of the project.
func newSchedules(w *Workbench) *schedules.Schedules {
	return schedules.New(schedules.Config{Folder: w.cfg.Folder, Store: w.cfg.Store, Off: w.cfg.Unattended || w.cfg.ReadOnly, Host: schedules.Turns{
		Session: w.session, Send: w.Send, Show: w.feed.Publish, Live: w.sessions,
	}})
}

func (w *Workbench) recoverFrom(ctx context.Context, info backend.SessionInfo) error {
	switch {
	case info.State == agent.StateProcessing:
		return w.repair(ctx, info.ID)
	case info.State == agent.StateAwaitingInput:
		return w.conversation.Start(ctx, info.ID, (*agent.Session).Resume)
	case info.Settings.Mode == agent.ModeBypass:
		l, release, err := w.sessions.Open(ctx, info.ID)
		if err != nil {
			return err
		}
		defer release()
		l.Wake()
	}
	return nil
}

// LostEvents counts the events of a session that are damaged or missing.
func (w *Workbench) LostEvents(ctx context.Context, info backend.SessionInfo) (lost int64, err error) {
	events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID})
	for i, ev := range events {
		if warning, ok := ev.Data.(agent.Warning); !ok || warning.Code != agent.WarningDamaged {
			continue
		}
		next := max(ev.Seq, info.Seq) + 1
		if i+1 < len(events) {
			next = events[i+1].Seq
		}
		lost += next - ev.Seq
	}
	return lost, err
}

// repair begins to close the turn or command that a crash left open.
func (w *Workbench) repair(ctx context.Context, id string) error {
	l, release, err := w.sessions.Open(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return l.Repair()
}
