package search

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"atelier.dev/atelier/backend"
)

// Limits of a snippet, in characters, and of the places that are counted.
const (
	charsBefore = 50
	charsAfter  = 200
	maxPlaces   = 100
)

// snippet returns what stands around the first place of the words, with the places
// in it, and how many places the text has.
func snippet(text, folded string, words []string) (line string, marks []backend.TextMark, count int) {
	places := placesOf(folded, words)
	runes := []rune(text)
	from := 0
	if len(places) > 0 {
		from = max(0, places[0].From-charsBefore)
	}
	to := min(len(runes), from+charsBefore+charsAfter)
	var b strings.Builder
	units := 0
	blankBefore := true // white space at the beginning is left out
	next := 0
	var open *backend.TextMark
	for i := from; i < to; i++ {
		if open != nil && i == places[next].To {
			open.To = units
			marks, open = append(marks, *open), nil
			next++
		}
		for next < len(places) && places[next].From < i && open == nil {
			next++
		}
		if next < len(places) && open == nil && i == places[next].From {
			open = &backend.TextMark{From: units}
		}
		r := runes[i]
		if unicode.IsSpace(r) || r == 0 {
			if blankBefore {
				continue
			}
			r = ' '
		}
		blankBefore = r == ' '
		b.WriteRune(r)
		units += max(1, utf16.RuneLen(r))
	}
	if open != nil {
		open.To = units
		marks = append(marks, *open)
	}
	return b.String(), marks, len(places)
}

// placesOf returns the places of the words in a folded text, in characters. They do
// not overlap.
func placesOf(folded string, words []string) []backend.TextMark {
	var out []backend.TextMark
	at, chars := 0, 0 // the same place in bytes and in characters
	next := make([]int, len(words))
	for i := range next {
		next[i] = -1
	}
	for len(out) < maxPlaces {
		best := -1
		for i, word := range words {
			if next[i] < at { // else it was found already
				next[i] = len(folded)
				if found := strings.Index(folded[at:], word); found >= 0 && word != "" {
					next[i] = at + found
				}
			}
			if next[i] < len(folded) && (best < 0 || next[i] < next[best] || next[i] == next[best] && len(word) > len(words[best])) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		from := chars + utf8.RuneCountInString(folded[at:next[best]])
		to := from + utf8.RuneCountInString(words[best])
		out = append(out, backend.TextMark{From: from, To: to})
		at, chars = next[best]+len(words[best]), to
	}
	return out
}

// spans are the parts of a log that were taken back.
type spans []backend.Span

func spansOf(stored string) (out spans, err error) {
	if err := json.Unmarshal([]byte(stored), &out); err != nil {
		return nil, fmt.Errorf("read the search index: %w", err)
	}
	return out, nil
}

func (s spans) have(seq int64) bool {
	for _, span := range s {
		if span.From < seq && seq <= span.To {
			return true
		}
	}
	return false
}
