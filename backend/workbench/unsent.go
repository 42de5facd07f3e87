package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/unsent"
)

// UnsentText is for unsent.set.
type UnsentText unsent.Text

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

func (w *Workbench) unsentMethods(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "unsent.list", func(ctx context.Context, _ backend.Empty) (UnsentList, error) {
		all, err := w.unsent.All(ctx)
		var list UnsentList
		for _, text := range all {
			list.Texts = append(list.Texts, UnsentText(text))
		}
		return list, err
	})
	dispatch.Handle(d, "unsent.set", func(ctx context.Context, in UnsentText) (UnsentReply, error) {
		now, taken, err := w.unsent.Set(ctx, unsent.Text(in))
		return UnsentReply{UnsentText(now), taken}, err
	})
}
