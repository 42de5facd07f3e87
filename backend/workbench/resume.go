package workbench

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/undoing"
)

// ResumeRequest says with which session to go on: one by its id or the beginning of
// it, or the newest one in the folder that a person started (OAS-608, OAS-609). With
// Fork, it is a fork of that session at a place, in which nothing of that session
// changes (OAS-610). They combine in this order (OAS-611). A place without Fork rewinds
// the session to it: between two turns, as files stay as they are.
type ResumeRequest struct {
	Session string // empty for the newest one
	Fork    bool
	At      agent.ForkPlace // the zero value is the end
}

// Resume returns the session to go on with. If a turn of it was cut off, it is being
// marked so when Resume returns, with the state in which it was found. A session that
// waits for a person is refused, but not a fork of it.
func (w *Workbench) Resume(ctx context.Context, in ResumeRequest) (info backend.SessionInfo, err error) {
	if in.Session == "" {
		info, err = w.list.Newest(ctx)
	} else {
		info, err = w.list.Find(ctx, in.Session)
	}
	if err != nil {
		return info, err
	}
	if in.Fork {
		made, err := w.ForkSession(ctx, ForkRequest{Session: info.ID, At: in.At})
		return made.Session, err
	}
	switch info.State {
	case agent.StateAwaitingInput:
		return info, backend.Problem(backend.ProblemSessionWaits)
	case agent.StateProcessing:
		err = w.repair(ctx, info.ID)
	}
	if err == nil && in.At != (agent.ForkPlace{}) {
		err = w.rewindTo(ctx, info, in.At)
	}
	return info, err
}

// rewindTo takes the conversation back to a place between two turns. At its end there is
// nothing to take back.
func (w *Workbench) rewindTo(ctx context.Context, info backend.SessionInfo, at agent.ForkPlace) error {
	events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID})
	if err != nil {
		return err
	}
	cut, err := agent.FindCut(events, at)
	if err == nil && info.TookBack(at.Event) {
		err = agent.ErrNoSuchPlace
	}
	if err != nil {
		return backend.Problem(backend.ProblemForkPlace).Because(err)
	}
	for _, ev := range events {
		if ev.Seq <= cut.Through || info.TookBack(ev.Seq) {
			continue
		}
		switch ev.Data.(type) {
		case agent.UserInput:
			_, err = w.undo.Rewind(ctx, undoing.RewindRequest{Session: info.ID, Turn: ev.Turn})
			return err
		case agent.TextEnd, agent.ToolCallEnd:
			return backend.Problem(backend.ProblemForkPlace)
		}
	}
	return nil
}
