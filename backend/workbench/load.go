package workbench

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

const (
	defaultLoad = 50
	maxLoad     = 1000
	loadPage    = 200 // events that are read at a time, whole
)

// Load returns some messages of a session: inputs of the user and answers of models, in
// order, also those that were taken back. Without an offset these are the newest.
func (w *Workbench) Load(ctx context.Context, in LoadRequest) (LoadReply, error) {
	limit := min(in.Limit, maxLoad)
	if limit <= 0 {
		limit = defaultLoad
	}
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return LoadReply{}, err
	}
	reply := LoadReply{Total: info.Messages}
	if in.Offset != nil {
		reply.Offset = max(0, *in.Offset)
		reply.Messages, err = w.messagesFrom(ctx, info, reply.Offset, limit)
	} else {
		reply.Messages, err = w.newestMessages(ctx, info, limit)
		reply.Offset = max(0, info.Messages-len(reply.Messages))
	}
	return reply, err
}

// messagesFrom returns messages after a number of them.
func (w *Workbench) messagesFrom(ctx context.Context, info backend.SessionInfo, offset, limit int) (messages []agent.Event, err error) {
	for after := int64(0); after < info.Seq && len(messages) < limit; after += loadPage {
		page, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, After: after, Before: min(after+loadPage, info.Seq) + 1})
		if err != nil {
			return nil, err
		}
		page = slices.DeleteFunc(page, isNoMessage)
		skipped := min(offset, len(page))
		offset -= skipped
		messages = append(messages, page[skipped:]...)
	}
	return messages[:min(limit, len(messages))], nil
}

// newestMessages returns the last messages.
func (w *Workbench) newestMessages(ctx context.Context, info backend.SessionInfo, limit int) (messages []agent.Event, err error) {
	for before := info.Seq + 1; before > 1 && len(messages) < limit; before -= loadPage {
		page, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, After: max(before-loadPage, 1) - 1, Before: before})
		if err != nil {
			return nil, err
		}
		messages = append(slices.DeleteFunc(page, isNoMessage), messages...)
	}
	return messages[max(0, len(messages)-limit):], nil
}

func isNoMessage(ev agent.Event) bool {
	switch ev.Data.(type) {
	case agent.UserInput, agent.TextEnd:
		return false
	}
	return true
}

// LoadRequest asks [Workbench.Load] for Limit messages, by default 50 and at most
// 1000, after the first Offset ones. Without an offset it means the newest.
type LoadRequest struct {
	Session string
	Limit   int
	Offset  *int
}

// LoadReply has messages as the events of the log that they are. Offset is how many
// are before them, Total how many there are.
type LoadReply struct {
	Messages []agent.Event
	Offset   int
	Total    int
}
