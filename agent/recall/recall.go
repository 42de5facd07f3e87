// Package recall lets a model search its own conversation: also what a compaction
// replaced by a summary or shortened since. What a person took out stays out.
package recall

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
)

//go:embed recall.md
var description string

// Log passes the events of the session to apply, in order, with whether each was taken
// back, as [agent.TakenBack] reports.
type Log func(ctx context.Context, apply func(ev agent.Event, tookBack bool)) error

// The limits of what is asked for and given back, in bytes unless they count.
const (
	maxQuery   = 500
	maxWords   = 20
	maxFound   = 20 // items
	maxExcerpt = 600
	maxWhole   = 16_000
)

type input struct {
	Query string `json:"query,omitempty" jsonschema:"words that it has; items with more of them come first"`
	ID    string `json:"id,omitempty" jsonschema:"an id that a search gave: its whole text is returned instead"`
	Skip  int    `json:"skip,omitempty" jsonschema:"with id: how many bytes of the text to leave out at its beginning"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in input) Validate() error {
	switch {
	case (in.Query == "") == (in.ID == ""):
		return errors.New("give either query or id")
	case len(in.Query) > maxQuery:
		return fmt.Errorf("the query has %d bytes, more than %d", len(in.Query), maxQuery)
	case in.Skip < 0:
		return errors.New("skip is negative")
	}
	return nil
}

// Tool returns the tool Recall, which searches the conversation of a session.
func Tool(log Log) agent.Tool {
	return agent.Function(agent.Spec{Name: "Recall", Description: strings.TrimSpace(description), ReadOnly: true, Idempotent: true},
		func(ctx context.Context, in input) (string, error) {
			whole, err := Whole(ctx, log)
			if err != nil {
				return "", fmt.Errorf("read the session's log: %w", err)
			}
			if in.ID != "" {
				return one(whole, in.ID, in.Skip)
			}
			return search(whole, in.Query)
		})
}

// Whole returns the whole conversation of a session, as if it had never been compacted
// or shortened.
func Whole(ctx context.Context, log Log) (*contextir.Conversation, error) {
	var t agent.Transcript
	err := log(ctx, func(ev agent.Event, tookBack bool) {
		switch ev.Data.(type) {
		case agent.CompactionEnd, agent.HistoryRepaired:
			tookBack = true
		}
		if tookBack {
			t.ApplyTakenBack(ev)
			return
		}
		t.Apply(ev)
	})
	return t.Conversation(), err
}

// found is an item with some of the words.
type found struct {
	item  *contextir.Item
	text  string
	words int
	at    int // of the rarest word in the text
}

func search(whole *contextir.Conversation, query string) (string, error) {
	words := wordsOf(query)
	if len(words) == 0 {
		return "", errors.New("the query has no words")
	}
	var all []found
	for it := range whole.Backward() {
		if it.Dropped() || !it.Type.CanMark() || isRecall(it) {
			continue
		}
		f := found{item: it, text: it.Text(), at: -1}
		lower := strings.ToLower(f.text)
		for _, word := range words {
			if i := strings.Index(lower, word); i >= 0 {
				f.words++
				if f.at < 0 || len(lower) != len(f.text) {
					f.at = min(i, len(f.text))
				}
			}
		}
		if f.words > 0 {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return b.words - a.words })
	if len(all) == 0 {
		return "Nothing in this conversation has any of these words.", nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d items have some of the words, the best first; of the same worth the newest.\n", len(all))
	for _, f := range all[:min(len(all), maxFound)] {
		fmt.Fprintf(&b, "\n[%s] %d bytes\n%s\n", f.item.ID(), len(f.text), excerpt(f.text, f.at))
	}
	return b.String(), nil
}

// isRecall reports whether an item is what an earlier search gave.
func isRecall(it *contextir.Item) bool {
	r := it.Message.Parts
	return it.Type == contextir.ToolResult && len(r) > 0 && r[0].Result != nil && strings.EqualFold(r[0].Result.Name, "recall")
}

// wordsOf returns the words of a query in lower case.
func wordsOf(query string) []string {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'`+"`,;()", r)
	})
	slices.Sort(words)
	words = slices.Compact(words)
	return words[:min(len(words), maxWords)]
}

// excerpt returns the part of a text around a place.
func excerpt(text string, at int) string {
	from := max(0, min(at-maxExcerpt/3, len(text)-maxExcerpt))
	to := min(len(text), from+maxExcerpt)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	out := strings.TrimSpace(text[from:to])
	if from > 0 {
		out = "… " + out
	}
	if to < len(text) {
		out += " …"
	}
	return agent.EscapeTags(out)
}

// one returns the text of the item with an id.
func one(whole *contextir.Conversation, id string, skip int) (string, error) {
	for it := range whole.Backward() {
		if it.ID() != id || it.Dropped() || !it.Type.CanMark() {
			continue
		}
		text := it.Text()
		from := min(skip, len(text))
		to := min(len(text), from+maxWhole)
		for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
			from--
		}
		for to < len(text) && !utf8.RuneStart(text[to]) {
			to--
		}
		out := agent.EscapeTags(text[from:to])
		if to < len(text) {
			out += fmt.Sprintf("\n[%d more bytes: ask again with skip %d]", len(text)-to, to)
		}
		return out, nil
	}
	return "", fmt.Errorf("there is no item %q in this conversation", id)
}
