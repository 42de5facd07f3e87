package search

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/backend"
	"github.com/mattn/go-sqlite3"
)

// Limits of one search. The next search goes on where they ended this one.
const (
	usualHits   = 50
	mostHits    = 500
	perSession  = 5      // hits of a session, unless it alone is searched
	windowTexts = 50_000 // texts in a window
	maxWindows  = 4
	maxCompared = 16 << 20 // bytes of texts that the index suggests
	// maxSkipped is after how many texts of sessions that have enough hits these
	// sessions are left out.
	maxSkipped = 100
	maxListed  = 20_000 // sessions that are selected before their texts
	maxFew     = 500    // of these, sessions among whose texts alone is looked
)

// patience limits the wait for the index to catch up before a search answers.
const patience = 200 * time.Millisecond

// Search implements [backend.Searcher].
func (ix *Index) Search(ctx context.Context, in backend.Search) (backend.Found, error) {
	behind, failure := ix.freshen(ctx)
	found, err := ix.search(ctx, in, time.Now())
	if corrupt := isCorrupt(err); corrupt || err != nil && ix.replaced() { // the next pass rebuilds or opens it
		if corrupt {
			ix.broken.Store(true)
		}
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
	if len(q.Words) == 0 && len(q.Options) == 0 && len(q.Filters) == 0 {
		return found, nil
	}
	tx, err := ix.db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // nothing was changed
	options, err := decide(ctx, tx, q.Options, in.Next)
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	found.Hyphens = hyphens(options, q.Without)
	q.Options = options.found
	q.Without = append(q.Without, options.excluded...)
	found.Words = slices.Concat(q.Words, q.Options)
	if len(found.Words) == 0 && len(q.Filters) == 0 {
		return found, nil
	}
	s := newSearcher(ctx, tx, in, termsOf(q))
	sel, err := s.selection(q)
	if err != nil {
		return found, err
	}
	next, err := s.run(sel)
	if err != nil {
		return found, fmt.Errorf("search: %w", err)
	}
	if next != "" {
		found.Next = next + options.mark()
	}
	found.Sessions, err = s.results()
	return found, err
}

// terms are what a text has to have and must not have, folded. Of the words that it
// has to have, options have to stand as such; see [standsIn].
type terms struct{ with, options, without []string }

func termsOf(q Query) terms {
	t := terms{with: folded(q.Words), options: folded(q.Options), without: folded(q.Without)}
	t.with = append(t.with, t.options...)
	return t
}

func folded(words []string) (out []string) {
	for _, word := range words {
		out = append(out, fold(word))
	}
	return out
}

// in reports whether a folded text is wanted.
func (t terms) in(folded string) bool {
	for _, word := range t.with {
		if !strings.Contains(folded, word) {
			return false
		}
	}
	for _, option := range t.options {
		if !standsIn(folded, option) {
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
	texts    *sql.Stmt
	left     []int64 // sessions that are left out, because they have enough hits
	// moment are the hits of the millisecond that is looked at. Copies of an event
	// have the same time.
	moment []*hit
}

func newSearcher(ctx context.Context, tx *sql.Tx, in backend.Search, t terms) *searcher {
	s := &searcher{ctx: ctx, tx: tx, in: in, terms: t, limit: in.Limit, sessions: map[int64]*group{}, left: []int64{}}
	if s.limit <= 0 || s.limit > mostHits {
		s.limit = usualHits
	}
	return s
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

// run goes through the texts that may match, from the newest one back, a window
// after the other. It returns where to go on.
func (s *searcher) run(sel selection) (next string, err error) {
	before := sel.before
	for range maxWindows {
		from := sel.from
		if !sel.whole {
			if from, err = s.window(before, sel.from); err != nil {
				return "", err
			}
		}
		for again := true; again; {
			if before, again, err = s.look(sel, from, before); err != nil {
				return "", err
			}
		}
		if before <= sel.from {
			return "", nil // all was searched
		}
		if s.full() {
			break
		}
	}
	return strconv.FormatInt(before, 10), nil
}

// full reports whether this search has done enough.
func (s *searcher) full() bool { return s.hits >= s.limit || s.compared >= maxCompared }

// window returns the first id of the window that ends before an id. Texts of one
// millisecond are in one window.
func (s *searcher) window(before, from int64) (int64, error) {
	var id int64
	err := s.tx.QueryRowContext(s.ctx, "SELECT id FROM docs WHERE id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", before, windowTexts).Scan(&id)
	if isNone(err) {
		return from, nil
	}
	return max(from, id>>timeBits<<timeBits), err
}

// look goes through the texts of a window. It returns where it ended, and whether
// it has to look again from there, without a session that has enough hits.
func (s *searcher) look(sel selection, from, before int64) (end int64, again bool, err error) {
	full, err := json.Marshal(s.left)
	if err != nil {
		return 0, false, err
	}
	rows, err := s.tx.QueryContext(s.ctx, sel.query, append(slices.Clone(sel.args), string(full), before, from)...)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	last, skipped := before, 0
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.id, &h.session, &h.Seq, &h.Kind, &h.Part, &h.Of, &h.Tool, &h.copied); err != nil {
			return 0, false, err
		}
		h.At = h.id >> timeBits
		if last>>timeBits != h.At {
			s.moment = nil
			switch {
			case s.full():
				return last, false, nil
			case skipped >= maxSkipped:
				return last, true, nil
			}
		}
		last = h.id
		skips, err := s.consider(&h)
		if err != nil {
			return 0, false, err
		}
		if !skips {
			skipped = 0
		} else if skipped++; skipped == maxSkipped {
			s.left = append(s.left, h.session)
		}
	}
	return from, false, rows.Err()
}

// consider compares a text with what is looked for. It skips those of a session that
// has enough hits.
func (s *searcher) consider(h *hit) (skips bool, err error) {
	g := s.sessions[h.session]
	if g != nil && len(g.hits) >= perSession && s.in.Session == "" && !s.in.Every {
		g.more = true
		return true, nil
	}
	if err := s.text(h); err != nil {
		return false, err
	}
	s.compared += len(h.text)
	h.folded = fold(h.text)
	if !s.terms.in(h.folded) {
		return false, nil
	}
	for _, other := range s.moment {
		if other.session != h.session && other.Kind == h.Kind && other.Part == h.Part && other.text == h.text {
			s.merge(other, h)
			return false, nil
		}
	}
	s.moment = append(s.moment, h)
	s.hits++
	s.add(h)
	return false, nil
}

// text reads the text of a hit.
func (s *searcher) text(h *hit) (err error) {
	if s.texts == nil {
		if s.texts, err = s.tx.PrepareContext(s.ctx, "SELECT text FROM texts WHERE id = ?"); err != nil {
			return err
		}
	}
	return s.texts.QueryRowContext(s.ctx, h.id).Scan(&h.text)
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
