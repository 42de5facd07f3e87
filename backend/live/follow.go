package live

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent"
)

// follow runs messages that were queued after the turn had taken the last one, or
// behind a user's command, also those that were to steer it, and tells the model news that
// came as late. If another turn is requested, they run after that one.
func (l *Session) follow(ctx context.Context) {
	session := l.session()
	for ctx.Err() == nil && session.Transcript().Follows() {
		next := (*agent.Session).RunQueued
		switch {
		case len(session.Queue().Items()) > 0:
		case session.HasNews():
			next = (*agent.Session).RunNews
		default:
			return
		}
		if began, _ := l.beginTurn(false); !began {
			return
		}
		if !l.work(ctx, turnWork{begin: next, accepted: make(chan error, 1)}) {
			return // an immediate retry would fail as well
		}
		session = l.session()
	}
}

// Attend starts a turn for the news of a session (see [agent.Config]), which a turn that runs
// takes by itself. A session that its user stopped, or whose turn failed, stays at rest. It
// does not wait for the turn.
func Attend(l *Session) error {
	if session := l.session(); session == nil || !session.HasNews() {
		return nil
	}
	if err := l.Start((*agent.Session).RunNews); !errors.Is(err, ErrWorking) {
		return err
	}
	return nil
}
