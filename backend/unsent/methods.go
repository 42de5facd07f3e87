package unsent

import (
	"context"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// UnsentText is for unsent.set.
type UnsentText Text

// UnsentList answers unsent.list.
type UnsentList struct {
	Texts []UnsentText `json:"texts,omitempty"`
}

// UnsentReply answers unsent.set.
type UnsentReply struct {
	Now UnsentText `json:"now"`
	// Taken is false if another page has changed the text meanwhile.
	Taken bool `json:"taken"`
}

// Register registers the methods of the page.
func (t *Texts) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "unsent.list", func(ctx context.Context, _ backend.Empty) (UnsentList, error) {
		all, err := t.All(ctx)
		var list UnsentList
		for _, text := range all {
			list.Texts = append(list.Texts, UnsentText(text))
		}
		return list, err
	})
	dispatch.Handle(d, "unsent.set", func(ctx context.Context, in UnsentText) (UnsentReply, error) {
		now, taken, err := t.Set(ctx, Text(in))
		return UnsentReply{UnsentText(now), taken}, err
	})
}
