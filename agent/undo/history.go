package undo

import (
	"cmp"
	"slices"

	"atelier.dev/atelier/agent"
)

// maxSteps limits how many steps, and how many restorations, a history has. Beyond it
// the oldest are forgotten, and cannot be undone any more.
const maxSteps = 20_000

// History is the fold of the logs of sessions that says what can be undone and redone.
// The zero value is empty.
type History struct {
	Steps        []Past
	Restorations []Restored
	// reached is the latest time of each session's events so far.
	reached map[string]int64
}

// Past is a step that changed files.
type Past struct {
	Step
	Turn int
	At   int64
	// What names the step: the tool, the hook, or the command of the user.
	Tool, Command string
	order         int64
	// undone names for each file the restoration that took its change out.
	undone map[string]string
}

// Restored is a restoration.
type Restored struct {
	agent.FilesRestored
	Session string
	At      int64
	order   int64
	// reverted are its files whose changes were brought back, also by several redos.
	reverted map[string]bool
}

// Apply folds in an event of a session. The events of each session come in order.
func (h *History) Apply(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		h.add(ev, d.CallID, d.Files, Past{Tool: d.Tool})
	case agent.LocalCommandEnd:
		h.add(ev, d.ID, d.Files, Past{Command: d.Command})
	case agent.HookEnd:
		h.add(ev, d.ID, d.Files, Past{Tool: d.Name})
	case agent.Forked: // what was changed before belongs to the other session
		h.Steps = slices.DeleteFunc(h.Steps, func(p Past) bool { return p.Session == ev.Session })
		h.Restorations = slices.DeleteFunc(h.Restorations, func(r Restored) bool { return r.Session == ev.Session })
	case agent.FilesRestored:
		if d.Taken != "" || d.Reverted {
			h.add(ev, d.ID, &d.FilesChanged, Past{})
			return
		}
		h.Restorations = newest(append(h.Restorations, Restored{FilesRestored: d, Session: ev.Session, At: ev.At, order: h.place(ev)}))
	}
}

// place returns the place of an event among those of all sessions: its time, or that
// of an earlier one of its session if the clock was set back since.
func (h *History) place(ev agent.Event) int64 {
	if h.reached == nil {
		h.reached = map[string]int64{}
	}
	h.reached[ev.Session] = max(h.reached[ev.Session], ev.At)
	return h.reached[ev.Session]
}

func (h *History) add(ev agent.Event, id string, changed *agent.FilesChanged, p Past) {
	if changed == nil || len(changed.Files) == 0 && changed.More == 0 && !changed.Unwatched {
		return
	}
	p.Step = Step{StepRef: agent.StepRef{Session: ev.Session, Call: id}, FilesChanged: *changed, RanCommand: p.Command != "" || p.Tool == "Bash"}
	p.Turn, p.At, p.order = ev.Turn, ev.At, h.place(ev)
	h.Steps = newest(append(h.Steps, p))
}

// newest forgets the oldest of a list that is too long.
func newest[T any](all []T) []T {
	if len(all) > maxSteps {
		return slices.Delete(all, 0, len(all)-maxSteps)
	}
	return all
}

// Knows reports whether a restoration is in the logs.
func (h *History) Knows(id string) bool {
	return slices.ContainsFunc(h.Restorations, func(r Restored) bool { return r.ID == id }) ||
		slices.ContainsFunc(h.Steps, func(p Past) bool { return p.Call == id }) // what was taken over or reverted is a step
}

// Settle puts the steps of all sessions in the order in which they ended, and finds out
// what of them stands undone. It is called after the last Apply.
func (h *History) Settle() {
	slices.SortStableFunc(h.Steps, func(a, b Past) int { return cmp.Compare(a.order, b.order) })
	slices.SortStableFunc(h.Restorations, func(a, b Restored) int { return cmp.Compare(a.order, b.order) })
	at := make(map[agent.StepRef]*Past, len(h.Steps))
	for i := range h.Steps {
		h.Steps[i].undone = map[string]string{}
		at[h.Steps[i].StepRef] = &h.Steps[i]
	}
	byID := make(map[string]*Restored, len(h.Restorations))
	for i := range h.Restorations {
		r := &h.Restorations[i]
		byID[r.ID] = r
		if of := byID[r.Redone]; of != nil {
			of.revert(at, r)
			continue
		}
		for _, ref := range r.Undone {
			if p := at[ref]; p != nil {
				for _, f := range p.Files {
					if r.covers(f.Path) {
						p.undone[f.Path] = r.ID
					}
				}
			}
		}
	}
}

// revert lets the changes stand again that a restoration took out and by restored.
func (r *Restored) revert(at map[agent.StepRef]*Past, by *Restored) {
	for _, ref := range r.Undone {
		p := at[ref]
		if p == nil {
			continue
		}
		for path, id := range p.undone {
			if id == r.ID && by.covers(path) {
				delete(p.undone, path)
			}
		}
	}
	if r.reverted == nil {
		r.reverted = map[string]bool{}
	}
	for _, f := range r.Files { // what could not be brought back can be tried again
		if by.covers(f.Path) {
			r.reverted[f.Path] = true
		}
	}
}

// covers reports whether a file was restored completely.
func (r *Restored) covers(path string) bool {
	return (len(r.Paths) == 0 || slices.Contains(r.Paths, path)) && !slices.Contains(r.Partly, path) &&
		!slices.ContainsFunc(r.Conflicts, func(c agent.RestoreConflict) bool { return c.Path == path })
}

// Remaining returns what of the step is not undone; nil if nothing is.
func (p *Past) Remaining() *Step {
	s := p.Step
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f agent.FileRecord) bool { return p.undone[f.Path] != "" })
	if len(s.Files) == 0 {
		return nil
	}
	return &s
}

// Undoing returns the steps that a person wants to undo, the newest first.
func (h *History) Undoing(want func(*Past) bool) []Step {
	var steps []Step
	for i := len(h.Steps) - 1; i >= 0; i-- {
		p := &h.Steps[i]
		if !want(p) {
			continue
		}
		if s := p.Remaining(); s != nil {
			steps = append(steps, *s)
		} else if len(p.Files) == 0 { // nothing of it was recorded, which is to be said
			steps = append(steps, p.Step)
		}
	}
	return steps
}

// Pass has the history leave out steps, or restorations, of which nothing is left to do in
// the files, so that what is older comes next.
func (h *History) Pass(steps []Step) {
	for _, s := range steps {
		for i := range h.Steps {
			if p := &h.Steps[i]; p.StepRef == s.StepRef {
				for _, f := range p.Files {
					p.undone[f.Path] = "nothing"
				}
			}
		}
		for i := range h.Restorations {
			if r := &h.Restorations[i]; r.ID == s.Call {
				r.revert(nil, &Restored{})
			}
		}
	}
}

// Redoing returns what of a restoration was not brought back yet as a step, whose change
// is taken out of the files again. It reports false if there is none.
func (h *History) Redoing(id string) (Step, bool) {
	for _, r := range h.Restorations {
		if r.ID == id {
			changed := r.FilesChanged
			changed.Files = r.standing()
			return Step{StepRef: agent.StepRef{Session: r.Session, Call: id}, FilesChanged: changed}, r.Redoable()
		}
	}
	return Step{}, false
}

// Redoable reports whether the restoration took changes out that can be brought back.
func (r *Restored) Redoable() bool { return len(r.Undone) > 0 && len(r.standing()) > 0 }

// standing returns the files of the restoration that were not brought back since.
func (r *Restored) standing() []agent.FileRecord {
	return slices.DeleteFunc(slices.Clone(r.Files), func(f agent.FileRecord) bool { return r.reverted[f.Path] })
}

// LastUndone returns the newest restoration that can be undone; nil if there is none.
func (h *History) LastUndone() *Restored {
	for i := len(h.Restorations) - 1; i >= 0; i-- {
		if r := &h.Restorations[i]; r.Redoable() {
			return r
		}
	}
	return nil
}
