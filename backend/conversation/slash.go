package conversation

import (
	"context"
	"regexp"
	"unicode/utf8"

	"atelier.dev/atelier/backend"
)

// slashWord matches a text that begins like a command. A path with two slashes, a number
// or a comment does not; nor does a text that begins with a space.
var slashWord = regexp.MustCompile(`^/(\p{L}[\p{L}\p{N}_:.-]*)[,!?;]*(?:\s|$)`)

// CheckSlash refuses a text that begins like a command and is none, because a person who
// mistyped a command did not mean to send its name to a model. The page's own commands
// never get here.
func (c *Conversations) CheckSlash(ctx context.Context, info backend.SessionInfo, text string) error {
	m := slashWord.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	name := m[1]
	best, least := "", 1+utf8.RuneCountInString(name)/3
	for _, known := range c.cfg.Host.Commands(ctx, info) {
		if d := distance(name, known); d <= least && (best == "" || d < least) {
			best, least = known, d
		}
	}
	if best == "" {
		return backend.Problem(backend.ProblemSlashUnknown, name)
	}
	return backend.Problem(backend.ProblemSlashMistyped, name, best)
}

// maxName limits the names that are compared, in characters.
const maxName = 64

// distance counts the characters that are changed, added or left out between two words;
// those that are too long differ in all.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	if len(from) > maxName || len(to) > maxName {
		return max(len(from), len(to))
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		before := row[0]
		row[0] = i + 1
		for j, other := range to {
			cost := before
			if r != other {
				cost++
			}
			before, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
