package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
)

// The number of columns of the tables, by which their rows are known.
const (
	eventColumns   = 8
	sessionColumns = 20
	settingColumns = 3
	queueColumns   = 6
	hookColumns    = 13
)

// salvageBatch is how many rows one transaction takes.
const salvageBatch = 2000

// salvage writes the rows that can be read from the pages of a damaged database
// into a new one. A row that has a checksum is taken only if it matches; the rest
// follows from the log.
type salvage struct {
	into *Store // the new database
	from *Store // the folder of the damaged one, for the files of large events
	tx   *sql.Tx
	rows int // of this transaction
	// sessions that have a row in the new database.
	sessions map[string]bool
	// had are the last places that an index names, by session.
	had map[string]int64
	// damagedSettings counts settings whose checksums do not match.
	damagedSettings int
}

// run takes all rows.
func (g *salvage) run(ctx context.Context, p *pages) error {
	err := p.rows(ctx, func(r row) error {
		if err := g.begin(ctx); err != nil {
			return err
		}
		return g.take(ctx, r)
	})
	if g.tx == nil {
		return err
	}
	if err != nil {
		_ = g.tx.Rollback() // the new database is given up
		return err
	}
	return g.tx.Commit()
}

// begin begins a transaction if the last one has taken enough rows.
func (g *salvage) begin(ctx context.Context) (err error) {
	if g.tx != nil && g.rows >= salvageBatch {
		if err := g.tx.Commit(); err != nil {
			return err
		}
		g.tx, g.rows = nil, 0
	}
	g.rows++
	if g.tx == nil {
		g.tx, err = g.into.begin(ctx)
	}
	return err
}

func (g *salvage) take(ctx context.Context, r row) error {
	switch v := r.values; {
	case !r.table && len(v) == eventColumns:
		return g.takeEvent(ctx, v)
	case !r.table && len(v) == 3 && are[int64](v, 0, 2) && are[string](v, 1): // calls_by_time
		session := v[1].(string)
		g.had[session] = max(g.had[session], v[2].(int64))
		return nil
	case !r.table && len(v) == ledgerColumns+1:
		if v[ledgerColumns] != nil && v[ledgerColumns] != sumOf(v[:ledgerColumns]...) || !are[string](v, 0, 2, 4, 5, 6) || !are[int64](v, 1, 3, 13) {
			return nil
		}
		return g.insert(ctx, "salvage-ledger", v...)
	case r.table && len(v) == sessionColumns && are[string](v, 0):
		return g.takeSession(ctx, v)
	case r.table && len(v) == settingColumns && are[string](v, 0, 1):
		if v[2] != nil && v[2] != sumOf(v[0], v[1]) {
			g.damagedSettings++
			return nil
		}
		return g.insert(ctx, "salvage-setting", v...)
	case r.table && (len(v) == queueColumns || len(v) == queueColumns-1) && are[string](v, 0, 1, 3, 4) && are[int64](v, 2):
		if len(v) < queueColumns {
			v = append(v, nil) // written before there were details
		}
		if verb := agent.Verb(v[3].(string)); verb != agent.FollowUp && verb != agent.Steer {
			return nil
		}
		if err := g.session(ctx, v[1].(string)); err != nil {
			return err
		}
		return g.insert(ctx, "salvage-queued", v...)
	case r.table && len(v) == hookColumns && v[0] == nil && are[string](v, 1):
		if v[10] != sumOf(v[1:9]...) || v[12] != sumOf(v[11]) {
			return nil
		}
		if err := g.session(ctx, v[1].(string)); err != nil {
			return err
		}
		v[0] = r.id
		return g.insert(ctx, "salvage-hook-record", v...)
	case r.table:
		if id, ok := g.into.Whole(v); ok {
			return errors.Join(g.session(ctx, id), g.into.Restore(ctx, g.tx, v))
		}
	}
	return nil
}

// sessionOrder is the order of the columns of sessions in a file: as they were
// added. The numbers are those of the queries' order, in which the checksum is last.
var sessionOrder = [sessionColumns]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 19, 17, 13, 14, 15, 18}

// takeSession takes the row of a session: the log may not have all of it.
func (g *salvage) takeSession(ctx context.Context, stored []any) error {
	v := make([]any, sessionColumns)
	for i, at := range sessionOrder {
		v[at] = stored[i]
	}
	sum, covered := v[sessionColumns-1], slices.Clone(v[:sessionColumns-1])
	for _, i := range []int{16, 17} { // the helper and its parent, which most sessions lack
		text, ok := v[i].(string)
		covered[i] = sql.NullString{String: text, Valid: ok}
	}
	if sum != nil && sum != sumOf(covered...) {
		return nil
	}
	g.sessions[v[0].(string)] = true
	return g.insert(ctx, "salvage-session", v...)
}

// are reports whether some values have a type.
func are[T any](values []any, which ...int) bool {
	for _, i := range which {
		if _, ok := values[i].(T); !ok {
			return false
		}
	}
	return true
}

// takeEvent takes an event whose checksum matches.
func (g *salvage) takeEvent(ctx context.Context, v []any) error {
	if !are[string](v, 0, 3) || !are[int64](v, 1, 2, 4, 7) || v[6] != nil && !are[string](v, 6) {
		return nil
	}
	ev := agent.Event{Session: v[0].(string), Seq: v[1].(int64), Turn: int(v[2].(int64)), At: v[4].(int64)}
	body, ok := v[5].([]byte)
	if text, isText := v[5].(string); isText {
		body, ok = []byte(text), true
	}
	if name, large := v[6].(string); large {
		var err error
		body, err = os.ReadFile(filepath.Join(g.from.blobDir(ev.Session), filepath.Base(name)))
		ok = err == nil
	}
	if !ok || ev.Seq < 1 || ev.Seq >= maxSeq || checksumAs(ev, agent.Kind(v[3].(string)), body) != v[7] {
		return nil
	}
	if err := g.session(ctx, ev.Session); err != nil {
		return err
	}
	return g.insert(ctx, "salvage-event", v...)
}

// session makes a place for the row of a session, which is folded from its log.
func (g *salvage) session(ctx context.Context, id string) error {
	if g.sessions[id] {
		return nil
	}
	g.sessions[id] = true
	return g.insert(ctx, "salvage-placeholder", id)
}

func (g *salvage) insert(ctx context.Context, query string, values ...any) error {
	if _, err := g.tx.ExecContext(ctx, g.into.query[query], values...); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}
