package schedules

import (
	"context"
	"fmt"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// Turns is a [Host] that runs each time as a turn of its session.
type Turns struct {
	Session func(ctx context.Context, id string) (backend.SessionInfo, error)
	Send    func(ctx context.Context, session, prompt string) error
	Live    *live.Sessions
	Show    func(agent.Event)
}

var _ Host = Turns{}

// Begin implements [Host].
func (t Turns) Begin(ctx context.Context, session, prompt string) (wait func(context.Context) error, err error) {
	info, err := t.Session(ctx, session)
	switch {
	case err != nil:
		return nil, err
	case info.Settings.Mode == agent.ModeBypass:
		return nil, ErrHeld
	case info.State == agent.StateAwaitingInput:
		return nil, backend.Problem(backend.ProblemSessionWorking)
	}
	if err := t.Send(ctx, session, prompt); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		l, release, err := t.Live.Open(ctx, session)
		if err != nil {
			return err
		}
		defer release()
		if err := l.Wait(ctx); err != nil {
			return err
		}
		info, err := t.Session(ctx, session)
		if err == nil && info.LastEnd != agent.EndDone {
			err = fmt.Errorf("the turn ended as %s", info.LastEnd)
		}
		return err
	}, nil
}

// Title implements [Host].
func (t Turns) Title(ctx context.Context, session string) (title string, ok bool) {
	info, err := t.Session(ctx, session)
	return info.Title, err == nil && info.Marks.Deleted == 0
}

// Changed implements [Host]. Pages read what waits and what is planned anew.
func (t Turns) Changed() {
	t.Show(agent.Event{At: time.Now().UnixMilli(), Data: agent.HooksChange{}})
}
