package filechanges

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
	"atelier.dev/atelier/backend/place"
)

// query adds the edits that a scope needs.
func (c *Changes) query(ctx context.Context, in ChangesRequest) (changes.Query, error) {
	q := changes.Query{Scope: in.Scope, Base: in.Base}
	switch in.Scope {
	case changes.ScopeUncommitted, changes.ScopeBranch:
		return q, nil
	case changes.ScopeSession, changes.ScopeTurn:
		if in.Session != "" {
			var err error
			q.Edits, q.More, err = c.edits(ctx, in.Session, in.Scope == changes.ScopeTurn)
			return q, err
		}
	}
	return q, backend.Problem(backend.ProblemChangesScope, string(in.Scope))
}

// edits returns the edits of a session and of the agents that it started, in
// order; only those since its last turn began if last is set. More counts changed files
// that are not among them.
func (c *Changes) edits(ctx context.Context, session string, last bool) (out []changes.Edit, more int, err error) {
	info, err := c.cfg.Project.Session(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	own, err := c.cfg.Undo.Logs().Edits(ctx, info)
	if err != nil {
		return nil, 0, err
	}
	helpers, err := c.cfg.Store.Helpers(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	var all []filelog.Edit
	add := func(of backend.SessionInfo, edits []filelog.Edit, counts func(filelog.Edit) bool) {
		for _, e := range edits {
			folder, here := c.cfg.Project.FolderAt(of, e.Seq)
			at, ok := filelog.SeenFrom(c.cfg.Project.Bounds(info), folder)
			if ok && here && (!last || counts(e)) {
				e.Changes = at.Edits(e.Changes)
				all = append(all, e)
			}
		}
	}
	add(info, own.All, func(e filelog.Edit) bool { return e.Turn == own.Turn })
	for _, helper := range helpers {
		if place.LostTree(helper) {
			continue // what it changed is not here
		}
		theirs, err := c.cfg.Undo.Logs().Edits(ctx, helper)
		if err != nil {
			return nil, 0, err
		}
		add(helper, theirs.All, func(e filelog.Edit) bool { return e.At >= own.Began })
	}
	slices.SortStableFunc(all, func(a, b filelog.Edit) int { return int(a.At - b.At) })
	for _, e := range all {
		out = append(out, e.Changes...)
		more += e.More
	}
	return out, more, nil
}
