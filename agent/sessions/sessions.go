// Package sessions keeps sessions for programs that use the library: saved, loaded, listed,
// forked, rewound, renamed, tagged and deleted (OAS-601, OAS-605, OAS-606, OAS-607).
//
// A session is its durable events, in order, and so is all that a [Store] knows of it: its
// title, its tags and where it was forked are events, the same as the application's. Where
// logs are kept is a [Log]: [Memory], [Files], or storage/sessionlog for SQLite.
package sessions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/text"
)

// The errors of a [Log], which may be wrapped.
var (
	// ErrNotFound says that there is no such session.
	ErrNotFound = errors.New("there is no such session")
	// ErrConflict says that a log was added to meanwhile.
	ErrConflict = errors.New("the session has changed meanwhile")
)

// Log keeps the events of sessions. It is safe for concurrent use.
type Log interface {
	// Append adds events behind the first count ones, which have to be all there are: else the
	// error is [ErrConflict]. It adds all of them or none.
	Append(ctx context.Context, session string, count int64, events []agent.Event) error
	// Events returns the events of a session, or [ErrNotFound].
	Events(ctx context.Context, session string) ([]agent.Event, error)
	// Sessions lists the ids of all sessions, in any order.
	Sessions(ctx context.Context) ([]string, error)
	// Delete removes a session; it is no error if there is none.
	Delete(ctx context.Context, session string) error
}

// Store keeps sessions in a log. It is safe for concurrent use; of two that write to one
// session, the second gets [ErrConflict].
type Store struct {
	Log
	Now   func() time.Time // nil means the system clock
	NewID func() string    // nil means random ids that sort by time
}

// Info is what a list says of a session.
type Info struct {
	ID    string
	Title string // chosen, or else the beginning of the first prompt
	Tags  []string
	// Created and Updated are Unix times in milliseconds.
	Created, Updated int64
	Messages         int
	// Origin is where it was forked; nil if it was not.
	Origin *agent.ForkOrigin
}

// maxTitle limits a title that is the beginning of a prompt, in bytes.
const maxTitle = 80

func (i *Info) apply(ev agent.Event, chosen *bool) {
	if i.Created == 0 {
		i.Created = ev.At
	}
	switch ev.Data.(type) {
	case agent.Title, agent.SessionMarks: // what is said about it does not make it newer
	default:
		i.Updated = max(i.Updated, ev.At)
	}
	switch d := ev.Data.(type) {
	case agent.Title:
		i.Title, *chosen = d.Text, true
	case agent.SessionMarks:
		i.Tags = d.Tags
	case agent.Forked:
		i.Origin = &d.Origin
	case agent.UserInput:
		i.Messages++
		if first, _, _ := strings.Cut(strings.TrimSpace(d.Wrote()), "\n"); i.Title == "" && !*chosen {
			i.Title = text.Head(first, maxTitle)
		}
	case agent.TextEnd:
		i.Messages++
	}
}

func (s *Store) stamp(session string, turn int, p agent.Payload) agent.Event {
	now := s.Now
	if now == nil {
		now = time.Now
	}
	return agent.Event{Session: session, Turn: turn, At: now().UnixMilli(), Data: p}
}

// Save adds events to a session, and numbers them. Those that are not durable are left out.
// before is how many events the session has; the result is how many it has then.
func (s *Store) Save(ctx context.Context, session string, before int64, events ...agent.Event) (after int64, err error) {
	var durable []agent.Event
	for _, ev := range events {
		if ev.Durable() {
			before++
			ev.Seq = before
			durable = append(durable, ev)
		}
	}
	if len(durable) == 0 {
		return before, nil
	}
	if err := s.Append(ctx, session, before-int64(len(durable)), durable); err != nil {
		return before - int64(len(durable)), fmt.Errorf("save session %s: %w", session, err)
	}
	return before, nil
}

// Keep saves what a session does before it is passed on: its durable events get their
// numbers. It stops with the error if one cannot be saved.
func (s *Store) Keep(ctx context.Context, session string, count *int64, events iter.Seq2[agent.Event, error]) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for ev, err := range events {
			if err == nil && ev.Durable() {
				if *count, err = s.Save(ctx, session, *count, ev); err == nil {
					ev.Seq = *count
				}
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Load returns the events of a session, for [agent.New].
func (s *Store) Load(ctx context.Context, session string) ([]agent.Event, error) {
	events, err := s.Events(ctx, session)
	if err != nil {
		return nil, fmt.Errorf("load session %s: %w", session, err)
	}
	return events, nil
}

// List returns all sessions, the one that changed last first.
func (s *Store) List(ctx context.Context) ([]Info, error) {
	ids, err := s.Sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []Info
	for _, id := range ids {
		info, err := s.Info(ctx, id)
		if errors.Is(err, ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	slices.SortStableFunc(all, func(a, b Info) int { return int(b.Updated - a.Updated) })
	return all, nil
}

// Info says what a list says of one session.
func (s *Store) Info(ctx context.Context, session string) (Info, error) {
	events, err := s.Load(ctx, session)
	if err != nil {
		return Info{}, err
	}
	info, chosen := Info{ID: session}, false
	for _, ev := range events {
		info.apply(ev, &chosen)
	}
	return info, nil
}

// record adds an event to a session at rest.
func (s *Store) record(ctx context.Context, session string, decide func([]agent.Event) (agent.Payload, error)) error {
	events, err := s.Load(ctx, session)
	if err != nil {
		return err
	}
	p, err := decide(events)
	if err != nil {
		return err
	}
	_, err = s.Save(ctx, session, int64(len(events)), s.stamp(session, events[len(events)-1].Turn, p))
	return err
}

// Rename gives a session a title.
func (s *Store) Rename(ctx context.Context, session, title string) error {
	return s.record(ctx, session, func([]agent.Event) (agent.Payload, error) {
		return agent.Title{Text: title, ByUser: true}, nil
	})
}

// Tag replaces the tags of a session.
func (s *Store) Tag(ctx context.Context, session string, tags ...string) error {
	return s.record(ctx, session, func(events []agent.Event) (agent.Payload, error) {
		var marks agent.SessionMarks
		for _, ev := range events {
			if d, ok := ev.Data.(agent.SessionMarks); ok {
				marks = d
			}
		}
		marks.Tags = tags
		return marks, nil
	})
}

// Fork copies a session up to a place into a new one, which is at rest. Where it is cut at an
// input, prompt is that input.
func (s *Store) Fork(ctx context.Context, session string, at agent.ForkPlace) (id, prompt string, err error) {
	log, err := s.Load(ctx, session)
	if err != nil {
		return "", "", err
	}
	cut, err := agent.FindCut(log, at)
	if err != nil {
		return "", "", fmt.Errorf("fork session %s: %w", session, err)
	}
	if id = ulid.Make().String(); s.NewID != nil {
		id = s.NewID()
	}
	var past agent.Transcript
	origin := agent.ForkOrigin{Session: session, Seq: cut.Through}
	var events []agent.Event
	copied := log[:slices.IndexFunc(append(log, agent.Event{Seq: cut.Through + 1}), func(ev agent.Event) bool { return ev.Seq > cut.Through })]
	taken := agent.TakenBack(copied)
	for _, ev := range copied {
		if ev.Kind() == agent.KindUserInput || ev.Kind() == agent.KindTextEnd {
			origin.Through++
		}
		ev.Session = id
		events = append(events, ev)
		if taken(ev.Seq) {
			past.ApplyTakenBack(ev)
		} else {
			past.Apply(ev)
		}
	}
	for _, p := range append(past.Sever(cut), agent.Forked{Origin: origin}) {
		events = append(events, s.stamp(id, past.Turn, p))
	}
	_, err = s.Save(ctx, id, 0, events...)
	return id, cut.Prompt, err
}

// Rewind takes back what came after a place of a session at rest; the log keeps it. A session
// in memory has to be made again from what [Store.Load] returns. Where it is cut at an input,
// prompt is that input.
func (s *Store) Rewind(ctx context.Context, session string, at agent.ForkPlace) (prompt string, err error) {
	err = s.record(ctx, session, func(log []agent.Event) (agent.Payload, error) {
		cut, err := agent.FindCut(log, at)
		if err != nil {
			return nil, fmt.Errorf("rewind session %s: %w", session, err)
		}
		prompt = cut.Prompt
		rewound := agent.Rewound{ID: ulid.Make().String(), To: cut.Through, Prompt: cut.Prompt}
		for _, ev := range log[cut.Through:] {
			if ev.Kind() == agent.KindUserInput {
				rewound.Turns++
			}
		}
		return rewound, nil
	})
	return prompt, err
}
