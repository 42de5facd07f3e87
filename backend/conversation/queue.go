package conversation

import (
	"context"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
)

// addQueued queues a message for a working session. If the session is at rest,
// a follow-up starts at once.
func (c *Conversations) addQueued(ctx context.Context, in QueueAddRequest) (QueueReply, error) {
	m, err := c.queued(ctx, in)
	if err != nil {
		return QueueReply{}, err
	}
	l, release, err := c.cfg.Sessions.Open(ctx, in.Session)
	if err != nil {
		return QueueReply{}, err
	}
	defer release()
	waits, err := l.ChangeQueue(ctx, func(q *agent.Queue) error {
		if err := c.cfg.Store.AddQueued(ctx, in.Session, m); err != nil {
			return err
		}
		q.Add(m)
		return nil
	})
	if err == nil {
		c.publishQueue(in.Session)
	}
	if err == nil && m.Verb == agent.FollowUp && !l.Busy() {
		if c.runQueue(ctx, l) == nil { // otherwise another turn has begun, which the message follows
			waits = l.Queue().Items()
		}
	}
	return QueueReply{Queue: waits}, err
}

// queued makes a message that waits. One that begins a skill is a follow-up, because a
// skill begins with an input. Files that others mention are attached when the message is
// delivered, because they may have changed by then.
func (c *Conversations) queued(ctx context.Context, in QueueAddRequest) (agent.Queued, error) {
	if err := validQueued(agent.Queued{Verb: in.Verb, Text: in.Text}); err != nil {
		return agent.Queued{}, err
	}
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return agent.Queued{}, err
	}
	m := agent.Queued{Text: in.Text}
	if in.Command != nil {
		m, err = c.cfg.Host.Input(ctx, info, in.Text, in.Command)
	} else {
		err = c.CheckSlash(ctx, info, in.Text)
	}
	m.ID, m.Verb = ulid.Make().String(), in.Verb
	if m.Skill != nil {
		m.Verb = agent.FollowUp
	}
	return m, err
}

func validQueued(m agent.Queued) error {
	switch {
	case strings.TrimSpace(m.Text) == "":
		return backend.Problem(backend.ProblemMessageEmpty)
	case m.Verb != agent.Steer && m.Verb != agent.FollowUp:
		return backend.Problem(backend.ProblemQueueVerb, string(m.Verb))
	}
	return nil
}

func (c *Conversations) editQueued(ctx context.Context, in QueueEditRequest) (QueueReply, error) {
	if err := validQueued(in.Message); err != nil {
		return QueueReply{}, err
	}
	info, err := c.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return QueueReply{}, err
	}
	return c.ChangeQueue(ctx, in.Session, func(q *agent.Queue) error {
		m := edited(q.Items(), in.Message)
		if m.Skill == nil {
			if err := c.CheckSlash(ctx, info, m.Text); err != nil {
				return err
			}
		}
		if err := c.cfg.Store.EditQueued(ctx, m); err != nil {
			return err
		}
		return unlessDelivered(q.Edit(m))
	})
}

// edited returns a message as an edit leaves it. A message that begins a skill still does
// as long as its text is unchanged; otherwise it is an ordinary message.
func edited(items []agent.Queued, to agent.Queued) agent.Queued {
	to.Typed, to.Skill, to.From, to.Media = "", nil, "", nil
	for _, m := range items {
		if m.ID == to.ID && m.From != "" {
			return m // what an agent wrote can be moved and removed, and stays as it is
		}
		if m.ID == to.ID && m.Skill != nil && m.Text == to.Text {
			return m
		}
	}
	return to
}

func (c *Conversations) moveQueued(ctx context.Context, in QueueMoveRequest) (QueueReply, error) {
	return c.ChangeQueue(ctx, in.Session, func(q *agent.Queue) error {
		var moved agent.Queue
		moved.Set(q.Items())
		if !moved.Move(in.ID, in.To) {
			return errDelivered
		}
		if err := c.cfg.Store.OrderQueued(ctx, moved.Items()); err != nil {
			return err
		}
		return unlessDelivered(q.Move(in.ID, in.To))
	})
}

func (c *Conversations) removeQueued(ctx context.Context, in QueueRemoveRequest) (QueueReply, error) {
	return c.ChangeQueue(ctx, in.Session, func(q *agent.Queue) error {
		if err := c.cfg.Store.RemoveQueued(ctx, in.ID); err != nil {
			return err
		}
		return unlessDelivered(q.Remove(in.ID))
	})
}

// errDelivered answers a change of a message that no longer waits.
var errDelivered = backend.Problem(backend.ProblemMessageDelivered)

func unlessDelivered(waited bool) error {
	if !waited {
		return errDelivered
	}
	return nil
}

// runQueued runs the queued messages after a turn that failed or was stopped.
func (c *Conversations) runQueued(ctx context.Context, in place.SessionRef) (backend.Empty, error) {
	return backend.Empty{}, c.RunQueue(ctx, in.Session)
}

// RunQueue starts a turn of a session with the next message that waits.
func (c *Conversations) RunQueue(ctx context.Context, session string) error {
	l, release, err := c.cfg.Sessions.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	return c.runQueue(ctx, l)
}

// runQueue starts a turn with the next message.
func (c *Conversations) runQueue(ctx context.Context, l *live.Session) error {
	if len(l.Queue().Items()) == 0 {
		return backend.Problem(backend.ProblemQueueEmpty)
	}
	info, err := c.cfg.Project.Session(ctx, l.ID())
	if err != nil {
		return err
	}
	if err := c.cfg.Host.Ready(ctx, info.Settings.Provider); err != nil {
		return err
	}
	return l.Start((*agent.Session).RunQueued)
}

func (c *Conversations) ChangeQueue(ctx context.Context, session string, change func(*agent.Queue) error) (QueueReply, error) {
	l, release, err := c.cfg.Sessions.Open(ctx, session)
	if err != nil {
		return QueueReply{}, err
	}
	defer release()
	waits, err := l.ChangeQueue(ctx, change)
	if err == nil {
		c.publishQueue(session)
	}
	return QueueReply{Queue: waits}, err
}

// publishQueue tells the session's pages that the queue has changed.
func (c *Conversations) publishQueue(session string) {
	c.cfg.Feed.Publish(agent.Event{Session: session, At: time.Now().UnixMilli(), Data: agent.QueueChange{}})
}

// listQueued is for the pages that did not make a change themselves.
func (c *Conversations) listQueued(ctx context.Context, in place.SessionRef) (QueueReply, error) {
	l, release, err := c.cfg.Sessions.Open(ctx, in.Session)
	if err != nil {
		return QueueReply{}, err
	}
	defer release()
	return QueueReply{Queue: l.Queue().Items()}, nil
}

// QueueAddRequest is for queue.add; the other requests are named after their
// methods.
type QueueAddRequest struct {
	Session string     `json:"session"`
	Verb    agent.Verb `json:"verb"`
	Text    string     `json:"text"`
	// Command is the skill that the text, as it was typed, uses. It is always a follow-up.
	Command *backend.CommandCall `json:"command,omitempty"`
}

type QueueEditRequest struct {
	Session string       `json:"session"`
	Message agent.Queued `json:"message"`
}

type QueueMoveRequest struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	To      int    `json:"to"` // from 0
}

type QueueRemoveRequest struct {
	Session string `json:"session"`
	ID      string `json:"id"`
}

// QueueReply answers all of them, and queue.list, with the waiting messages.
type QueueReply struct {
	Queue []agent.Queued `json:"queue,omitempty"`
}
