package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// CallEnds implements [backend.Store]. An index has the ends of all sessions by
// time, so that neither the rest of the logs nor the calls of other sessions are
// read.
func (s *Store) CallEnds(ctx context.Context, r backend.CallRange) ([]agent.Event, error) {
	sessions, err := json.Marshal(r.Sessions)
	if err != nil {
		return nil, fmt.Errorf("encode sessions: %w", err)
	}
	place := r.Before
	place.At = cmp.Or(place.At, maxSeq)
	rows, err := s.read.QueryContext(ctx, s.query["select-call-ends"], place.At, place.Session, place.Seq, r.Since, string(sessions), r.Limit)
	if err != nil {
		return nil, s.failed("read what ran", err)
	}
	defer rows.Close()
	var ends []agent.Event
	for rows.Next() {
		var ev agent.Event
		var row storedEvent
		var damaged error
		err := rows.Scan(&ev.Session, &ev.Seq, &ev.Turn, &row.kind, &ev.At, &row.body, &row.blob, &row.sum)
		if isConversion(err) {
			damaged, err = err, nil
		} else if err == nil {
			ev, damaged, err = s.decode(ev, row)
		}
		if err != nil {
			return nil, s.failed("read what ran", err)
		}
		if damaged != nil {
			s.tellDamaged(ev.Session, ev.Seq, damaged)
			ev.Data = agent.Lost(ev.Seq, ev.Seq)
		}
		ends = append(ends, ev)
	}
	return ends, s.failed("read what ran", rows.Err())
}

// CallEvents implements [backend.Store].
func (s *Store) CallEvents(ctx context.Context, session string, before int64, limit int) ([]agent.Event, error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-call-events"], session, before, limit)
	if err != nil {
		return nil, s.failed("read what ran", err)
	}
	defer rows.Close()
	var events []agent.Event
	for rows.Next() {
		ev, damaged, err := s.scanEvent(rows, session)
		if err != nil {
			return nil, s.failed("read what ran", err)
		}
		if damaged != nil {
			s.tellDamaged(session, ev.Seq, damaged)
			continue
		}
		events = append(events, ev)
	}
	return events, s.failed("read what ran", rows.Err())
}
