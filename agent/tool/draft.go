package tool

import (
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/applypatch"
	"atelier.dev/atelier/agent/llm"
)

// maxOutlined limits the files of an outline, which is computed again for each
// piece of a call.
const maxOutlined = 32

// Draft implements [agent.Drafter].
func (a *applyPatch) Draft(freeform bool) func(string) agent.DraftedChanges {
	var draft applypatch.Draft
	outline := func() agent.DraftedChanges { return a.outline(draft.Operations()) }
	if freeform {
		return func(piece string) agent.DraftedChanges {
			draft.Append(piece)
			return outline()
		}
	}
	members := memberReader{pass: func(member, piece string) {
		if member == llm.FreeformMember {
			draft.Append(piece)
		}
	}}
	return func(piece string) agent.DraftedChanges {
		members.append(piece)
		return outline()
	}
}

func (a *applyPatch) outline(operations []applypatch.Operation) agent.DraftedChanges {
	o := agent.DraftedChanges{Earlier: max(0, len(operations)-maxOutlined)}
	for _, op := range operations[o.Earlier:] {
		c := agent.FileChange{
			Path: relative(a.env, op.Path), Created: op.Kind == applypatch.Add, Deleted: op.Kind == applypatch.Delete,
			Added: op.Added, Removed: op.Removed,
		}
		if op.MoveTo != "" {
			c.MovedTo = relative(a.env, op.MoveTo)
		}
		o.Changes = append(o.Changes, c)
	}
	return o
}

// Draft implements [agent.Drafter].
func (w *write) Draft(bool) func(string) agent.DraftedChanges {
	var path strings.Builder
	var content lines
	members := memberReader{pass: func(member, piece string) {
		switch member {
		case "file_path":
			path.WriteString(piece)
		case "content":
			content.add(piece)
		}
	}}
	return func(piece string) agent.DraftedChanges {
		members.append(piece)
		if content.begun { // then the path is whole
			return agent.DraftedChanges{Changes: []agent.FileChange{{Path: relative(w.env, path.String()), Added: content.count()}}}
		}
		return agent.DraftedChanges{}
	}
}

// Draft implements [agent.Drafter].
func (e *edit) Draft(bool) func(string) agent.DraftedChanges {
	var path strings.Builder
	var old, new lines
	members := memberReader{pass: func(member, piece string) {
		switch member {
		case "file_path":
			path.WriteString(piece)
		case "old_string":
			old.add(piece)
		case "new_string":
			new.add(piece)
		}
	}}
	return func(piece string) agent.DraftedChanges {
		members.append(piece)
		if old.begun || new.begun {
			return agent.DraftedChanges{Changes: []agent.FileChange{{Path: relative(e.env, path.String()), Added: new.count(), Removed: old.count()}}}
		}
		return agent.DraftedChanges{}
	}
}

// lines counts the lines of a text that arrives in pieces.
type lines struct {
	begun bool
	ended int
	open  bool // the last line has not ended yet
}

func (l *lines) add(piece string) {
	l.begun = true
	if piece != "" {
		l.ended += strings.Count(piece, "\n")
		l.open = !strings.HasSuffix(piece, "\n")
	}
}

func (l *lines) count() int {
	if l.open {
		return l.ended + 1
	}
	return l.ended
}
