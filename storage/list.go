package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// SessionPage implements [backend.Store]. The first page also has sessions with
// damaged rows, if what their logs say of them is selected.
func (s *Store) SessionPage(ctx context.Context, q backend.SessionQuery) (backend.SessionPage, error) {
	folders, err := s.foldersOf(ctx, q.Folder)
	if err != nil {
		return backend.SessionPage{}, err
	}
	working, err := s.sessionsOf(ctx, "select-working-sessions", folders)
	if err != nil {
		return backend.SessionPage{}, err
	}
	interrupted, err := s.interrupted(ctx, working...)
	if err != nil {
		return backend.SessionPage{}, err
	}
	places, next, err := s.sessionPlaces(ctx, q, folders, interrupted)
	if err != nil {
		return backend.SessionPage{}, s.failed("list the sessions", err)
	}
	ids := make([]string, len(places))
	for i, place := range places {
		ids[i] = place.ID
	}
	heads, err := s.sessionsOf(ctx, "select-sessions-by-id", ids)
	if err != nil {
		return backend.SessionPage{}, err
	}
	agents, err := s.sessionsOf(ctx, "select-agents-of", ids)
	if err != nil {
		return backend.SessionPage{}, err
	}
	started := map[string][]backend.SessionInfo{}
	for _, a := range append(agents, s.missedAgents(ctx, ids, agents)...) {
		if a.Helper != nil {
			started[a.Helper.Parent] = append(started[a.Helper.Parent], a)
		}
	}
	if q.After.ID == "" {
		heads = append(heads, s.missedHeads(ctx, q, ids)...)
	}
	slices.SortFunc(heads, func(a, b backend.SessionInfo) int { // those that were missed come first
		return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
	})
	page := backend.SessionPage{Next: next}
	for _, head := range heads {
		page.Sessions = append(append(page.Sessions, head), started[head.ID]...)
	}
	for i := range page.Sessions {
		if slices.Contains(interrupted, page.Sessions[i].ID) {
			page.Sessions[i].Interrupted = true
		}
	}
	return page, nil
}

// foldersOf returns one folder, or all of them if it is empty.
func (s *Store) foldersOf(ctx context.Context, folder string) ([]string, error) {
	if folder != "" {
		return []string{folder}, nil
	}
	all, err := s.Folders(ctx, math.MaxInt32)
	var out []string
	for _, f := range all {
		out = append(out, f.Folder)
	}
	return out, err
}

// interrupted returns those of some sessions that are stored as working while no process
// runs them. They are read again after their leases, which may have just been given back.
func (s *Store) interrupted(ctx context.Context, some ...backend.SessionInfo) ([]string, error) {
	var free []string
	for _, info := range some {
		if info.State == agent.StateProcessing && !s.leases.taken(info.ID) {
			free = append(free, info.ID)
		}
	}
	again, err := s.sessionsOf(ctx, "select-sessions-by-id", free)
	var out []string
	for _, info := range again {
		if info.State == agent.StateProcessing {
			out = append(out, info.ID)
		}
	}
	return out, err
}

// missedHeads returns selected sessions that a query by folder misses.
func (s *Store) missedHeads(ctx context.Context, q backend.SessionQuery, found []string) (missed []backend.SessionInfo) {
	for _, id := range s.health.suspected() {
		info, err := s.Session(ctx, id)
		if err == nil && (q.Folder == "" || info.Folder == q.Folder) && q.Selects(info) && info.Helper == nil && !slices.Contains(found, id) {
			missed = append(missed, info)
		}
	}
	return missed
}

// missedAgents returns agents of some sessions that a query by parent misses.
func (s *Store) missedAgents(ctx context.Context, parents []string, found []backend.SessionInfo) (missed []backend.SessionInfo) {
	for _, id := range s.health.suspected() {
		info, err := s.Session(ctx, id)
		if err == nil && info.Helper != nil && slices.Contains(parents, info.Helper.Parent) && !hasSession(found, id) {
			missed = append(missed, info)
		}
	}
	return missed
}

func hasSession(list []backend.SessionInfo, id string) bool {
	return slices.ContainsFunc(list, func(info backend.SessionInfo) bool { return info.ID == id })
}

// sessionPlaces returns the places of a page in order, and the last of them if
// there are more.
func (s *Store) sessionPlaces(ctx context.Context, q backend.SessionQuery, folders, interrupted []string) (places []backend.SessionPlace, next *backend.SessionPlace, err error) {
	until := q.Until
	if until == 0 {
		until = math.MaxInt64
	}
	lists, err := json.Marshal([][]string{folders, interrupted})
	if err != nil {
		return nil, nil, fmt.Errorf("encode what is listed: %w", err)
	}
	after := q.After
	rows, err := s.read.QueryContext(ctx, s.query["select-session-places"],
		string(lists), q.Since, until, q.Prefix, q.UrgentFirst, q.View, q.State, q.Pinned, q.Tag, q.Model, q.Text != "", after.ID, after.Urgent, after.UpdatedAt)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var place backend.SessionPlace
		var title, prompt, label, agents string
		if err := rows.Scan(&place.ID, &place.Urgent, &place.UpdatedAt, &title, &prompt, &label, &agents); err != nil {
			return nil, nil, err
		}
		switch {
		case !q.FindsText(title, prompt, label, agents):
		case len(places) == q.Limit:
			return places, &places[len(places)-1], nil
		default:
			places = append(places, place)
		}
	}
	return places, nil, rows.Err()
}

// Unsettled implements [backend.Store].
func (s *Store) Unsettled(ctx context.Context, folder string) ([]backend.SessionInfo, error) {
	list, err := s.sessions(ctx, "select-unsettled-sessions", folder)
	if err != nil {
		return nil, err
	}
	for _, id := range s.health.suspected() {
		info, err := s.Session(ctx, id)
		if err == nil && info.Folder == folder && !hasSession(list, id) {
			list = append(list, info)
		}
	}
	return list, nil
}

// sessionsOf reads sessions by a list of ids.
func (s *Store) sessionsOf(ctx context.Context, query string, ids []string) ([]backend.SessionInfo, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("encode the ids of sessions: %w", err)
	}
	return s.sessions(ctx, query, string(list))
}
