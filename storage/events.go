package storage

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// blobThreshold is the size from which an event's data lies in a file of its
// own, so that pages of the database stay small (K-11).
const blobThreshold = 256 << 10

// Append implements [backend.Store].
func (s *Store) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return 0, s.failed("save what happened", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	session := events[0].Session
	info, err := scanInfo(s.in(tx, "select-session").QueryRowContext(ctx, session))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, noSession(session)
	}
	if err != nil {
		return 0, s.failed("save what happened", err)
	}
	for _, ev := range events {
		ev.Seq = info.Seq + 1
		info.Apply(ev)
		if err := s.insert(ctx, tx, ev, info); err != nil {
			return 0, s.failed("save what happened", err)
		}
	}
	if err := s.update(ctx, tx, info); err != nil {
		return 0, s.failed("save what happened", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, s.failed("save what happened", err)
	}
	return info.Seq, nil
}

// insert writes one event and what follows from it, but for the session's row.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, ev agent.Event, info backend.SessionInfo) error {
	body, err := json.Marshal(ev.Data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	sum := checksum(ev, body)
	var blob sql.NullString
	if len(body) > blobThreshold {
		name, err := s.writeBlob(ev.Session, ev.Seq, body)
		if err != nil {
			return err
		}
		body, blob = []byte{}, sql.NullString{String: name, Valid: true}
	}
	if _, err := s.in(tx, "insert-event").ExecContext(ctx,
		ev.Session, ev.Seq, ev.Turn, ev.Kind(), ev.At, body, blob, sum); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	switch d := ev.Data.(type) {
	case agent.Retrying:
		if d.Sent {
			return s.enter(ctx, tx, ev, info, agent.SideRequest{Purpose: agent.PurposeTurn, Provider: d.Provider, Model: d.Model})
		}
	case agent.TextEnd:
		return s.enter(ctx, tx, ev, info, agent.SideRequest{
			Purpose: agent.PurposeTurn, Provider: d.Provider, Model: d.Model, Usage: d.Usage, Cost: d.Cost,
		})
	case agent.SideRequest:
		return s.enter(ctx, tx, ev, info, d)
	case agent.UserInput:
		return s.dequeue(ctx, tx, d.QueueID)
	case agent.SteeringInjected:
		return s.dequeue(ctx, tx, d.QueueID)
	case agent.ApprovalRequest:
		if _, err := s.in(tx, "insert-approval").ExecContext(ctx, d.ID, ev.Session, d.CallID); err != nil {
			return fmt.Errorf("insert approval: %w", err)
		}
	case agent.ApprovalAnswer:
		return s.deleteApproval(ctx, tx, ev.Session, d.CallID)
	case agent.ToolCallEnd: // a call may end unanswered: the turn was interrupted
		return s.deleteApproval(ctx, tx, ev.Session, d.CallID)
	}
	return nil
}

func (s *Store) deleteApproval(ctx context.Context, tx *sql.Tx, session, call string) error {
	if _, err := s.in(tx, "delete-approval").ExecContext(ctx, session, call); err != nil {
		return fmt.Errorf("delete approval: %w", err)
	}
	return nil
}

// update writes what lists show of the session.
func (s *Store) update(ctx context.Context, tx *sql.Tx, info backend.SessionInfo) error {
	settings, usage, err := encodeInfo(info)
	if err != nil {
		return err
	}
	if _, err := s.in(tx, "update-session").ExecContext(ctx, info.Title, info.State, settings,
		info.UpdatedAt, info.Seq, info.LastEnd, usage, info.Context,
		info.Cost.Cost, info.Cost.Unknown, info.ID); err != nil {
		return fmt.Errorf("update session: %w", err)
	}
	return nil
}

// Events implements [backend.Store].
func (s *Store) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	query := s.query["select-oldest-events"]
	if r.Newest {
		query = s.query["select-newest-events"]
	}
	before, limit := r.Before, r.Limit
	if before == 0 {
		before = math.MaxInt64
	}
	if limit == 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, query, r.Session, r.After, before, limit)
	if err != nil {
		return nil, s.failed("read the session", err)
	}
	defer rows.Close()
	var out []agent.Event
	for rows.Next() {
		ev, err := s.scanEvent(rows, r.Session)
		if err != nil {
			return nil, s.failed("read the session", err)
		}
		out = append(out, ev)
	}
	return out, s.failed("read the session", rows.Err())
}

func (s *Store) scanEvent(row scanner, session string) (agent.Event, error) {
	ev := agent.Event{Session: session}
	var kind agent.Kind
	var body []byte
	var blob sql.NullString
	var sum int64
	if err := row.Scan(&ev.Seq, &ev.Turn, &kind, &ev.At, &body, &blob, &sum); err != nil {
		return ev, err
	}
	if blob.Valid {
		var err error
		if body, err = os.ReadFile(filepath.Join(s.blobDir(session), blob.String)); err != nil {
			return ev, fmt.Errorf("read data of event %d: %w", ev.Seq, err)
		}
	}
	data, err := agent.DecodePayload(kind, body)
	if err == nil {
		ev.Data = data
	}
	if err != nil || checksum(ev, body) != sum {
		return ev, &backend.Error{
			Code:    backend.CodeStoreCorrupt,
			Message: fmt.Sprintf("Event %d of session %s is damaged.", ev.Seq, session),
			Kept:    "Nothing was changed; the other sessions are not affected.",
			Next:    "Make a copy of the database, then restore a backup of it.",
		}
	}
	return ev, nil
}

// PendingApproval implements [backend.Store].
func (s *Store) PendingApproval(ctx context.Context, id string) (string, error) {
	var session string
	err := s.read.QueryRowContext(ctx, s.query["select-approval"], id).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return "", &backend.Error{Code: backend.CodeNotFound, Message: "This request was already answered."}
	}
	return session, s.failed("read the approval", err)
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// checksum covers every column of an event's row and the data in its file.
func checksum(ev agent.Event, body []byte) int64 {
	head := fmt.Appendf(nil, "%s\x00%s\x00", ev.Session, ev.Kind())
	head = binary.BigEndian.AppendUint64(head, uint64(ev.Seq))
	head = binary.BigEndian.AppendUint64(head, uint64(ev.Turn))
	head = binary.BigEndian.AppendUint64(head, uint64(ev.At))
	return int64(crc64.Update(crc64.Checksum(head, crcTable), crcTable, body))
}

// blobDir holds the large events of one session. Session ids are made by us
// and are safe as names.
func (s *Store) blobDir(session string) string {
	return filepath.Join(s.home, "blobs", filepath.Base(session))
}

// writeBlob puts an event's data on the disk before the row that names it. A
// file whose transaction failed is overwritten by the next try.
func (s *Store) writeBlob(session string, seq int64, body []byte) (string, error) {
	dir := s.blobDir(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make blob folder: %w", err)
	}
	name := strconv.FormatInt(seq, 10) + ".json"
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", fmt.Errorf("create blob: %w", err)
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("write blob: %w", err)
	}
	return name, syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open blob folder: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}
