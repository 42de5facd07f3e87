package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

func (s *Store) deleteApproval(ctx context.Context, tx *sql.Tx, session, call string) error {
	if _, err := s.in(tx, "delete-approval").ExecContext(ctx, session, call); err != nil {
		return fmt.Errorf("delete approval: %w", err)
	}
	return nil
}

// PendingApproval implements [backend.Store].
func (s *Store) PendingApproval(ctx context.Context, id string) (string, error) {
	var session string
	err := s.read.QueryRowContext(ctx, s.query["select-approval"], id).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return "", backend.Problem(backend.ProblemApprovalAnswered)
	}
	return session, s.failed("read the approval", err)
}

// approval is a row: a request that nobody has answered, and its place in the log.
type approval struct {
	id, session string
	seq         int64
}

// Approvals implements [backend.Store].
func (s *Store) Approvals(ctx context.Context, folder string) ([]backend.Approval, error) {
	waiting, err := s.approvals(ctx)
	if err != nil {
		return nil, s.failed("list the approvals", err)
	}
	var out []backend.Approval
	for _, row := range waiting {
		info, err := s.Session(ctx, row.session)
		if isGone(err) || err == nil && info.Folder != folder {
			continue
		}
		if err != nil {
			return nil, err
		}
		got, err := s.readEvents(ctx, backend.EventRange{Session: row.session, After: row.seq - 1, Before: row.seq + 1})
		if err != nil {
			return nil, s.failed("list the approvals", err)
		}
		if len(got.events) == 0 {
			continue // it is damaged, and the session asks again when it is opened
		}
		request, ok := got.events[0].Data.(agent.ApprovalRequest)
		if !ok || request.ID != row.id {
			continue
		}
		a := backend.Approval{Session: row.session, Title: info.Title, Since: got.events[0].At, Request: request}
		if info.Helper != nil {
			parent, err := s.Session(ctx, info.Helper.Parent)
			if err != nil && !isGone(err) {
				return nil, err
			}
			a.Title, a.Agent = parent.Title, info.Title
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b backend.Approval) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Request.ID, b.Request.ID))
	})
	return out, nil
}

// isGone reports whether there is no such session.
func isGone(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeNotFound
}

// approvals reads the rows of all folders.
func (s *Store) approvals(ctx context.Context) (out []approval, err error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-approvals"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a approval
		if err := rows.Scan(&a.id, &a.session, &a.seq); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, rows.Err()
}
