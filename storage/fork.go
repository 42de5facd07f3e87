package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Fork implements [backend.Store].
func (s *Store) Fork(ctx context.Context, c backend.Copy) (int64, error) {
	if err := backend.CheckSessionID(c.Session.ID); err != nil {
		return 0, err
	}
	seq, err := s.fork(ctx, c)
	return seq, s.failed("fork the session", err)
}

func (s *Store) fork(ctx context.Context, c backend.Copy) (_ int64, err error) {
	tx, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	info := c.Session
	if err := s.unused(ctx, tx, info.ID); err != nil {
		return 0, err
	}
	committing := false
	defer func() {
		if err != nil && !committing { // a commit that fails may be there all the same
			_ = os.RemoveAll(s.blobDir(info.ID))
		}
	}()
	cols, err := columns(info)
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, s.query["insert-session"], cols...); err != nil {
		return 0, fmt.Errorf("insert session: %w", err)
	}
	if err := s.copyEvents(ctx, tx, c); err != nil {
		return 0, err
	}
	info.Seq = c.Through
	for _, ev := range c.Then {
		ev.Session, ev.Seq = info.ID, info.Seq+1
		info.Apply(ev)
		if err := s.insert(ctx, tx, ev, info); err != nil {
			return 0, err
		}
	}
	if cols, err = columns(info); err != nil {
		return 0, err
	}
	if _, err := s.in(tx, "update-session").ExecContext(ctx, cols...); err != nil {
		return 0, fmt.Errorf("update session: %w", err)
	}
	committing = true
	if err := tx.Commit(); err != nil {
		return 0, err
	}
	s.mark.stored(info.ID, info.Seq)
	return info.Seq, nil
}

// unused returns an error if there is a session with this id. It removes the files
// that a fork left whose transaction failed: they may be links to those of another
// session, and must not be written to.
func (s *Store) unused(ctx context.Context, tx *sql.Tx, id string) error {
	var newest int64
	if err := s.in(tx, "select-last-seq").QueryRowContext(ctx, id).Scan(&newest); err != nil {
		return err
	}
	_, _, err := s.scanInfo(s.in(tx, "select-session").QueryRowContext(ctx, id))
	if newest > 0 || !errors.Is(err, sql.ErrNoRows) {
		return backend.Problem(backend.ProblemSessionTaken, id)
	}
	return os.RemoveAll(s.blobDir(id))
}

// copyEvents copies rows as they are, without decoding their data, and
// recomputes their checksums, which cover the session's id.
func (s *Store) copyEvents(ctx context.Context, tx *sql.Tx, c backend.Copy) error {
	rows, err := s.read.QueryContext(ctx, s.query["select-oldest-events"], c.From, 0, c.Through+1, -1)
	if err != nil {
		return err
	}
	defer rows.Close()
	insert, linked := s.in(tx, "insert-event"), false
	for rows.Next() {
		ev, r, err := s.scanWhole(rows, c.From)
		if err != nil {
			return err
		}
		if checksumAs(ev, r.kind, r.body) != r.sum {
			continue // it is missing in the copy, too
		}
		ev.Session = c.Session.ID
		sum := checksumAs(ev, r.kind, r.body)
		if r.blob.Valid {
			if r.blob.String, err = s.linkBlob(c.From, ev, r); err != nil {
				return err
			}
			r.body, linked = []byte{}, true
		}
		if _, err := insert.ExecContext(ctx, ev.Session, ev.Seq, ev.Turn, r.kind, ev.At, r.body, r.blob, sum); err != nil {
			return fmt.Errorf("insert event: %w", err)
		}
	}
	if err := rows.Err(); err != nil || !linked {
		return err
	}
	return syncDir(s.blobDir(c.Session.ID))
}

// scanWhole reads a row with the data of its file, but does not decode it. A row
// that cannot be read has no checksum that fits.
func (s *Store) scanWhole(row scanner, session string) (ev agent.Event, r storedEvent, err error) {
	ev.Session = session
	if err := row.Scan(&ev.Seq, &ev.Turn, &r.kind, &ev.At, &r.body, &r.blob, &r.sum); err != nil {
		if !isConversion(err) {
			return ev, r, err
		}
		return ev, storedEvent{sum: ^checksumAs(ev, "", nil)}, nil
	}
	if !r.blob.Valid {
		return ev, r, nil
	}
	r.body, err = os.ReadFile(filepath.Join(s.blobDir(session), filepath.Base(r.blob.String)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ev, storedEvent{sum: ^checksumAs(ev, "", nil)}, nil
	case err != nil:
		return ev, r, unreadable(err)
	}
	return ev, r, nil
}

// linkBlob gives a session the file of another one's event, which is never written
// to again. Where files cannot have two names, it is copied.
func (s *Store) linkBlob(from string, ev agent.Event, r storedEvent) (name string, err error) {
	dir, err := s.makeBlobDir(ev.Session)
	if err != nil {
		return "", err
	}
	name = strconv.FormatInt(ev.Seq, 10) + ".json"
	if os.Link(filepath.Join(s.blobDir(from), filepath.Base(r.blob.String)), filepath.Join(dir, name)) == nil {
		return name, nil
	}
	return s.writeBlob(ev.Session, ev.Seq, r.body)
}
