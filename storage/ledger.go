package storage

import (
	"context"
	"database/sql"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// ledgerColumns are the columns of a row without its checksum. firstFigure to
// lastFigure are the tokens and costs of a request.
const (
	ledgerColumns = 14
	firstFigure   = 7
	lastFigure    = 12
)

// enter adds the request of an event to the ledger (OAS-114).
func (s *Store) enter(ctx context.Context, tx *sql.Tx, ev agent.Event, info backend.SessionInfo, r agent.SideRequest) error {
	row := ledgerRow(ev, info, r)
	if _, err := s.in(tx, "insert-ledger").ExecContext(ctx, append(row, sumOf(row...))...); err != nil {
		return fmt.Errorf("insert ledger row: %w", err)
	}
	return nil
}

// ledgerRow returns a row in the stored form, without its checksum.
func ledgerRow(ev agent.Event, info backend.SessionInfo, r agent.SideRequest) []any {
	if r.Purpose == agent.PurposeTurn && info.Helper != nil {
		r.Purpose = agent.PurposeSubagent
	}
	u := r.Usage
	row := []any{ev.Session, ev.Seq, info.Folder, int64(ev.Turn), string(r.Purpose), r.Provider, r.Model}
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if u.Known {
			row = append(row, n)
		} else {
			row = append(row, nil)
		}
	}
	if r.Cost != nil {
		row = append(row, int64(*r.Cost))
	} else {
		row = append(row, nil)
	}
	return append(row, ev.At)
}

// Costs implements [backend.Store].
func (s *Store) Costs(ctx context.Context, folder, session string) (backend.CostSummary, error) {
	out, err := s.costs(ctx, folder, session)
	return out, s.failed("add up the costs", err)
}

// CostsBetween implements [backend.Store].
func (s *Store) CostsBetween(ctx context.Context, folder string, from, to int64) (map[string]llm.Spending, error) {
	rows, err := s.read.QueryContext(ctx, s.query["costs-between"], folder, from, to)
	if err != nil {
		return nil, s.failed("add up the costs", err)
	}
	defer rows.Close()
	spent := map[string]llm.Spending{}
	for rows.Next() {
		var session string
		var sum llm.Spending
		if err := rows.Scan(&session, &sum.Cost, &sum.Unknown); err != nil {
			return nil, s.failed("add up the costs", err)
		}
		spent[session] = sum
	}
	return spent, s.failed("add up the costs", rows.Err())
}

func (s *Store) costs(ctx context.Context, folder, session string) (out backend.CostSummary, err error) {
	rows, err := s.read.QueryContext(ctx, s.query["costs"], folder, session)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	out.Total.Usage.Known = true
	for rows.Next() {
		var part string
		var l backend.CostLine
		u := &l.Usage
		if err := rows.Scan(&part, &l.Provider, &l.Model, &l.Session, &l.Title, &l.Day, &l.Turn, &l.Purpose, &l.Requests,
			&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Known, &l.Cost.Cost, &l.Cost.Unknown); err != nil {
			return out, err
		}
		switch part {
		case "model":
			out.Models = append(out.Models, l)
			out.Total.Requests += l.Requests
			out.Total.Usage = out.Total.Usage.Add(l.Usage)
			out.Total.Cost.Cost += l.Cost.Cost
			out.Total.Cost.Unknown += l.Cost.Unknown
		case "session":
			out.Sessions = append(out.Sessions, l)
		case "day":
			out.Days = append(out.Days, l)
		case "turn":
			out.Turns = append(out.Turns, l)
		case "purpose":
			out.Purposes = append(out.Purposes, l)
		}
	}
	return out, rows.Err()
}
