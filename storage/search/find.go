package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

// Limits of one search. What is beyond them is searched by the next one.
const (
	usualHits     = 50
	mostHits      = 500
	perSession    = 5      // hits of a session, unless it alone is searched
	maxCandidates = 20_000 // texts looked at
	maxCompared   = 16 << 20
)

// patience limits the wait for the index to catch up before a search answers.
const patience = 200 * time.Millisecond

// Search implements [backend.Searcher].
func (ix *Index) Search(ctx context.Context, in backend.Search) (backend.Found, error) {
	behind, failure := ix.freshen(ctx)
	found, err := ix.search(ctx, in, time.Now())
	if isCorrupt(err) { // the next pass makes it anew
		ix.broken.Store(true)
		behind, failure = ix.freshen(ctx)
		found, err = ix.search(ctx, in, time.Now())
	}
	found.Behind = behind
	switch {
	case errors.Is(err, errNoIndex) && failure != nil:
		err = failure
	case errors.Is(err, errNoIndex) && ctx.Err() == nil: // it is made for the first time
		err = nil
	case failure != nil:
		slog.Warn("could not index what is new in the sessions", "err", failure)
		found.Behind = max(1, behind)
	}
	return found, ix.explain(err)
}

// errNoIndex says that there is nothing to search yet.
var errNoIndex = errors.New("the search index is not open")

// explain says to the user what failed.
func (ix *Index) explain(err error) error {
	var known *backend.Error
	var e sqlite3.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &e) && e.Code == sqlite3.ErrInterrupt:
		return fmt.Errorf("search: %w", errors.Join(context.Canceled, err))
	}
	return backend.Problem(backend.ProblemSearchFailed, ix.path).Because(err)
}

// isCorrupt reports whether the file is damaged.
func isCorrupt(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}

// freshen has the index catch up, and returns how many sessions are still behind
// when patience is at an end.
func (ix *Index) freshen(ctx context.Context) (behind int, failure error) {
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := ix.CatchUp(short); err != nil && short.Err() == nil {
		return 0, err
	} else if err != nil {
		return max(1, int(ix.behind.Load())), nil
	}
	return 0, nil
}

// search looks for a query in what is indexed.
func (ix *Index) search(ctx context.Context, in backend.Search, now time.Time) (backend.Found, error) {
	q := Parse(in.Text, now)
	found := backend.Found{Words: q.Words, Filters: q.Shown}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.db == nil {
		return found, errNoIndex
	}
	if len(q.Words) == 0 && len(q.Filters) == 0 {
		return found, nil
	}
	tx, err := ix.db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was changed
	s := searcher{ctx: ctx, tx: tx, in: in, terms: termsOf(q), sessions: map[int64]*group{}}
	s.limit = in.Limit
	if s.limit <= 0 || s.limit > mostHits {
		s.limit = usualHits
	}
	sel, err := s.selection(q)
	if err != nil {
		return found, err
	}
	next, err := s.run(sel)
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	found.Next = next
	found.Sessions, err = s.results()
	return found, err
}

// terms are what a text has to have and must not have, folded.
type terms struct{ with, without []string }

func termsOf(q Query) (t terms) {
	for _, word := range q.Words {
		t.with = append(t.with, fold(word))
	}
	for _, word := range q.Without {
		t.without = append(t.without, fold(word))
	}
	return t
}

// in reports whether a folded text is wanted.
func (t terms) in(folded string) bool {
	for _, word := range t.with {
		if !strings.Contains(folded, word) {
			return false
		}
	}
	for _, word := range t.without {
		if strings.Contains(folded, word) {
			return false
		}
	}
	return true
}

// searcher is one search.
type searcher struct {
	ctx      context.Context
	tx       *sql.Tx
	in       backend.Search
	terms    terms
	limit    int
	hits     int
	compared int
	sessions map[int64]*group
	order    []*group
	// moment are the hits of the millisecond that is looked at. Copies of an event
	// have the same time.
	moment []*hit
}

// group has the hits of one session.
type group struct {
	session int64
	hits    []*hit
	more    bool
}

// hit is a text that was found.
type hit struct {
	id      int64
	session int64
	copied  bool
	text    string
	folded  string
	backend.SearchHit
}

// run goes through the texts that may match, from the newest one back. It returns
// where to go on.
func (s *searcher) run(sel selection) (next string, err error) {
	rows, err := s.tx.QueryContext(s.ctx, sel.query, sel.args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	last := int64(0)
	for n := 0; rows.Next(); n++ {
		var h hit
		var wanted bool
		if err := rows.Scan(&h.id, &h.session, &h.Seq, &h.Kind, &h.Part, &h.Of, &h.Tool, &h.copied, &wanted); err != nil {
			return "", err
		}
		h.At = h.id >> timeBits
		if last != 0 && last>>timeBits != h.At {
			s.moment = nil
			if n >= maxCandidates || s.hits >= s.limit || s.compared >= maxCompared {
				return strconv.FormatInt(last, 10), nil
			}
		}
		last = h.id
		if !wanted {
			continue
		}
		if err := s.consider(&h); err != nil {
			return "", err
		}
	}
	return "", rows.Err()
}

// consider compares a text with what is looked for.
func (s *searcher) consider(h *hit) error {
	g := s.sessions[h.session]
	if g != nil && len(g.hits) >= perSession && s.in.Session == "" {
		g.more = true
		return nil
	}
	if err := s.tx.QueryRowContext(s.ctx, "SELECT text FROM texts WHERE id = ?", h.id).Scan(&h.text); err != nil {
		return err
	}
	s.compared += len(h.text)
	h.folded = fold(h.text)
	if !s.terms.in(h.folded) {
		return nil
	}
	for _, other := range s.moment {
		if other.session != h.session && other.Kind == h.Kind && other.Part == h.Part && other.text == h.text {
			s.merge(other, h)
			return nil
		}
	}
	s.moment = append(s.moment, h)
	s.hits++
	s.add(h)
	return nil
}

func (s *searcher) add(h *hit) {
	g := s.sessions[h.session]
	if g == nil {
		g = &group{session: h.session}
		s.sessions[h.session] = g
		s.order = append(s.order, g)
	}
	g.hits = append(g.hits, h)
}

// merge notes that two sessions have the same event. It is shown in the one that the
// other was forked from.
func (s *searcher) merge(kept, other *hit) {
	kept.Copies++
	if !kept.copied || other.copied {
		return
	}
	g := s.sessions[kept.session]
	for i, h := range g.hits {
		if h == kept {
			g.hits = append(g.hits[:i], g.hits[i+1:]...)
			break
		}
	}
	copies := kept.Copies
	*kept = *other
	kept.Copies = copies
	s.add(kept)
}

// results returns the sessions with their hits.
func (s *searcher) results() ([]backend.FoundSession, error) {
	var out []backend.FoundSession
	for _, g := range s.order {
		if len(g.hits) == 0 {
			continue // they are shown in another session
		}
		f := backend.FoundSession{More: g.more}
		var rewound string
		err := s.tx.QueryRowContext(s.ctx, `SELECT s.name, s.title, s.folder, s.parent, coalesce(p.title, ''), s.archived OR coalesce(p.archived, 0), s.rewound
			FROM sessions s LEFT JOIN sessions p ON p.name = s.parent WHERE s.id = ?`, g.session).
			Scan(&f.Session, &f.Title, &f.Folder, &f.Parent, &f.ParentTitle, &f.Archived, &rewound)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		spans, err := spansOf(rewound)
		if err != nil {
			return nil, err
		}
		for _, h := range g.hits {
			h.TakenBack = spans.have(h.Seq)
			h.Snippet, h.Marks, h.Places = snippet(h.text, h.folded, s.terms.with)
			f.Hits = append(f.Hits, h.SearchHit)
		}
		out = append(out, f)
	}
	return out, nil
}

// selection is a query for the texts that may match.
type selection struct {
	query string
	args  []any
}

// selection writes the query. Its first condition limits the texts by the sequences
// in what is looked for; the filters are a column, so that each step is counted.
func (s *searcher) selection(q Query) (selection, error) {
	before := int64(math.MaxInt64)
	if at, err := strconv.ParseInt(s.in.Next, 10, 64); err == nil && at > 0 {
		before = at
	}
	from := int64(0)
	for _, f := range q.Filters {
		if !f.Not && f.Name == FilterAfter {
			from = max(from, floor(f.From))
		}
		if !f.Not && f.Name == FilterBefore {
			before = min(before, floor(f.To))
		}
	}
	grams, err := s.match()
	if err != nil {
		return selection{}, fmt.Errorf("search: %w", err)
	}
	where, args := conditions(q, s.in)
	head := "SELECT d.id, d.session, d.seq, d.kind, d.part, d.call, d.tool, d.seq > 0 AND d.seq < s.copied, " + where + " FROM "
	tail := " CROSS JOIN sessions s ON s.id = d.session LEFT JOIN sessions p ON p.name = s.parent WHERE "
	if grams != "" {
		return selection{
			head + "grams g CROSS JOIN docs d ON d.id = g.rowid" + tail + "grams MATCH ? AND g.rowid < ? AND g.rowid >= ? ORDER BY g.rowid DESC",
			append(args, grams, before, from),
		}, nil
	}
	named := ""
	if len(q.Words) == 0 && !q.has(FilterFile, FilterTool, FilterModel, FilterAfter, FilterBefore, FilterIn) {
		named = "d.kind = 'title' AND " // filters of sessions find sessions
	}
	return selection{head + "docs d" + tail + named + "d.id < ? AND d.id >= ? ORDER BY d.id DESC", append(args, before, from)}, nil
}

// partsOf is [partOf] in SQL.
const partsOf = `(CASE WHEN d.kind = '` + string(agent.KindTitle) + `' THEN 'title' WHEN d.kind = '` + string(agent.KindCompactionEnd) + `' THEN 'summary'
	WHEN d.part <> '` + string(backend.PartMessage) + `' THEN d.part WHEN d.kind = '` + string(agent.KindTextEnd) + `' THEN 'answer' ELSE 'prompt' END)`

// conditions writes the filters as one expression.
func conditions(q Query, in backend.Search) (where string, args []any) {
	all := []string{"s.deleted = 0", "coalesce(p.deleted, 0) = 0"}
	add := func(not bool, condition string, values ...any) {
		if not {
			condition = "NOT (" + condition + ")"
		}
		all = append(all, condition)
		args = append(args, values...)
	}
	if in.Folder != "" {
		add(false, "s.folder = ?", in.Folder)
	}
	if in.Session != "" {
		add(false, "s.name = ? OR s.parent = ?", in.Session, in.Session)
	}
	for _, f := range q.Filters {
		switch f.Name {
		case FilterFile:
			// Without words the calls are found, else what was said about them as well.
			column, of := "session", "s.id"
			if len(q.Words) == 0 {
				column, of = "doc", "d.id"
			}
			add(f.Not, of+" IN (SELECT t."+column+" FROM paths f JOIN touched t ON t.path = f.id WHERE instr(f.path, ?) > 0)", f.Text)
		case FilterTool:
			add(f.Not, "instr(lower(d.tool), ?) > 0", f.Text)
		case FilterModel:
			add(f.Not, "instr(lower(d.model), ?) > 0", f.Text)
		case FilterTag:
			add(f.Not, "instr(s.tags, ?) > 0 OR instr(coalesce(p.tags, ''), ?) > 0", "\n"+f.Text+"\n", "\n"+f.Text+"\n")
		case FilterCost:
			add(f.Not, "s.cost >= ? AND s.cost < ?", f.From, f.To)
		case FilterAfter, FilterBefore:
			add(f.Not, "d.id >= ? AND d.id < ?", floor(f.From), floor(f.To))
		case FilterIn:
			add(f.Not, partsOf+" = ?", f.Text)
		case FilterIs:
			add(f.Not, map[string]string{"archived": "s.archived OR coalesce(p.archived, 0)", "agent": "s.parent <> ''"}[f.Text])
		}
	}
	return "(" + strings.Join(all, ") AND (") + ")", args
}
