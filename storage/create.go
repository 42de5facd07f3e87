package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// A long log is stored in parts of limited size. Other sessions and other processes,
// which wait for some seconds only, can store their events between two parts.
const (
	partEvents = 1000
	partBytes  = 2 << 20
)

// CreateSessionFrom implements [backend.Store].
func (s *Store) CreateSessionFrom(ctx context.Context, info backend.SessionInfo, events iter.Seq2[agent.Event, error]) (backend.SessionInfo, error) {
	const doing = "save the session"
	release, err := s.Lease(info.ID) // so that nobody takes it for one that a crash cut off
	if err != nil {
		return info, err
	}
	defer release()
	c := creation{Store: s, info: info}
	err = c.fill(ctx, events)
	if err == nil {
		s.mark.stored(info.ID, c.info.Seq)
		return c.info, nil
	}
	left := c.remove(context.WithoutCancel(ctx))
	if c.unread != nil {
		return info, errors.Join(c.unread, left)
	}
	return info, errors.Join(s.failed(doing, err), left)
}

// creation is a session whose log is being stored.
type creation struct {
	*Store
	info    backend.SessionInfo // after all events that were read
	part    []encoded
	bytes   int
	created bool
	unread  error // of the source, for which the store is not to blame
}

// remove removes what was stored. If the id was in use, nothing is removed.
func (c *creation) remove(ctx context.Context) error {
	if c.created {
		return c.dropUnfinished(ctx, c.info.ID)
	}
	if _, err := c.Session(ctx, c.info.ID); err == nil {
		return nil
	}
	return os.RemoveAll(c.blobDir(c.info.ID))
}

// fill stores the events, and then shows the session.
func (c *creation) fill(ctx context.Context, events iter.Seq2[agent.Event, error]) error {
	for ev, err := range events {
		if err != nil {
			c.unread = err
			return err
		}
		if c.info.CreatedAt == 0 {
			c.info.CreatedAt = ev.At
		}
		ev.Session, ev.Seq = c.info.ID, c.info.Seq+1
		c.info.Apply(ev)
		row, err := encode(ev)
		if err != nil {
			return err
		}
		c.part = append(c.part, row)
		if c.bytes += len(row.body); len(c.part) >= partEvents || c.bytes >= partBytes {
			if err := c.store(ctx, false); err != nil {
				return err
			}
		}
	}
	return c.store(ctx, true)
}

// store stores a part. Before the last one the session counts as deleted, and is noted
// as unfinished.
func (c *creation) store(ctx context.Context, last bool) error {
	row := c.info
	if !last {
		row.Marks.Deleted = time.Now().UnixMilli()
	}
	tx, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := c.insertPart(ctx, tx, row); err != nil {
		return err
	}
	note := unfinished + row.ID
	switch {
	case last:
		_, err = tx.ExecContext(ctx, c.query["delete-setting"], note)
	case !c.created:
		_, err = tx.ExecContext(ctx, c.query["upsert-setting"], note, "1", sumOf(note, "1"))
	}
	if err != nil {
		return fmt.Errorf("note that the session is unfinished: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	c.created, c.part, c.bytes = true, c.part[:0], 0
	return nil
}

// insertPart writes the row of the session and a part of its events.
func (c *creation) insertPart(ctx context.Context, tx *sql.Tx, row backend.SessionInfo) error {
	cols, err := columns(row)
	if err != nil {
		return err
	}
	if !c.created {
		if _, err := tx.ExecContext(ctx, c.query["insert-session"], cols...); err != nil {
			return fmt.Errorf("insert session: %w", err)
		}
	} else if _, err := c.in(tx, "update-session").ExecContext(ctx, cols...); err != nil {
		return fmt.Errorf("update session: %w", err)
	}
	for _, ev := range c.part {
		if err := c.insertEncoded(ctx, tx, ev); err != nil {
			return err
		}
	}
	return nil
}

// unfinished is followed by the id of a session of which not all parts are stored. The
// setting goes with the last part, in its transaction.
const unfinished = "unfinished "

// DropUnfinished implements [backend.Store].
func (s *Store) DropUnfinished(ctx context.Context) error {
	ids, err := s.unfinished(ctx)
	if err != nil {
		return s.failed("look for unfinished sessions", err)
	}
	for _, id := range ids {
		release, err := s.Lease(id)
		if err != nil {
			continue // it is being stored
		}
		err = s.dropUnfinished(ctx, id)
		release()
		if err != nil {
			return err
		}
	}
	return nil
}

// unfinished lists the sessions that were not stored completely.
func (s *Store) unfinished(ctx context.Context) (ids []string, err error) {
	rows, err := s.read.QueryContext(ctx, s.query["select-unfinished"])
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimPrefix(key, unfinished))
	}
	return ids, rows.Err()
}

// dropUnfinished removes a session that is unfinished. The caller has its lease. One
// that was completed meanwhile, or that a person brought back, stays.
func (s *Store) dropUnfinished(ctx context.Context, id string) error {
	const doing = "remove an unfinished session"
	var noted string
	switch err := s.read.QueryRowContext(ctx, s.query["select-setting"], unfinished+id).Scan(&noted, new(sql.NullInt64)); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return s.failed(doing, err)
	}
	info, err := s.Session(ctx, id)
	if err == nil && info.Marks.Deleted != 0 {
		err = s.DeleteSessions(ctx, id)
	}
	if e := (*backend.Error)(nil); err != nil && !(errors.As(err, &e) && e.Code == backend.CodeNotFound) {
		return err
	}
	return s.failed(doing, s.execute(ctx, "delete-setting", unfinished+id))
}
