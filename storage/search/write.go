package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
)

// timeBits is how many bits of an id count the texts of one millisecond, and
// maxTime the last time that has a place before them.
const (
	timeBits = 12
	maxTime  = 1<<46 - 1
)

// floor returns the first id of a time.
func floor(at int64) int64 { return min(max(at, 0), maxTime) << timeBits }

// write stores a batch in one transaction and empties it. A part that another
// process has written meanwhile is left out.
func (ix *Index) write(ctx context.Context, b *batch) error {
	if len(b.parts) == 0 {
		return nil
	}
	tx, err := ix.db.write.BeginTx(ctx, nil)
	if err != nil {
		return failed(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	w := writer{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}, written: map[string]known{}}
	var docs []placed
	for _, p := range b.parts {
		id, ok := w.session(p)
		if !ok {
			continue
		}
		docs = append(docs, placed{id, titleOf(p.info)})
		for _, d := range p.docs {
			docs = append(docs, placed{id, d})
		}
	}
	// FTS5 is fast if ids ascend.
	slices.SortStableFunc(docs, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for _, d := range docs {
		w.doc(d)
	}
	if w.err != nil {
		return failed(w.err)
	}
	if err := tx.Commit(); err != nil {
		return failed(err)
	}
	for id, k := range w.written {
		ix.db.have[id] = k
	}
	*b = batch{}
	return nil
}

func failed(err error) error { return fmt.Errorf("write the search index: %w", err) }

func isNone(err error) bool { return errors.Is(err, sql.ErrNoRows) }

// placed is a text with the session that it belongs to.
type placed struct {
	session int64
	doc
}

// writer writes in one transaction. It keeps the first error and then does nothing.
type writer struct {
	ctx      context.Context
	tx       *sql.Tx
	prepared map[string]*sql.Stmt
	written  map[string]known // sessions
	err      error
}

// run executes a statement, and returns the id of the row that it inserted.
func (w *writer) run(query string, args ...any) int64 {
	s := w.prepare(query)
	if w.err != nil {
		return 0
	}
	done, err := s.ExecContext(w.ctx, args...)
	if err != nil {
		w.err = err
		return 0
	}
	id, err := done.LastInsertId()
	w.err = err
	return id
}

// number reads one number; false if there is none.
func (w *writer) number(query string, args ...any) (n int64, ok bool) {
	s := w.prepare(query)
	if w.err != nil {
		return 0, false
	}
	var found sql.NullInt64
	if err := s.QueryRowContext(w.ctx, args...).Scan(&found); err != nil && !isNone(err) {
		w.err = err
	}
	return found.Int64, found.Valid
}

func (w *writer) prepare(query string) *sql.Stmt {
	s := w.prepared[query]
	if s == nil && w.err == nil {
		s, w.err = w.tx.PrepareContext(w.ctx, query)
		w.prepared[query] = s
	}
	return s
}

// session writes the row of a session and removes what the part replaces. It
// reports false if the part does not continue what is stored.
func (w *writer) session(p part) (id int64, ok bool) {
	id, exists := w.number("SELECT id FROM sessions WHERE name = ?", p.info.ID)
	if exists {
		seq, _ := w.number("SELECT seq FROM sessions WHERE id = ?", id)
		switch {
		case p.from == 0:
			w.remove(id)
		case seq != p.from:
			return 0, false
		default:
			w.unname(id)
		}
		w.run("DELETE FROM sessions WHERE id = ?", id)
	} else if p.from != 0 {
		return 0, false
	}
	rewound, err := json.Marshal(p.info.Rewound)
	w.err = cmp.Or(w.err, err)
	i := p.info
	parent := ""
	if i.Helper != nil {
		parent = i.Helper.Parent
	}
	var reuse any
	if exists {
		reuse = id
	}
	// The folder and the time of the head are those of the list once all is read.
	headAt := p.headAt
	if p.seq < i.Seq {
		headAt = -1
	}
	id = w.run(`INSERT INTO sessions (id, name, folder, parent, seq, read_at, head_at, title, tags, cost, archived, deleted, model, copied, rewound)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		reuse, i.ID, i.Folder, parent, p.seq, p.readAt, headAt, i.Title, tagsOf(i), int64(i.Cost.Cost), i.Marks.Archived,
		i.Marks.Deleted != 0, p.model, p.copied, string(rewound))
	w.written[i.ID] = known{id: id, folder: i.Folder, seq: p.seq, readAt: p.readAt, headAt: headAt, model: p.model, copied: p.copied}
	return id, w.err == nil
}

// remove removes the texts of a session.
func (w *writer) remove(id int64) {
	w.run("DELETE FROM grams WHERE rowid IN (SELECT id FROM docs WHERE session = ?)", id)
	w.run("DELETE FROM texts WHERE id IN (SELECT id FROM docs WHERE session = ?)", id)
	w.run("DELETE FROM docs WHERE session = ?", id)
	w.run("DELETE FROM touched WHERE session = ?", id)
}

// unname removes the name of a session, which may have another one now.
func (w *writer) unname(id int64) {
	doc, ok := w.number("SELECT id FROM docs WHERE session = ? AND seq = 0 AND kind = ?", id, agent.KindTitle)
	if !ok {
		return
	}
	for _, query := range []string{"DELETE FROM grams WHERE rowid = ?", "DELETE FROM texts WHERE id = ?", "DELETE FROM docs WHERE id = ?"} {
		w.run(query, doc)
	}
}

// doc writes one text.
func (w *writer) doc(d placed) {
	id := w.free(d.at)
	w.run("INSERT INTO docs (id, session, seq, kind, part, call, tool, model) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		id, d.session, d.seq, d.kind, d.part, d.call, d.tool, d.model)
	w.run("INSERT INTO texts (id, text) VALUES (?, ?)", id, d.text)
	// A sequence begins at each character, also at the last two.
	w.run("INSERT INTO grams (rowid, text) VALUES (?, ?)", id, fold(d.text)+"  ")
	for _, path := range d.paths {
		w.run("INSERT OR IGNORE INTO paths (path) VALUES (?)", path)
		w.run("INSERT OR IGNORE INTO touched (path, session, doc) SELECT id, ?, ? FROM paths WHERE path = ?", d.session, id, path)
	}
}

// free returns an id for a text of a time. Texts that do not fit into their
// millisecond come in the next one.
func (w *writer) free(at int64) int64 {
	for first := floor(at); ; first += 1 << timeBits {
		last := first + 1<<timeBits - 1
		switch id, ok := w.number("SELECT max(id) FROM docs WHERE id BETWEEN ? AND ?", first, last); {
		case !ok:
			return first
		case id < last:
			return id + 1
		}
	}
}

// forget removes sessions that do not exist any more.
func (ix *Index) forget(ctx context.Context, lost map[string]known) error {
	if len(lost) == 0 {
		return nil
	}
	tx, err := ix.db.write.BeginTx(ctx, nil)
	if err != nil {
		return failed(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	w := writer{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}, written: map[string]known{}}
	for name := range lost {
		if id, ok := w.number("SELECT id FROM sessions WHERE name = ?", name); ok {
			w.remove(id)
			w.run("DELETE FROM sessions WHERE id = ?", id)
		}
	}
	if w.err != nil {
		return failed(w.err)
	}
	if err := tx.Commit(); err != nil {
		return failed(err)
	}
	for name := range lost {
		delete(ix.db.have, name)
	}
	return nil
}
