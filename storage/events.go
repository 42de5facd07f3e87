package storage

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// blobThreshold is the size from which an event's data is kept in a file, so
// that the database's pages stay small (K-11).
const blobThreshold = 256 << 10

// Append implements [backend.Store].
func (s *Store) Append(ctx context.Context, events ...agent.Event) (int64, error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return 0, s.failed("save what happened", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	info, err := s.appendTo(ctx, tx, events)
	if err != nil {
		return 0, s.failed("save what happened", err)
	}
	if err := tx.Commit(); err != nil {
		return 0, s.failed("save what happened", err)
	}
	s.mark.stored(info.ID, info.Seq)
	return info.Seq, nil
}

// appendTo appends events of one session, and returns its row.
func (s *Store) appendTo(ctx context.Context, tx *sql.Tx, events []agent.Event) (backend.SessionInfo, error) {
	info, err := s.rowForAppend(ctx, tx, events[0].Session)
	if err != nil {
		return info, err
	}
	for _, ev := range events {
		ev.Seq = info.Seq + 1
		info.Apply(ev)
		if err := s.insert(ctx, tx, ev, info); err != nil {
			return info, err
		}
	}
	cols, err := columns(info)
	if err != nil {
		return info, err
	}
	if _, err := s.in(tx, "update-session").ExecContext(ctx, cols...); err != nil {
		return info, fmt.Errorf("update session: %w", err)
	}
	return info, nil
}

// insert writes one event and its consequences, except the session's row.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, ev agent.Event, info backend.SessionInfo) error {
	if err := s.insertRow(ctx, tx, ev); err != nil {
		return err
	}
	if err := s.noteFiles(ctx, tx, ev); err != nil {
		return err
	}
	return s.follow(ctx, tx, ev, info)
}

// follow enters what follows from an event: its cost, and what waits for a person
// or for the model.
func (s *Store) follow(ctx context.Context, tx *sql.Tx, ev agent.Event, info backend.SessionInfo) error {
	if request, ok := agent.RequestOf(ev.Data); ok {
		return s.enter(ctx, tx, ev, info, request)
	}
	switch d := ev.Data.(type) {
	case agent.UserInput:
		return s.dequeue(ctx, tx, d.QueueID)
	case agent.SteeringInjected:
		return s.dequeue(ctx, tx, d.QueueID)
	case agent.ApprovalRequest:
		if _, err := s.in(tx, "insert-approval").ExecContext(ctx, d.ID, ev.Session, d.CallID, ev.Seq); err != nil {
			return fmt.Errorf("insert approval: %w", err)
		}
	case agent.ApprovalAnswer:
		return s.deleteApproval(ctx, tx, ev.Session, d.CallID)
	case agent.ToolCallEnd: // a call may end unanswered if the turn was interrupted
		return s.deleteApproval(ctx, tx, ev.Session, d.CallID)
	}
	return nil
}

// insertRow writes one event and nothing else.
func (s *Store) insertRow(ctx context.Context, tx *sql.Tx, ev agent.Event) error {
	row, err := encode(ev)
	if err != nil {
		return err
	}
	return s.insertEncoded(ctx, tx, row)
}

// encoded is an event as it is stored.
type encoded struct {
	agent.Event
	body []byte
	sum  int64
}

func encode(ev agent.Event) (encoded, error) {
	body, err := json.Marshal(ev.Data)
	if err != nil {
		return encoded{}, fmt.Errorf("encode event: %w", err)
	}
	return encoded{ev, body, checksum(ev, body)}, nil
}

func (s *Store) insertEncoded(ctx context.Context, tx *sql.Tx, ev encoded) error {
	body := ev.body
	var blob sql.NullString
	if len(body) > blobThreshold {
		name, err := s.writeBlob(ev.Session, ev.Seq, body)
		if err != nil {
			return err
		}
		body, blob = []byte{}, sql.NullString{String: name, Valid: true}
	}
	if _, err := s.in(tx, "insert-event").ExecContext(ctx,
		ev.Session, ev.Seq, ev.Turn, ev.Kind(), ev.At, body, blob, ev.sum); err != nil {
		return fmt.Errorf("insert event: %w", err)
	}
	return nil
}

// Events implements [backend.Store].
func (s *Store) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	info, damaged, err := s.row(ctx, r.Session) // before the events, which may grow meanwhile
	missing := errors.Is(err, sql.ErrNoRows)
	if err != nil && !missing {
		return nil, s.failed("read the session", err)
	}
	got, err := s.readEvents(ctx, r)
	if err != nil {
		return nil, s.failed("read the session", err)
	}
	from, to := r.After+1, info.Seq
	if damaged || missing {
		to = got.last
	}
	if r.Before > 0 {
		to = min(to, r.Before-1)
	}
	if r.Limit > 0 && got.rows == r.Limit { // there may be more that were not requested
		if r.Newest {
			from = got.first
		} else {
			to = got.last
		}
	}
	return withoutGaps(r.Session, got.events, from, to), nil
}

// found is the part of a session's log that was read.
type found struct {
	events []agent.Event // those that can be read
	rows   int           // how many there are in all
	// first and last are the places of the first and the last row, even if that
	// row cannot be read.
	first, last int64
}

// readEvents reads all readable events.
func (s *Store) readEvents(ctx context.Context, r backend.EventRange) (got found, err error) {
	query := s.query["select-oldest-events"]
	if r.Newest {
		query = s.query["select-newest-events"]
	}
	before, limit := r.Before, r.Limit
	if before == 0 {
		before = maxSeq
	}
	if limit == 0 {
		limit = -1
	}
	rows, err := s.read.QueryContext(ctx, query, r.Session, r.After, before, limit)
	if err != nil {
		return found{}, err
	}
	defer rows.Close()
	for rows.Next() {
		ev, damaged, err := s.scanEvent(rows, r.Session)
		if err != nil {
			return found{}, err
		}
		if got.rows == 0 {
			got.first = ev.Seq
		}
		got.rows++
		if damaged != nil {
			s.tellDamaged(r.Session, ev.Seq, damaged)
		} else if n := len(got.events); n == 0 || ev.Seq > got.events[n-1].Seq {
			got.events = append(got.events, ev)
		}
		got.last = max(got.last, ev.Seq)
	}
	return got, rows.Err()
}

// scanEvent reads a row. It tells a damaged row from a failure to read it; only
// the place of a damaged row may be right.
func (s *Store) scanEvent(row scanner, session string) (ev agent.Event, damaged, err error) {
	ev.Session = session
	var r storedEvent
	if err := row.Scan(&ev.Seq, &ev.Turn, &r.kind, &ev.At, &r.body, &r.blob, &r.sum); err != nil {
		if isConversion(err) {
			return ev, err, nil
		}
		return ev, nil, err
	}
	return s.decode(ev, r)
}

// storedEvent has the columns of an event that have to be decoded.
type storedEvent struct {
	kind agent.Kind
	body []byte
	blob sql.NullString
	sum  int64
}

// decode adds an event's data and checks it.
func (s *Store) decode(ev agent.Event, r storedEvent) (_ agent.Event, damaged, err error) {
	if r.blob.Valid {
		r.body, err = os.ReadFile(filepath.Join(s.blobDir(ev.Session), filepath.Base(r.blob.String)))
		if errors.Is(err, fs.ErrNotExist) {
			return ev, err, nil
		}
		if err != nil {
			return ev, nil, unreadable(err)
		}
	}
	data, err := agent.DecodePayload(r.kind, r.body)
	if err != nil && s.newer {
		ev.Data = agent.Warn(agent.WarnNewerEvent, strconv.FormatInt(ev.Seq, 10))
		return ev, nil, nil
	}
	if err != nil {
		return ev, err, nil
	}
	ev.Data = data
	if checksum(ev, r.body) != r.sum && !s.newer { // a newer program may compute it in another way
		return ev, errChecksum, nil
	}
	return ev, nil, nil
}

var crcTable = crc64.MakeTable(crc64.ECMA)

// checksum covers every column of an event's row and the data in its file.
func checksum(ev agent.Event, body []byte) int64 { return checksumAs(ev, ev.Kind(), body) }

// checksumAs is checksum of an event whose data has not been decoded.
func checksumAs(ev agent.Event, kind agent.Kind, body []byte) int64 {
	head := fmt.Appendf(nil, "%s\x00%s\x00", ev.Session, kind)
	head = binary.BigEndian.AppendUint64(head, uint64(ev.Seq))
	head = binary.BigEndian.AppendUint64(head, uint64(ev.Turn))
	head = binary.BigEndian.AppendUint64(head, uint64(ev.At))
	return int64(crc64.Update(crc64.Checksum(head, crcTable), crcTable, body))
}

// blobDir is the folder of a session's large events. We create the session ids,
// which are safe as names.
func (s *Store) blobDir(session string) string {
	return filepath.Join(s.home, "blobs", filepath.Base(session))
}

// makeBlobDir returns a session's folder for data, and creates it if it is missing.
// A new folder is synced into those above it: a file in it would not outlast a power
// failure otherwise.
func (s *Store) makeBlobDir(session string) (string, error) {
	dir := s.blobDir(session)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make blob folder: %w", err)
	}
	return dir, errors.Join(syncDir(filepath.Dir(dir)), syncDir(s.home))
}

// writeBlob syncs an event's data to disk before the row that names it. The
// next attempt overwrites the file of a failed transaction.
func (s *Store) writeBlob(session string, seq int64, body []byte) (string, error) {
	dir, err := s.makeBlobDir(session)
	if err != nil {
		return "", err
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
