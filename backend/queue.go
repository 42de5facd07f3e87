package backend

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"atelier.dev/atelier/agent"
	"github.com/oklog/ulid/v2"
)

// addQueued adds a message to what waits for a session that works. To one at
// rest, what is to follow up is given at once.
func (w *Workbench) addQueued(ctx context.Context, in QueueAddRequest) (QueueReply, error) {
	m := agent.Queued{ID: ulid.Make().String(), Verb: in.Verb, Text: in.Text}
	if err := validQueued(m); err != nil {
		return QueueReply{}, err
	}
	l, release, err := w.live(ctx, in.Session)
	if err != nil {
		return QueueReply{}, err
	}
	defer release()
	reply, err := l.changeQueue(func(q *agent.Queue) error {
		if err := w.cfg.Store.AddQueued(ctx, in.Session, m); err != nil {
			return err
		}
		q.Add(m)
		return nil
	})
	if err == nil && m.Verb == agent.FollowUp && !l.current.busy() {
		if w.runQueue(ctx, l) == nil { // else another turn began meanwhile, which it follows
			reply.Queue = l.session.Load().Queue().Items()
		}
	}
	return reply, err
}

func validQueued(m agent.Queued) error {
	switch {
	case strings.TrimSpace(m.Text) == "":
		return &Error{Code: CodeInvalid, Message: "The message is empty.", Next: "Type what should be done."}
	case m.Verb != agent.Steer && m.Verb != agent.FollowUp:
		return &Error{Code: CodeInvalid, Message: fmt.Sprintf("A message cannot be queued to %q.", m.Verb)}
	}
	return nil
}

func (w *Workbench) editQueued(ctx context.Context, in QueueEditRequest) (QueueReply, error) {
	if err := validQueued(in.Message); err != nil {
		return QueueReply{}, err
	}
	return w.changeQueue(ctx, in.Session, func(q *agent.Queue) error {
		if !q.Edit(in.Message) {
			return errDelivered
		}
		return w.cfg.Store.EditQueued(ctx, in.Message)
	})
}

func (w *Workbench) moveQueued(ctx context.Context, in QueueMoveRequest) (QueueReply, error) {
	return w.changeQueue(ctx, in.Session, func(q *agent.Queue) error {
		if !q.Move(in.ID, in.To) {
			return errDelivered
		}
		return w.cfg.Store.OrderQueued(ctx, q.Items())
	})
}

func (w *Workbench) removeQueued(ctx context.Context, in QueueRemoveRequest) (QueueReply, error) {
	return w.changeQueue(ctx, in.Session, func(q *agent.Queue) error {
		if !q.Remove(in.ID) {
			return errDelivered
		}
		return w.cfg.Store.RemoveQueued(ctx, in.ID)
	})
}

// errDelivered answers a change of a message that is not there any more.
var errDelivered = &Error{
	Code: CodeNotFound, Message: "This message was delivered already.",
	Kept: "It stands in the conversation.", Next: "Send another one.",
}

// runQueued goes on with what waits, after a turn that did not end well.
func (w *Workbench) runQueued(ctx context.Context, in SessionRef) (Empty, error) {
	l, release, err := w.live(ctx, in.Session)
	if err != nil {
		return Empty{}, err
	}
	defer release()
	return Empty{}, w.runQueue(ctx, l)
}

// runQueue begins a turn with the first message that is to follow up.
func (w *Workbench) runQueue(ctx context.Context, l *live) error {
	if !l.session.Load().Queue().Has(agent.FollowUp) {
		return &Error{Code: CodeNotFound, Message: "Nothing waits to be sent."}
	}
	info, err := w.session(ctx, l.id)
	if err != nil {
		return err
	}
	if err := w.providers.ready(ctx, info.Settings.Provider); err != nil {
		return err
	}
	return l.start(runQueued)
}

func runQueued(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
	return s.RunQueued(ctx)
}

func (w *Workbench) changeQueue(ctx context.Context, session string, change func(*agent.Queue) error) (QueueReply, error) {
	l, release, err := w.live(ctx, session)
	if err != nil {
		return QueueReply{}, err
	}
	defer release()
	return l.changeQueue(change)
}

// changeQueue makes one change, in the store and in memory, while the session
// is not read again.
func (l *live) changeQueue(change func(*agent.Queue) error) (QueueReply, error) {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	q := l.session.Load().Queue()
	err := change(q)
	return QueueReply{Queue: q.Items()}, err
}
