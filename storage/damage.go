package storage

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// maxSeq is beyond every place in a log. Pages count places as JavaScript does.
const maxSeq = 1 << 53

var errChecksum = errors.New("the checksum does not match")

// isConversion reports whether a column has a value of the wrong type.
// database/sql has no error of its own for that.
func isConversion(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "sql: Scan error")
}

// tellDamaged logs that an event is damaged, once for each session, because
// repeated reads would fill the log.
func (s *Store) tellDamaged(session string, seq int64, err error) {
	if _, told := s.told.LoadOrStore(session, true); !told {
		slog.Warn("an event is damaged; others of its session are not reported", "session", session, "seq", seq, "err", err)
	}
}

// unreadable explains a failure to read an existing file of an event.
func unreadable(err error) error {
	return backend.Problem(backend.ProblemEventUnread).Because(err)
}

// withoutGaps inserts a warning for each run of missing events between two
// places.
func withoutGaps(session string, events []agent.Event, from, to int64) []agent.Event {
	var out []agent.Event
	for i, ev := range events {
		if ev.Seq > from {
			out = append(out, lost(session, events, i, from, ev.Seq-1))
		}
		out = append(out, ev)
		from = ev.Seq + 1
	}
	if from <= to {
		out = append(out, lost(session, events, len(events), from, to))
	}
	return out
}

// lost returns a warning for the events of these places, which were before the
// i-th.
func lost(session string, events []agent.Event, i int, from, to int64) agent.Event {
	ev := agent.Event{Session: session, Seq: from, Data: agent.Lost(from, to)}
	if i > 0 {
		ev.Turn, ev.At = events[i-1].Turn, events[i-1].At
	} else if len(events) > 0 {
		ev.Turn, ev.At = events[0].Turn, events[0].At
	}
	return ev
}

// row reads a session's row, and reports whether it is damaged. Its id is
// always the requested one.
func (s *Store) row(ctx context.Context, id string) (info backend.SessionInfo, damaged bool, err error) {
	info, damaged, err = s.scanInfo(s.read.QueryRowContext(ctx, s.query["select-session"], id))
	info.ID = id
	return info, damaged, err
}

// rebuild folds a session's row from its log. If the log is so old that
// [agent.SessionStart] does not name the parent, the row's helper stays as it is.
// It fails with [sql.ErrNoRows] if there is no log.
func (s *Store) rebuild(ctx context.Context, row backend.SessionInfo) (backend.SessionInfo, error) {
	got, err := s.readEvents(ctx, backend.EventRange{Session: row.ID})
	if err != nil {
		return row, err
	}
	if len(got.events) == 0 {
		return row, sql.ErrNoRows
	}
	info := backend.SessionInfo{
		ID: row.ID, Folder: row.Folder, State: agent.StateIdle, CreatedAt: got.events[0].At, Helper: row.Helper,
		Settings: agent.Settings{Mode: agent.ModeDefault}, Damaged: true,
	}
	info.Usage.Known = true
	for _, ev := range got.events {
		if start, ok := ev.Data.(agent.SessionStart); ok {
			info.Folder = cmp.Or(start.Folder, info.Folder)
			info.Helper = cmp.Or(start.Helper, info.Helper)
		}
		info.Apply(ev)
	}
	info.Seq = got.last
	return info, nil
}

// parentOf reads from a session's log which session started it. The result is
// empty if a user did, or if the log does not say so.
func (s *Store) parentOf(ctx context.Context, id string) (string, error) {
	got, err := s.readEvents(ctx, backend.EventRange{Session: id, Limit: 1})
	if err != nil || len(got.events) == 0 {
		return "", err
	}
	if start, ok := got.events[0].Data.(agent.SessionStart); ok && start.Helper != nil {
		return start.Helper.Parent, nil
	}
	return "", nil
}

// rowForAppend reads the row that an append changes. A row that is damaged,
// missing or behind its log is rebuilt, and the append thereby repairs it.
func (s *Store) rowForAppend(ctx context.Context, tx *sql.Tx, id string) (backend.SessionInfo, error) {
	var newest int64
	if err := s.in(tx, "select-last-seq").QueryRowContext(ctx, id).Scan(&newest); err != nil {
		return backend.SessionInfo{}, err
	}
	info, damaged, err := s.scanInfo(s.in(tx, "select-session").QueryRowContext(ctx, id))
	missing := errors.Is(err, sql.ErrNoRows)
	switch {
	case err != nil && !missing:
		return info, err
	case !missing && !damaged && newest <= info.Seq:
		return info, nil
	}
	info.ID = id
	if info, err = s.rebuild(ctx, info); errors.Is(err, sql.ErrNoRows) {
		return info, noSession(id)
	} else if err != nil {
		return info, err
	}
	slog.Warn("rebuilding a session's row from its log", "session", id)
	info.Damaged = false
	info.Seq = max(info.Seq, newest)
	if missing {
		cols, err := columns(info)
		if err != nil {
			return info, err
		}
		if _, err := tx.ExecContext(ctx, s.query["insert-session"], cols...); err != nil {
			return info, fmt.Errorf("insert session: %w", err)
		}
	}
	return info, nil
}

// findDamage finds sessions that a list would miss: those with a damaged row,
// and those with a log but no row. It counts what is stored and what lists show,
// and finds sessions whose newest events are missing.
func (s *Store) findDamage(ctx context.Context) error {
	rows, err := s.read.QueryContext(ctx, s.query["select-all-sessions"])
	if err != nil {
		return err
	}
	defer rows.Close()
	sound := 0
	var suspects []string
	for rows.Next() {
		info, damaged, err := s.scanInfo(rows)
		if err != nil {
			return err
		}
		if damaged {
			suspects = append(suspects, info.ID)
		} else {
			sound++
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	missing, err := s.texts(ctx, s.query["select-lost-sessions"])
	if err != nil {
		return err
	}
	suspects = append(suspects, missing...)
	shown := sound
	for _, id := range suspects {
		if _, err := s.Session(ctx, id); err == nil {
			shown++
		} else if !isGone(err) {
			return err
		}
	}
	s.health.change(func(state *backend.StoreHealth) { state.Stored, state.Shown = sound+len(suspects), shown })
	s.health.mu.Lock()
	s.health.suspects = suspects
	s.health.mu.Unlock()
	return s.findLostEnds(ctx)
}

// findLostEnds finds sessions whose rows are ahead of their logs.
func (s *Store) findLostEnds(ctx context.Context) error {
	rows, err := s.read.QueryContext(ctx, s.query["select-lost-ends"])
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var lost backend.LostEvents
		if err := rows.Scan(&lost.Session, &lost.From, &lost.To); err != nil {
			return err
		}
		if !slices.Contains(s.health.suspected(), lost.Session) { // the place in a damaged row means nothing
			s.health.gone(lost)
		}
	}
	return rows.Err()
}

// texts returns the first column of a query's rows.
func (s *Store) texts(ctx context.Context, query string) (out []string, err error) {
	rows, err := s.read.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, rows.Err()
}
