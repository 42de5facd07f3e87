package search

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/backend"
)

// maxProbes limits how often a search looks for one option before it takes it for a
// word that is excluded.
const maxProbes = 4

// optionMark separates the place where a search goes on from what was decided about
// its options, one bit each, so that all parts of it find the same.
const optionMark = "/"

// decided are the options of a query that are looked for, and the words without
// their hyphen that are excluded, because no text has them as options.
type decided struct {
	found, excluded []string
	bits            uint64 // those that are excluded
}

// mark is what the next part of the search is told; empty if there are no options.
func (d decided) mark() string {
	if len(d.found)+len(d.excluded) == 0 {
		return ""
	}
	return optionMark + strconv.FormatUint(d.bits, 16)
}

// decide reads what an earlier part of a search decided about its options, or looks
// for each of them in all texts. What a query means does not depend on the folder.
func decide(ctx context.Context, tx *sql.Tx, options []string, next string) (d decided, err error) {
	_, mark, ok := strings.Cut(next, optionMark)
	bits, err := strconv.ParseUint(mark, 16, 64)
	ok = ok && err == nil
	for i, option := range options {
		stands := ok && bits>>i&1 == 0
		if !ok {
			if stands, err = probe(ctx, tx, option); err != nil {
				return decided{}, fmt.Errorf("look for %s: %w", option, err)
			}
		}
		if stands {
			d.found = append(d.found, option)
			continue
		}
		d.bits |= 1 << i
		d.excluded = append(d.excluded, option[1:])
	}
	return d, nil
}

// probe reports whether an option stands in a text of any session.
func probe(ctx context.Context, tx *sql.Tx, option string) (bool, error) {
	q := Query{Options: []string{option}}
	in := backend.Search{Limit: 1}
	for range maxProbes {
		s := newSearcher(ctx, tx, in, termsOf(q))
		sel, err := s.selection(q)
		if err != nil {
			return false, err
		}
		if in.Next, err = s.run(sel); err != nil || s.hits > 0 || in.Next == "" {
			return s.hits > 0, err
		}
	}
	return false, nil
}

// standsIn reports whether a folded text has an option that is not the rest of a
// word, such as -out in time-out.
func standsIn(folded, option string) bool {
	for at := 0; ; {
		i := strings.Index(folded[at:], option)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(folded[:at+i])
		if at+i == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			return true
		}
		at += i + 1
	}
}

// hyphens says what was made of the words after a hyphen, and how the other is typed.
func hyphens(d decided, phrases []string) (out []backend.SearchHyphen) {
	for _, option := range d.found {
		out = append(out, backend.SearchHyphen{Word: option[1:], Raw: option, Instead: phrase("-", option[1:])})
	}
	for _, word := range d.excluded {
		out = append(out, backend.SearchHyphen{Word: word, Excluded: true, Raw: "-" + word, Instead: phrase("", "-"+word)})
	}
	for _, text := range phrases {
		out = append(out, backend.SearchHyphen{Word: text, Excluded: true, Raw: phrase("-", text), Instead: phrase("", "-"+text)})
	}
	return out
}

// phrase puts a text into quotation marks; empty if it has some.
func phrase(before, text string) string {
	if strings.Contains(text, `"`) {
		return ""
	}
	return before + `"` + text + `"`
}
