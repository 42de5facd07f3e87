package team

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Tables keeps teams and messages by session: that of the user, for all its agents. It is safe
// for concurrent use.
type Tables interface {
	// Teams returns the roster of a session; an empty one if it has none.
	Teams(ctx context.Context, session string) (Roster, error)
	// ChangeTeams changes a roster, or nothing if change returns an error, which it
	// returns as it is.
	ChangeTeams(ctx context.Context, session string, change func(*Roster) error) error
	// AddMessage keeps a message, and puts it into the queue of the session of its reader,
	// in one step; an empty reader has none yet. A message whose id is known is not
	// added again, and added is false. [ErrUnread] says that its reader has too many.
	AddMessage(ctx context.Context, session, reader string, m Message) (added bool, err error)
	// Messages returns the newest messages of a session's teams, the oldest first.
	Messages(ctx context.Context, session string, limit int) ([]Message, error)
	// Collect puts what waits for an agent into the queue of its session.
	Collect(ctx context.Context, session, agent, reader string) ([]Message, error)
}

// ErrUnread says that an agent has too many messages that it did not read.
var ErrUnread = fmt.Errorf("%d messages wait for it already", MaxUnread)

// Desk is what one agent does about teams: it makes and disbands them, and writes to others of
// its own. It is safe for concurrent use.
type Desk struct {
	Tables Tables
	// Session is the user's session, for which teams and messages are kept.
	Session string
	// Name is the agent's own name; empty for the user's session, which is [Self].
	Name string
	// Deliver brings a message to its reader: it calls AddMessage of the tables with the
	// reader's session, and has the reader notice. Nil means that the tables alone have it.
	Deliver func(context.Context, Message) error
	// NewID returns a new id of a message.
	NewID func() string
}

func (d Desk) name() string {
	if d.Name == "" {
		return Self
	}
	return d.Name
}

// Create makes a team that this agent leads.
func (d Desk) Create(ctx context.Context, name string, members []Member) (t Team, err error) {
	err = d.Tables.ChangeTeams(ctx, d.Session, func(r *Roster) error {
		t, err = r.Create(strings.TrimSpace(name), d.name(), members, time.Now())
		return err
	})
	return t, err
}

// Disband disbands a team, by its id or name. Only its leader may.
func (d Desk) Disband(ctx context.Context, called string) (t Team, err error) {
	err = d.Tables.ChangeTeams(ctx, d.Session, func(r *Roster) error {
		if t, err = r.Active(called); err != nil {
			return err
		}
		if t.LeaderID != d.name() {
			return fmt.Errorf("only %s, who leads the team, can disband it", t.LeaderID)
		}
		t, err = r.Disband(t.ID)
		return err
	})
	return t, err
}

// Everyone is the recipient of a message to all others of a team (OAS-319).
const Everyone = "*"

// Send writes to one other agent of the own team, or with [Everyone] to all of them (K-15). The
// error names those to whom it can write (OAS-517). The messages that it returns were sent, also
// those before an error.
func (d Desk) Send(ctx context.Context, to string, kind Type, text string) (sent []Message, err error) {
	readers, t, err := d.readers(ctx, to)
	if err != nil {
		return nil, err
	}
	for _, reader := range readers {
		m := Message{ID: d.NewID(), Team: t.ID, From: d.name(), To: reader, Type: kind, Text: text, At: time.Now().UnixMilli(), State: Queued}
		if err := d.deliver(ctx, m); err != nil {
			return sent, fmt.Errorf("%s did not get the message: %w", reader, err)
		}
		sent = append(sent, m)
	}
	return sent, nil
}

func (d Desk) deliver(ctx context.Context, m Message) error {
	if d.Deliver != nil {
		return d.Deliver(ctx, m)
	}
	_, err := d.Tables.AddMessage(ctx, d.Session, "", m)
	return err
}

// readers returns the names that a recipient stands for. A session that leads several teams
// writes to the members of all of them.
func (d Desk) readers(ctx context.Context, to string) ([]string, Team, error) {
	roster, err := d.Tables.Teams(ctx, d.Session)
	if err != nil {
		return nil, Team{}, err
	}
	own, ok := roster.Of(d.name())
	if !ok {
		return nil, own, errors.New("you are in no team: make one with TeamCreate first")
	}
	if to == Everyone {
		if others := own.Others(d.name()); len(others) > 0 {
			return others, own, nil
		}
		return nil, own, fmt.Errorf("nobody else is in the team %s", own.Name)
	}
	for _, t := range roster.Teams {
		name := to
		if IsLeader(to) {
			name = t.LeaderID
		}
		if t.Status == Active && t.Has(d.name()) && t.Has(name) && name != d.name() {
			return []string{name}, t, nil
		}
	}
	return nil, own, fmt.Errorf("nobody called %.60q is in your team; you can write to: %s", to, strings.Join(own.Others(d.name()), ", "))
}

// Memory keeps teams and messages of one session in memory. The zero Memory is empty.
type Memory struct {
	mu       sync.Mutex
	roster   Roster
	messages []Message
}

// Teams implements [Tables].
func (m *Memory) Teams(context.Context, string) (Roster, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.roster, nil
}

// ChangeTeams implements [Tables].
func (m *Memory) ChangeTeams(_ context.Context, _ string, change func(*Roster) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.roster
	if err := change(&next); err != nil {
		return err
	}
	m.roster = next
	return nil
}

// AddMessage implements [Tables]. A message without a reader's session waits for Collect.
func (m *Memory) AddMessage(_ context.Context, _, reader string, msg Message) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	unread := 0
	for _, o := range m.messages {
		if o.ID == msg.ID {
			return false, nil
		}
		if o.To == msg.To && o.State == Waiting {
			unread++
		}
	}
	if unread >= MaxUnread {
		return false, ErrUnread
	}
	if msg.State = Delivered; reader == "" {
		msg.State = Waiting
	}
	m.messages = append(m.messages, msg)
	return true, nil
}

// Messages implements [Tables].
func (m *Memory) Messages(_ context.Context, _ string, limit int) ([]Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Message(nil), m.messages[max(0, len(m.messages)-limit):]...), nil
}

// Collect implements [Tables]: what it returns was read.
func (m *Memory) Collect(_ context.Context, _, agent, _ string) (read []Message, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.messages {
		if o := &m.messages[i]; o.To == agent && o.State == Waiting {
			o.State, o.DeliveredAt = Delivered, time.Now().UnixMilli()
			read = append(read, *o)
		}
	}
	return read, nil
}
