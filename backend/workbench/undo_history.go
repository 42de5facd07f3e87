package workbench

import (
	"context"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/backend"
)

// maxUndoLogs limits how many sessions' changes of files are kept in memory.
const maxUndoLogs = 16

// undoLogs remembers what sessions' logs say about changed files, so that a log is read
// only once.
type undoLogs struct {
	mu        sync.Mutex
	bySession map[string]undoLog
}

// undoLog is the part of a log that undoing needs, up to a place.
type undoLog struct {
	seq    int64
	events []agent.Event
}

// add takes an event, without what is not needed of it.
func (l *undoLog) add(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		if d.Files == nil {
			return
		}
		ev.Data = agent.ToolCallEnd{CallID: d.CallID, Tool: d.Tool, Files: d.Files}
	case agent.LocalCommandEnd:
		if d.Files == nil {
			return
		}
		ev.Data = agent.LocalCommandEnd{ID: d.ID, Command: d.Command, Files: d.Files}
	case agent.HookEnd:
		if d.Files == nil {
			return
		}
		ev.Data = agent.HookEnd{Name: d.Name, HookFiles: d.HookFiles}
	case agent.UserInput:
		ev.Data = agent.UserInput{Text: d.Wrote()}
	case agent.LocalCommandStart, agent.FilesRestored, agent.Forked, agent.Rewound, agent.RewindUndone:
	default:
		return
	}
	l.events = append(l.events, ev)
}

// undoLog returns that part of a session's log. It reads only what was added to the
// log since the last time.
func (w *Workbench) undoLog(ctx context.Context, info backend.SessionInfo) ([]agent.Event, error) {
	w.undoLogs.mu.Lock()
	log := w.undoLogs.bySession[info.ID]
	w.undoLogs.mu.Unlock()
	log.events = slices.Clip(log.events) // an append copies them, because others may read them
	for log.seq < info.Seq {
		before := min(log.seq+maxPage, info.Seq) + 1
		events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, After: log.seq, Before: before})
		if err != nil {
			return nil, err
		}
		for _, ev := range events {
			log.add(ev)
		}
		log.seq = before - 1
	}
	w.undoLogs.mu.Lock()
	defer w.undoLogs.mu.Unlock()
	if known, ok := w.undoLogs.bySession[info.ID]; ok && known.seq >= log.seq {
		return log.events, nil
	}
	for id := range w.undoLogs.bySession { // any other
		if len(w.undoLogs.bySession) < maxUndoLogs {
			break
		}
		delete(w.undoLogs.bySession, id)
	}
	w.undoLogs.bySession[info.ID] = log
	return log.events, nil
}

// turnStart is where a turn begins.
type turnStart struct {
	turn    int
	seq, at int64
	prompt  string
}

// complete returns an event with all files that it says were changed.
func (w *Workbench) complete(ctx context.Context, ev agent.Event) agent.Event {
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		d.Files = w.journal.Complete(ctx, d.Files)
		ev.Data = d
	case agent.LocalCommandEnd:
		d.Files = w.journal.Complete(ctx, d.Files)
		ev.Data = d
	case agent.HookEnd:
		d.Files = w.journal.Complete(ctx, d.Files)
		ev.Data = d
	case agent.FilesRestored:
		d.FilesChanged = *w.journal.Complete(ctx, &d.FilesChanged)
		ev.Data = d
	}
	return ev
}

// undoable is what can be undone in a session: its own steps, and those of the agents
// that worked in its folder or below it, also in worktrees.
type undoable struct {
	undo.History
	turns []turnStart
	took  func(seq int64) bool // whether a rewind took an event back
}

// undoable reads what can be undone in a session.
func (w *Workbench) undoable(ctx context.Context, info backend.SessionInfo) (*undoable, error) {
	u := &undoable{took: info.TookBack}
	events, err := w.undoLog(ctx, info)
	if err != nil {
		return nil, err
	}
	for _, ev := range events {
		if in, ok := ev.Data.(agent.UserInput); ok {
			u.turns = append(u.turns, turnStart{ev.Turn, ev.Seq, ev.At, in.Text})
		}
		u.Apply(w.complete(ctx, ev))
	}
	helpers, err := w.cfg.Store.Helpers(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	for _, helper := range helpers {
		at, ok := seenFrom(w.folderOf(info), w.folderOf(helper))
		if !ok || w.treeGone(helper) {
			continue // what it changed is not here
		}
		events, err := w.undoLog(ctx, helper)
		if err != nil {
			return nil, err
		}
		for _, ev := range events {
			ev.Turn = u.turnAt(ev.At)
			u.Apply(at.event(w.complete(ctx, ev)))
		}
	}
	u.Settle()
	return u, nil
}

// turnAt returns the turn that was the newest at a time; 0 if there was none.
func (u *undoable) turnAt(at int64) (turn int) {
	for _, t := range u.turns {
		if t.at > at {
			break
		}
		turn = t.turn
	}
	return turn
}

// newest returns the place in turns of the newest one that stands; -1 if there is none.
func (u *undoable) newest() int {
	i := len(u.turns) - 1
	for i >= 0 && u.took(u.turns[i].seq) {
		i--
	}
	return i
}

// latest returns the newest step whose changes stand, also in part; nil if there is none.
func (u *undoable) latest() *undo.Past {
	for i := len(u.Steps) - 1; i >= 0; i-- {
		if u.Steps[i].Remaining() != nil {
			return &u.Steps[i]
		}
	}
	return nil
}

// exact returns a target that names what it means.
func (u *undoable) exact(t UndoTarget) UndoTarget {
	last := u.latest()
	switch {
	case t.Newest:
		if i := u.newest(); i >= 0 {
			return UndoTarget{Since: u.turns[i].turn}
		}
	case last == nil:
	case t.Step != nil && t.Step.Call == "":
		t.Step = &last.StepRef
	case t == UndoTarget{} && last.Turn > 0:
		t.Turn = last.Turn
	case t == UndoTarget{}: // a command before the first turn
		t.Step = &last.StepRef
	}
	return t
}

// steps returns what a target means, the newest first, and names the target.
func (u *undoable) steps(t UndoTarget) ([]undo.Step, UndoTarget, error) {
	if t.Redo || t.Restoration != "" {
		return u.redoing(t)
	}
	t = u.exact(t)
	steps := u.Undoing(func(p *undo.Past) bool {
		switch {
		case t.Step != nil:
			return p.StepRef == *t.Step
		case t.Since > 0:
			return p.Turn >= t.Since
		}
		return t.Turn > 0 && p.Turn == t.Turn
	})
	if len(steps) == 0 {
		return nil, t, backend.Problem(backend.ProblemUndoNothing)
	}
	return steps, t, nil
}

// redoing is steps for a restoration that is to be undone; the newest one if it is not
// named.
func (u *undoable) redoing(t UndoTarget) ([]undo.Step, UndoTarget, error) {
	if last := u.LastUndone(); t.Restoration == "" && last != nil {
		t.Restoration = last.ID
	}
	step, ok := u.Redoing(t.Restoration)
	if !ok {
		return nil, t, backend.Problem(backend.ProblemRedoNothing)
	}
	return []undo.Step{step}, UndoTarget{Redo: true, Restoration: t.Restoration}, nil
}
