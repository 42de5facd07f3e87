package search

import (
	"strings"
	"unicode/utf8"
)

// Limits of the expression that asks the index for candidates. What is left out of
// it makes more candidates, not other hits.
const (
	maxGrams    = 24 // of a word
	maxAllGrams = 120
	maxBegin    = 100 // sequences that begin with a short word
)

// match returns the expression for the sequences that a text must have. It is empty
// if the index cannot help.
func (s *searcher) match() (string, error) {
	var all []string
	seen := map[string]bool{}
	for _, word := range s.terms.with {
		if utf8.RuneCountInString(word) < 3 {
			short, err := s.beginning(word)
			if err != nil {
				return "", err
			}
			if short != "" {
				all = append(all, short)
			}
			continue
		}
		grams := gramsOf(word)
		// Those of a long word are taken at even distances.
		for i := 0; i < len(grams); i += 1 + len(grams)/maxGrams {
			if !seen[grams[i]] && len(all) < maxAllGrams {
				seen[grams[i]] = true
				all = append(all, quoted(grams[i]))
			}
		}
	}
	return strings.Join(all, " AND "), nil
}

// gramsOf returns the sequences of three characters of a folded text.
func gramsOf(text string) []string {
	runes := []rune(text)
	var out []string
	for i := 0; i+3 <= len(runes); i++ {
		out = append(out, string(runes[i:i+3]))
	}
	return out
}

// quoted returns a sequence as a string of FTS5.
func quoted(gram string) string { return `"` + strings.ReplaceAll(gram, `"`, `""`) + `"` }

// beginning returns the sequences that begin with a word of one or two characters,
// one of which a text that has it must have. It is empty if they are so many that
// going through the texts is faster.
func (s *searcher) beginning(word string) (string, error) {
	if len(word) == 1 {
		return "", nil
	}
	rows, err := s.tx.QueryContext(s.ctx, "SELECT term FROM vocabulary WHERE term >= ? AND term < ? LIMIT ?", word, word+"\U0010FFFF", maxBegin+1)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var any []string
	for rows.Next() {
		var gram string
		if err := rows.Scan(&gram); err != nil {
			return "", err
		}
		any = append(any, quoted(gram))
	}
	switch {
	case rows.Err() != nil || len(any) > maxBegin:
		return "", rows.Err()
	case len(any) == 0:
		return quoted(word + "\U0010FFFF"), nil // no text has it
	}
	return "(" + strings.Join(any, " OR ") + ")", nil
}
