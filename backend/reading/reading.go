package reading

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/place"
)

const (
	defaultPage = 200
	maxPage     = 1000
)

// Reader reads and searches the logs of a project's sessions. It is safe for concurrent use.
type Reader struct {
	project *place.Project
	store   backend.Store
}

// New returns a Reader.
func New(project *place.Project, store backend.Store) *Reader { return &Reader{project, store} }

// Register registers the methods of reading.
func (r *Reader) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "conversation.history", r.history)
	dispatch.Handle(d, "conversation.event", r.Event)
	dispatch.Handle(d, "conversation.find", r.find)
	dispatch.Handle(d, "conversation.landmark", r.landmark)
}

func (r *Reader) history(ctx context.Context, in HistoryRequest) (HistoryReply, error) {
	if in.After != 0 && in.Before != 0 {
		return HistoryReply{}, backend.Problem(backend.ProblemHistoryRange)
	}
	if _, err := r.project.Session(ctx, in.Session); err != nil {
		return HistoryReply{}, err
	}
	return r.Page(ctx, backend.EventRange{
		Session: in.Session, After: in.After, Before: in.Before, Limit: in.Limit, Newest: in.Before > 0,
	})
}

// Page returns a part of a log as pages show it. It reads one event more than requested, to know whether there are more.
func (r *Reader) Page(ctx context.Context, part backend.EventRange) (HistoryReply, error) {
	limit := part.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	part.Limit = limit + 1
	events, err := r.store.Events(ctx, part)
	if err != nil {
		return HistoryReply{}, err
	}
	more := len(events) > limit
	if more && part.Newest {
		events = events[1:]
	} else if more {
		events = events[:limit]
	}
	for i, ev := range events {
		events[i] = feed.ForDisplay(ev)
	}
	return HistoryReply{Events: events, More: more}, nil
}

// Event returns an event in full.
func (r *Reader) Event(ctx context.Context, in place.EventRef) (EventReply, error) {
	if _, err := r.project.Session(ctx, in.Session); err != nil {
		return EventReply{}, err
	}
	events, err := r.store.Events(ctx, backend.EventRange{Session: in.Session, After: in.Seq - 1, Before: in.Seq + 1})
	if err != nil {
		return EventReply{}, err
	}
	if len(events) == 0 {
		return EventReply{}, backend.Problem(backend.ProblemEventMissing)
	}
	return EventReply{Event: events[0]}, nil
}

// HistoryRequest is for conversation.history: the events after After, or the
// newest events before Before. Not both are set; without them, the log is read
// from its beginning.
type HistoryRequest struct {
	Session string `json:"session"`
	After   int64  `json:"after,omitempty"`
	Before  int64  `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// HistoryReply is a page of the log in order.
type HistoryReply struct {
	Events []agent.Event `json:"events,omitempty"`
	More   bool          `json:"more,omitempty"`
}

// EventReply is one complete event.
type EventReply struct {
	Event agent.Event `json:"event"`
}
