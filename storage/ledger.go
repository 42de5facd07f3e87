package storage

import (
	"context"
	"database/sql"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// enter adds the request that an event tells of to the ledger (OAS-114).
func (s *Store) enter(ctx context.Context, tx *sql.Tx, ev agent.Event, info backend.SessionInfo, r agent.SideRequest) error {
	if r.Purpose == agent.PurposeTurn && info.Helper != nil {
		r.Purpose = agent.PurposeSubagent
	}
	u := r.Usage
	tokens := func(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: u.Known} }
	var cost sql.NullInt64
	if r.Cost != nil {
		cost = sql.NullInt64{Int64: int64(*r.Cost), Valid: true}
	}
	_, err := s.in(tx, "insert-ledger").ExecContext(ctx, ev.Session, ev.Seq, info.Folder, ev.Turn, r.Purpose, r.Provider, r.Model,
		tokens(u.Input), tokens(u.CacheRead), tokens(u.CacheWrite), tokens(u.Output), tokens(u.Reasoning), cost, ev.At)
	if err != nil {
		return fmt.Errorf("insert ledger row: %w", err)
	}
	return nil
}

// Costs implements [backend.Store].
func (s *Store) Costs(ctx context.Context, folder, session string) (backend.CostSummary, error) {
	var out backend.CostSummary
	for query, lines := range map[string]*[]backend.CostLine{
		"costs-by-model": &out.Models, "costs-by-session": &out.Sessions, "costs-by-day": &out.Days,
	} {
		var err error
		if *lines, err = s.costs(ctx, query, folder, session); err != nil {
			return out, s.failed("add up the costs", err)
		}
	}
	out.Total.Usage.Known = true
	for _, l := range out.Models {
		out.Total.Requests += l.Requests
		out.Total.Usage = out.Total.Usage.Add(l.Usage)
		out.Total.Cost.Cost += l.Cost.Cost
		out.Total.Cost.Unknown += l.Cost.Unknown
	}
	return out, nil
}

func (s *Store) costs(ctx context.Context, query, folder, session string) ([]backend.CostLine, error) {
	rows, err := s.read.QueryContext(ctx, s.query[query], folder, session)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []backend.CostLine
	for rows.Next() {
		var l backend.CostLine
		u := &l.Usage
		if err := rows.Scan(&l.Provider, &l.Model, &l.Session, &l.Title, &l.Day, &l.Requests,
			&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Known, &l.Cost.Cost, &l.Cost.Unknown); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}
