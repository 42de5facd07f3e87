package search

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// Limits of a query. Text beyond them is ignored.
const (
	maxQuery = 2000 // bytes
	maxTerms = 32   // words, exclusions and filters
)

// Query is what a person looks for. Every word and every filter has to hold.
type Query struct {
	// Words have to occur, Without must not. They are as typed.
	Words, Without []string
	// Options are words after one hyphen, with it: -rf. A search decides whether they
	// are options of commands, which have to occur, or words that must not.
	Options []string
	Filters []Filter
	// Shown has the filters as they were typed, also those that mean nothing.
	Shown []backend.SearchFilter
}

// Filter limits a search. Which of its values counts depends on its name.
type Filter struct {
	Name FilterName
	Not  bool
	// Text is folded; see [backend.FoldText].
	Text string
	// From and To are the bounds of times, in milliseconds since 1970, or of costs,
	// in pico-dollars: From <= value < To.
	From, To int64
}

// FilterName names a filter as it is typed.
type FilterName string

// The filters.
const (
	FilterFile   FilterName = "file"   // the session read or changed a file whose path has this text
	FilterTool   FilterName = "tool"   // the call is one of a tool whose name has this text
	FilterModel  FilterName = "model"  // a model whose name has this text was at work
	FilterTag    FilterName = "tag"    // the session has this tag
	FilterCost   FilterName = "cost"   // the session's cost in dollars: >0.5, <2, 0.5..2
	FilterAfter  FilterName = "after"  // on this day or later
	FilterBefore FilterName = "before" // before this day
	FilterIn     FilterName = "in"     // one of the parts below
	FilterIs     FilterName = "is"     // archived, or agent: a session that another one started
)

// Names lists the filters.
func Names() []FilterName {
	return []FilterName{FilterFile, FilterTool, FilterModel, FilterTag, FilterCost, FilterAfter, FilterBefore, FilterIn, FilterIs}
}

// parts are the values of [FilterIn].
var parts = []string{"title", "prompt", "answer", "thinking", "input", "output", "summary"}

// states are the values of [FilterIs].
var states = []string{"archived", "agent"}

// Parse reads what a person typed. No text is an error: what is not a filter is a
// word. "Quotation marks" hold a phrase together. A hyphen excludes the filter or
// the phrase that follows it; before a word it may, see [Query]. Two hyphens belong
// to the word. A filter whose value means nothing is listed as such.
func Parse(typed string, now time.Time) Query {
	var q Query
	rest := strings.ToValidUTF8(text.Head(typed, maxQuery), " ")
	for n := 0; n < maxTerms; n++ {
		rest = strings.TrimLeftFunc(rest, blank)
		if rest == "" {
			break
		}
		raw, after := token(rest)
		rest = after
		q.add(raw, now)
	}
	return q
}

// blank reports whether a character separates words. A NUL ends texts in SQLite.
func blank(r rune) bool { return unicode.IsSpace(r) || r == 0 }

// token cuts off the first word, filter or phrase. Quotation marks may begin at
// its start, after a hyphen or after a colon; those that are not closed end with
// the text.
func token(text string) (raw, rest string) {
	before := '-'
	for i, r := range text {
		if r == '"' && (before == '-' && i <= 1 || before == ':') {
			if end := strings.IndexByte(text[i+1:], '"'); end >= 0 {
				return text[:i+end+2], text[i+end+2:]
			}
			return text, ""
		}
		if blank(r) {
			return text[:i], text[i:]
		}
		before = r
	}
	return text, ""
}

// add takes one word, phrase or filter.
func (q *Query) add(raw string, now time.Time) {
	body, not := strings.CutPrefix(raw, "-")
	if body == "" || body[0] == '-' {
		body, not = raw, false
	}
	if name, value, ok := strings.Cut(body, ":"); ok {
		if name := FilterName(strings.ToLower(name)); slices.Contains(Names(), name) {
			q.filter(name, unquoted(value), not, raw, now)
			return
		}
	}
	isWord := body[0] != '"'
	if body = strings.TrimFunc(unquoted(body), blank); body == "" {
		return
	}
	switch {
	case not && isWord:
		q.Options = append(q.Options, raw)
	case not:
		q.Without = append(q.Without, body)
	default:
		q.Words = append(q.Words, body)
	}
}

// unquoted returns a text without the quotation marks around it.
func unquoted(text string) string {
	if inner, ok := strings.CutPrefix(text, `"`); ok {
		return strings.TrimSuffix(inner, `"`)
	}
	return text
}

func (q *Query) filter(name FilterName, value string, not bool, raw string, now time.Time) {
	f := Filter{Name: name, Not: not, Text: fold(strings.TrimFunc(value, blank))}
	ok := f.Text != ""
	switch name {
	case FilterCost:
		f.From, f.To, ok = costs(f.Text)
	case FilterAfter:
		f.From, ok = day(f.Text, now)
		f.To = math.MaxInt64
	case FilterBefore:
		f.To, ok = day(f.Text, now)
		f.From = math.MinInt64
	case FilterIn:
		ok = slices.Contains(parts, f.Text)
	case FilterIs:
		ok = slices.Contains(states, f.Text)
	}
	if ok {
		q.Filters = append(q.Filters, f)
	}
	q.Shown = append(q.Shown, backend.SearchFilter{Name: string(name), Value: value, Not: not, Unclear: !ok, Raw: raw})
}

// has reports whether one of the filters is set.
func (q *Query) has(names ...FilterName) bool {
	return slices.ContainsFunc(q.Filters, func(f Filter) bool { return slices.Contains(names, f.Name) })
}

// day reads the beginning of a day: 2026-11-01, 2026-11, 2026, today, yesterday, or
// a number of days ago, 7d.
func day(text string, now time.Time) (int64, bool) {
	midnight := func(back int) int64 {
		return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location()).UnixMilli()
	}
	switch text {
	case "today":
		return midnight(0), true
	case "yesterday":
		return midnight(1), true
	}
	if count, ok := strings.CutSuffix(text, "d"); ok {
		days, err := strconv.Atoi(count)
		return midnight(days), err == nil && days >= 0 && days < 100_000
	}
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at.UnixMilli(), true
		}
	}
	return 0, false
}

// costs reads bounds in dollars: >0.5, >=0.5, <2, <=2, 0.5..2. A number alone is
// the least.
func costs(text string) (from, to int64, ok bool) {
	if low, high, ok := strings.Cut(text, ".."); ok {
		from, ok1 := dollars(low)
		to, ok2 := dollars(high)
		return from, to + 1, ok1 && ok2 && from <= to
	}
	number := strings.TrimLeft(text, "<>=")
	amount, ok := dollars(number)
	switch strings.TrimSuffix(text, number) {
	case ">":
		return amount + 1, math.MaxInt64, ok
	case "", ">=":
		return amount, math.MaxInt64, ok
	case "<":
		return 0, amount, ok
	case "<=":
		return 0, amount + 1, ok
	}
	return 0, 0, false
}

// dollars reads an amount of dollars as pico-dollars.
func dollars(text string) (int64, bool) {
	amount, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || math.IsNaN(amount) || amount < 0 || amount > 1e6 {
		return 0, false
	}
	return int64(math.Round(amount * float64(llm.Dollar))), true
}

// fold returns a text in the form that is compared and indexed. It has as many
// characters as the text.
func fold(text string) string {
	return strings.ReplaceAll(backend.FoldText(text), "\x00", " ")
}
