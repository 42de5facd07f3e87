package workbench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend"
)

// maxEditLogs limits how many sessions' edits are kept in memory.
const maxEditLogs = 16

// edits remembers the edits of sessions, so that a log is read only once.
type edits struct {
	sync.Mutex
	bySession map[string]editLog
}

// editLog has the edits of a session up to a place in its log, and what the
// user put back of them. The latter is not in the log: after a restart, the
// edits are compared with the files without it.
type editLog struct {
	seq   int64
	turn  int   // the newest
	began int64 // when it began
	edits []edit
}

// maxRecorded limits the bytes of contents that are read from the journal for one
// session's edits. A file counts as at least leastRecorded. What is beyond is listed
// without its lines.
const (
	maxRecorded   = 8 << 20
	leastRecorded = 4 << 10
)

// errUnread says that the contents of a version are not read.
var errUnread = errors.New("not read from the journal")

// edit is what one call changed, or the user reverted, undid or redid. More counts files that are
// not in changes.
type edit struct {
	at      int64
	turn    int
	changes []changes.Edit
	more    int
}

// query adds the edits that a scope needs.
func (w *Workbench) query(ctx context.Context, in ChangesRequest) (changes.Query, error) {
	q := changes.Query{Scope: in.Scope, Base: in.Base}
	switch in.Scope {
	case changes.ScopeUncommitted, changes.ScopeBranch:
		return q, nil
	case changes.ScopeSession, changes.ScopeTurn:
		if in.Session != "" {
			var err error
			q.Edits, q.More, err = w.editsOf(ctx, in.Session, in.Scope == changes.ScopeTurn)
			return q, err
		}
	}
	return q, backend.Problem(backend.ProblemChangesScope, string(in.Scope))
}

// editsOf returns the edits of a session and of the agents that it started, in
// order; only those since its last turn began if last is set. More counts changed files
// that are not among them.
func (w *Workbench) editsOf(ctx context.Context, session string, last bool) (out []changes.Edit, more int, err error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	own, err := w.editLog(ctx, info)
	if err != nil {
		return nil, 0, err
	}
	helpers, err := w.cfg.Store.Helpers(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	var all []edit
	base := w.boundsOf(info)
	for _, e := range own.edits {
		if at, ok := seenFrom(base, w.folderOf(info)); ok && (!last || e.turn == own.turn) {
			all = append(all, at.edit(e))
		}
	}
	for _, helper := range helpers {
		at, ok := seenFrom(base, w.folderOf(helper))
		if !ok || w.treeGone(helper) {
			continue // what it changed is not here
		}
		log, err := w.editLog(ctx, helper)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range log.edits {
			if !last || e.at >= own.began {
				all = append(all, at.edit(e))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b edit) int { return int(a.at - b.at) })
	for _, e := range all {
		out = append(out, e.changes...)
		more += e.more
	}
	return out, more, nil
}

// editLog returns a session's edits. It reads only what was added to the log since the
// last time, and from the journal what commands changed.
func (w *Workbench) editLog(ctx context.Context, info backend.SessionInfo) (editLog, error) {
	room := int64(maxRecorded)
	contents := func(v agent.FileVersion) ([]byte, error) {
		switch {
		case !v.Exists():
			return nil, nil
		case v.Unkept != "" || v.Size > changes.MaxDiff || v.Kind == agent.SymbolicLink || room <= 0:
			return nil, errUnread
		}
		room -= max(v.Size, leastRecorded)
		return w.journal.Objects().Contents(ctx, v)
	}
	for {
		w.edits.Lock()
		known := w.edits.bySession[info.ID]
		w.edits.Unlock()
		log := known
		log.edits = slices.Clip(log.edits)           // an append copies them, because others may read them
		log.seq = max(log.seq, info.CopiedThrough()) // what was copied was changed by another session
		for after := log.seq; after < info.Seq; after += maxPage {
			before := min(after+maxPage, info.Seq) + 1
			events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, After: after, Before: before, Limit: maxPage})
			if err != nil {
				return editLog{}, err
			}
			for _, ev := range events {
				log.add(ev, contents)
			}
		}
		if err := ctx.Err(); err != nil { // contents may be missing for that alone
			return editLog{}, fmt.Errorf("read what commands changed: %w", err)
		}
		log.seq = max(log.seq, info.Seq)
		if w.edits.keep(info.ID, known, log) {
			return log, nil
		}
	}
}

// keep stores a session's log in place of the one that it was made from. It
// reports false if there is another one by now: a request has read further.
func (e *edits) keep(session string, from, log editLog) bool {
	e.Lock()
	defer e.Unlock()
	now, kept := e.bySession[session]
	if now.seq != from.seq || len(now.edits) != len(from.edits) {
		return false
	}
	for id := range e.bySession { // any other
		if kept || len(e.bySession) < maxEditLogs {
			break
		}
		delete(e.bySession, id)
	}
	e.bySession[session] = log
	return true
}

// add takes an event. Of a call that says what it changed, such as an edit, the
// journal is not asked. What was undone or redone counts, so that the edits still
// add up to what is in the files.
func (l *editLog) add(ev agent.Event, contents func(agent.FileVersion) ([]byte, error)) {
	if ev.Turn > l.turn {
		l.turn, l.began = ev.Turn, ev.At
	}
	e := edit{at: ev.At, turn: ev.Turn}
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		switch {
		case d.Outcome == agent.OutcomeDenied:
		case d.Details != nil && len(d.Details.Changes) > 0 && (d.Files == nil || !d.Files.Hooked):
			for _, change := range d.Details.Changes {
				e.changes = append(e.changes, changes.Edit{FileChange: change})
			}
		case d.Files != nil:
			e.record(*d.Files, contents)
		}
	case agent.HookEnd:
		if d.Files != nil {
			e.record(*d.Files, contents)
		}
	case agent.FilesRestored:
		e.turn = l.turn
		e.record(d.FilesChanged, contents)
		for i := range e.changes {
			e.changes[i].ByUser = d.Taken == "" // what was taken from another branch is new here
		}
	}
	if len(e.changes) > 0 {
		l.edits = append(l.edits, e)
	}
}

func (e *edit) record(files agent.FilesChanged, contents func(agent.FileVersion) ([]byte, error)) {
	for _, record := range files.Files {
		e.changes = append(e.changes, changes.OfRecord(record, contents))
	}
	e.more = files.More
}
