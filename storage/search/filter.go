package search

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// selection is a query for the texts that may match, and the ids between which they
// are. The last arguments of the query are the sessions that are left out, the end
// and the beginning.
type selection struct {
	query        string
	args         []any
	from, before int64
	whole        bool // all is one window, because the query has an index of its own
}

// selection writes the query. Its first condition is about the sequences in what is
// looked for.
func (s *searcher) selection(q Query) (selection, error) {
	sel := selection{before: math.MaxInt64}
	next, _, _ := strings.Cut(s.in.Next, optionMark)
	if at, err := strconv.ParseInt(next, 10, 64); err == nil && at > 0 {
		sel.before = at
	}
	for _, f := range q.Filters {
		if !f.Not && f.Name == FilterAfter {
			sel.from = max(sel.from, floor(f.From))
		}
		if !f.Not && f.Name == FilterBefore {
			sel.before = min(sel.before, floor(f.To))
		}
	}
	grams, err := s.match()
	if err != nil {
		return selection{}, fmt.Errorf("search: %w", err)
	}
	sessions, where := conditions(q, s.in)
	if s.in.Session != "" || q.has(FilterFile, FilterTag, FilterCost, FilterIs) {
		ids, from, before, ok, err := s.list(sessions)
		if err != nil {
			return selection{}, fmt.Errorf("search: %w", err)
		}
		if ok {
			sel.from, sel.before = max(sel.from, from), min(sel.before, before)
			sessions = condition{}
			sessions.add(false, "d.session IN (SELECT value FROM json_each(?))", ids)
		}
	}
	texts, id, first := "docs d", "d.id", ""
	args := slices.Concat(sessions.args, where.args)
	switch {
	case grams != "":
		texts, id, first = "grams g CROSS JOIN docs d ON d.id = g.rowid", "g.rowid", "grams MATCH ? AND "
		args = append([]any{grams}, args...)
	case len(q.Words)+len(q.Options) == 0 && !q.has(FilterFile, FilterTool, FilterModel, FilterAfter, FilterBefore, FilterIn):
		texts, first, sel.whole = "docs d INDEXED BY titles", "d.kind = 'title' AND ", true // filters of sessions find sessions
	}
	sel.args = args
	sel.query = "SELECT d.id, d.session, d.seq, d.kind, d.part, d.call, d.tool, d.seq > 0 AND d.seq < s.copied FROM " + texts +
		" CROSS JOIN sessions s ON s.id = d.session LEFT JOIN sessions p ON p.name = s.parent WHERE " + first + sessions.sql() + " AND " + where.sql() +
		" AND d.session NOT IN (SELECT value FROM json_each(?)) AND " + id + " < ? AND " + id + " >= ? ORDER BY " + id + " DESC"
	return sel, nil
}

// partsOf is [partOf] in SQL.
const partsOf = `(CASE WHEN d.kind = '` + string(agent.KindTitle) + `' THEN 'title' WHEN d.kind = '` + string(agent.KindCompactionEnd) + `' THEN 'summary'
	WHEN d.part <> '` + string(backend.PartMessage) + `' THEN d.part WHEN d.kind = '` + string(agent.KindTextEnd) + `' THEN 'answer' ELSE 'prompt' END)`

// condition is an expression of SQL with its arguments.
type condition struct {
	all  []string
	args []any
}

func (c *condition) add(not bool, expression string, args ...any) {
	if not {
		expression = "NOT (" + expression + ")"
	}
	c.all = append(c.all, "("+expression+")")
	c.args = append(c.args, args...)
}

func (c *condition) sql() string { return strings.Join(c.all, " AND ") }

// conditions writes the filters: those of sessions and those of texts.
func conditions(q Query, in backend.Search) (sessions, texts condition) {
	sessions.add(false, "s.deleted = 0 AND coalesce(p.deleted, 0) = 0")
	if in.Folder != "" {
		sessions.add(false, "s.folder = ?", in.Folder)
	}
	if in.Session != "" {
		sessions.add(false, "s.name = ? OR s.parent = ?", in.Session, in.Session)
	}
	texts.add(false, "TRUE")
	for _, f := range q.Filters {
		switch f.Name {
		case FilterFile:
			const calls = " FROM paths f JOIN touched t ON t.path = f.id WHERE instr(f.path, ?) > 0)"
			if len(q.Words)+len(q.Options) == 0 { // the calls are found, else what was said about them as well
				texts.add(f.Not, "d.id IN (SELECT t.doc"+calls, f.Text)
			} else {
				sessions.add(f.Not, "s.id IN (SELECT t.session"+calls, f.Text)
			}
		case FilterTool:
			texts.add(f.Not, "instr(lower(d.tool), ?) > 0", f.Text)
		case FilterModel:
			texts.add(f.Not, "instr(lower(d.model), ?) > 0", f.Text)
		case FilterTag:
			sessions.add(f.Not, "instr(s.tags, ?) > 0 OR instr(coalesce(p.tags, ''), ?) > 0", "\n"+f.Text+"\n", "\n"+f.Text+"\n")
		case FilterCost:
			sessions.add(f.Not, "s.cost >= ? AND s.cost < ?", f.From, f.To)
		case FilterAfter, FilterBefore:
			texts.add(f.Not, "d.id >= ? AND d.id < ?", floor(f.From), floor(f.To))
		case FilterIn:
			texts.add(f.Not, partsOf+" = ?", f.Text)
		case FilterIs:
			sessions.add(f.Not, map[string]string{"archived": "s.archived OR coalesce(p.archived, 0)", "agent": "s.parent <> ''"}[f.Text])
		}
	}
	return sessions, texts
}

// joined are the sessions of texts, and those that started them.
const joined = "sessions s LEFT JOIN sessions p ON p.name = s.parent"

// list returns the sessions of a condition as JSON, and ids between which their
// texts are; false if they are too many.
func (s *searcher) list(of condition) (ids string, from, before int64, ok bool, err error) {
	rows, err := s.tx.QueryContext(s.ctx, "SELECT s.id FROM "+joined+" WHERE "+of.sql()+" LIMIT ?", append(slices.Clone(of.args), maxListed+1)...)
	if err != nil {
		return "", 0, 0, false, err
	}
	defer rows.Close()
	list := []int64{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return "", 0, 0, false, err
		}
		list = append(list, id)
	}
	if rows.Err() != nil || len(list) > maxListed {
		return "", 0, 0, false, rows.Err()
	}
	encoded, err := json.Marshal(list)
	if err != nil || len(list) > maxFew {
		return string(encoded), 0, math.MaxInt64, true, err
	}
	err = s.tx.QueryRowContext(s.ctx, "SELECT coalesce(min(id), 0), coalesce(max(id), -1) + 1 FROM docs WHERE session IN (SELECT value FROM json_each(?))", string(encoded)).
		Scan(&from, &before)
	return string(encoded), from, before, true, err
}
