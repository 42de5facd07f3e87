package contextinfo

import (
	"slices"

	"atelier.dev/atelier/agent"
)

// ChangeKind says what happened to a context.
type ChangeKind string

// The kinds of changes.
const (
	ChangeAdded     ChangeKind = "added"     // items came
	ChangeCompacted ChangeKind = "compacted" // items were replaced or shortened
	ChangeRestored  ChangeKind = "restored"  // a compaction was taken back
	ChangeMarked    ChangeKind = "marked"    // a person pinned or dropped items, or undid that
	ChangeRewound   ChangeKind = "rewound"   // a part was taken back, or brought back
	ChangeRepaired  ChangeKind = "repaired"  // it was changed to be accepted by a provider
)

// Change is something that happened to a context.
type Change struct {
	Kind ChangeKind
	Seq  int64 // of the event
	// Items are those that came or were marked; nil for the other kinds.
	Items []string
	// Before and After are the tokens of a compaction, by estimate.
	Before, After int64
}

// listener is one of those who hear of changes.
type listener struct{ hear func(Change) }

// Subscribe has hear called with each change of the context, after it was folded in and in the
// goroutine of [Log.Apply], until stop is called (COM-26).
func (l *Log) Subscribe(hear func(Change)) (stop func()) {
	one := &listener{hear}
	l.listeners = append(l.listeners, one)
	return func() {
		l.listeners = slices.DeleteFunc(slices.Clone(l.listeners), func(other *listener) bool { return other == one })
	}
}

func (l *Log) publish(c Change) {
	for _, one := range l.listeners {
		one.hear(c)
	}
}

// announce tells of what an event changed; added are the items that came with it.
func (l *Log) announce(ev agent.Event, added []string) {
	if len(l.listeners) == 0 {
		return
	}
	switch d := ev.Data.(type) {
	case agent.CompactionEnd:
		if d.Outcome == agent.OutcomeDone {
			l.publish(Change{Kind: ChangeCompacted, Seq: ev.Seq, Before: d.Before, After: d.After})
		}
		return
	case agent.CompactionUndone:
		l.publish(Change{Kind: ChangeRestored, Seq: ev.Seq})
	case agent.ContextMarked:
		l.publish(Change{Kind: ChangeMarked, Seq: ev.Seq, Items: d.Items})
	case agent.Rewound, agent.RewindUndone:
		l.publish(Change{Kind: ChangeRewound, Seq: ev.Seq})
	case agent.HistoryRepaired:
		l.publish(Change{Kind: ChangeRepaired, Seq: ev.Seq})
	}
	if len(added) > 0 {
		l.publish(Change{Kind: ChangeAdded, Seq: ev.Seq, Items: added})
	}
}
