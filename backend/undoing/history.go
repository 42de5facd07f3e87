package undoing

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
	"atelier.dev/atelier/backend/place"
)

// turnStart is where a turn begins.
type turnStart struct {
	turn    int
	seq, at int64
	prompt  string
}

// Complete returns an event with all files that it says were changed. The log has the first
// ones, and the journal all.
func (u *Undo) Complete(ctx context.Context, ev agent.Event) agent.Event {
	return filelog.Rewrite(ev, func(changed *agent.FilesChanged) *agent.FilesChanged { return u.cfg.Journal.Complete(ctx, changed) })
}

// undoable is what can be undone in a session: its own steps, and those of the agents
// that worked in its folder or below it, also in worktrees.
type undoable struct {
	undo.History
	turns []turnStart
	took  func(seq int64) bool // whether a rewind took an event back
	// agents has the clock at the first call about an agent, by the agent's session.
	agents map[string]clock
}

// undoable reads what can be undone in a session.
func (u *Undo) undoable(ctx context.Context, info backend.SessionInfo) (*undoable, error) {
	past := &undoable{took: info.TookBack, agents: map[string]clock{}}
	events, err := u.logs.Events(ctx, info)
	if err != nil {
		return nil, err
	}
	var now clock
	for _, ev := range events {
		ev.At = now.read(ev.At)
		past.begun(ev, now)
		if in, ok := ev.Data.(agent.UserInput); ok {
			past.turns = append(past.turns, turnStart{ev.Turn, ev.Seq, ev.At, in.Text})
		}
		if was, ok := u.cfg.Project.FolderAt(info, ev.Seq); ok { // else what it changed is not here
			if at, ok := filelog.SeenFrom(u.cfg.Project.Folder(info), was); ok {
				past.Apply(at.Event(u.Complete(ctx, ev)))
			}
		}
	}
	helpers, err := u.cfg.Store.Helpers(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	for _, helper := range helpers {
		at, ok := filelog.SeenFrom(u.cfg.Project.Folder(info), u.cfg.Project.Folder(helper))
		if !ok || place.LostTree(helper) {
			continue // what it changed is not here
		}
		events, err := u.logs.Events(ctx, helper)
		if err != nil {
			return nil, err
		}
		now := past.agents[helper.ID]
		for _, ev := range events {
			ev.At = now.read(ev.At)
			ev.Turn = past.turnAt(ev.At)
			past.Apply(at.Event(u.Complete(ctx, ev)))
		}
	}
	past.Settle()
	return past, nil
}

// clock reads the times of a log so that none is before an earlier one: a computer's clock can
// be set back. It is then ahead of the computer's by what that took away.
type clock struct{ last, ahead int64 }

func (c *clock) read(at int64) int64 {
	if at += c.ahead; at < c.last {
		c.ahead += c.last - at
		at = c.last
	}
	c.last = at
	return at
}

// begun notes the clock at the first call about an agent. What the agent does is not before.
func (u *undoable) begun(ev agent.Event, now clock) {
	end, ok := ev.Data.(agent.ToolCallEnd)
	if !ok || end.Details == nil || end.Details.Agent == nil {
		return
	}
	if _, known := u.agents[end.Details.Agent.Session]; !known {
		u.agents[end.Details.Agent.Session] = now
	}
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
