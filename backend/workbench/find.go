package workbench

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/feed"
)

// Limits of one search of a log, so that a page may ask again for a newer text
// instead of waiting for an old one.
const (
	findPage    = 200      // events read at a time
	findEvents  = 5000     // events searched
	findBytes   = 32 << 20 // text searched
	findHits    = 500      // hits, unless the page asks for fewer
	hitsInText  = 100      // hits in one text
	snippetSide = 40       // characters shown on each side of a hit
)

// find searches a session's log for a text, from the newest event back, in the
// texts as a page shows them. It ends at a limit or at the beginning of the
// log; the reply says where to go on.
func (w *Workbench) find(ctx context.Context, in FindRequest) (FindReply, error) {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return FindReply{}, err
	}
	before := in.Before
	if before <= 0 || before > info.Seq {
		before = info.Seq + 1
	}
	needle := fold(in.Text)
	if needle == "" {
		return FindReply{}, nil
	}
	limit := in.Limit
	if limit <= 0 || limit > findHits {
		limit = findHits
	}
	var hits []Hit
	searched := 0
	for events := 0; before > 1 && events < findEvents && searched < findBytes; {
		page, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: in.Session, Before: before, Limit: findPage, Newest: true})
		if err != nil {
			return FindReply{}, err
		}
		if len(page) == 0 {
			return FindReply{Hits: hits}, nil
		}
		for i := len(page) - 1; i >= 0; i-- {
			if err := ctx.Err(); err != nil {
				return FindReply{}, context.Cause(ctx)
			}
			before = page[i].Seq
			var here []Hit
			for _, t := range textsOf(feed.ForDisplay(page[i])) {
				searched += len(t.text)
				here = append(here, hitsOf(page[i], t, needle)...)
			}
			slices.Reverse(here)
			hits = append(hits, here...)
			if len(hits) >= limit {
				return FindReply{Hits: hits, Next: next(before)}, nil
			}
		}
		events += len(page)
	}
	return FindReply{Hits: hits, Next: next(before)}, nil
}

// next returns where the search of a log goes on, 0 if nothing is left.
func next(before int64) int64 {
	if before <= 1 {
		return 0
	}
	return before
}

// A shownText is one text of an event as a page shows it. Of names its call or
// command, if there is one.
type shownText struct {
	part FindPart
	of   string
	text string
}

// textsOf returns what a page shows of an event, in the order in which it is
// shown.
func textsOf(ev agent.Event) []shownText {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		return []shownText{{part: PartMessage, text: d.Text}}
	case agent.SteeringInjected:
		if !d.ByLoop {
			return []shownText{{part: PartMessage, text: d.Text}}
		}
	case agent.TextEnd:
		var said, thought strings.Builder
		for _, p := range d.Message.Parts {
			said.WriteString(p.Text)
			if p.Reasoning != nil {
				thought.WriteString(p.Reasoning.Text)
			}
		}
		return []shownText{{part: PartThinking, text: thought.String()}, {part: PartMessage, text: said.String()}}
	case agent.ToolCallStart:
		return []shownText{{part: PartInput, of: d.CallID, text: argumentsOf(d.Input)}}
	case agent.ToolCallEnd:
		return []shownText{{part: PartOutput, of: d.CallID, text: withoutExitNote(d)}}
	case agent.LocalCommandStart:
		return []shownText{{part: PartInput, of: d.ID, text: d.Command}}
	case agent.LocalCommandEnd:
		return []shownText{{part: PartOutput, of: d.ID, text: d.Output}}
	case agent.CompactionEnd:
		return []shownText{{part: PartMessage, text: d.Summary}}
	}
	return nil
}

// withoutExitNote returns what a call printed, without the note of its exit code,
// which a page shows in another way.
func withoutExitNote(end agent.ToolCallEnd) string {
	if end.Details == nil || end.Details.Command == nil {
		return end.Output
	}
	text, ok := strings.CutSuffix(end.Output, fmt.Sprintf("[Exit code %d]", end.Details.Command.ExitCode))
	if !ok {
		return end.Output
	}
	return strings.TrimRightFunc(text, unicode.IsSpace)
}

// argumentsOf returns the texts and numbers of a call's arguments, a line each,
// as a card shows them: without names, quotation marks and escapes.
func argumentsOf(input string) string {
	var value any
	dec := json.NewDecoder(strings.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&value) != nil {
		return input
	}
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case json.Number:
			b.WriteString(v.String() + "\n")
		case []any:
			for _, each := range v {
				walk(each)
			}
		case map[string]any:
			for _, each := range slices.Sorted(maps.Keys(v)) {
				walk(v[each])
			}
		}
	}
	walk(value)
	return b.String()
}

// hitsOf returns the hits in one text, which must not overlap.
func hitsOf(ev agent.Event, t shownText, needle string) []Hit {
	folded := fold(t.text)
	var hits []Hit
	// The runes of the text and of its folded form correspond, their bytes do not.
	place, from := 0, 0
	for len(hits) < hitsInText {
		at := strings.Index(folded[from:], needle)
		if at < 0 {
			break
		}
		place = skip(t.text, place, utf8.RuneCountInString(folded[from:from+at]))
		end := skip(t.text, place, utf8.RuneCountInString(needle))
		hits = append(hits, Hit{Seq: ev.Seq, Kind: ev.Kind(), Part: t.part, Of: t.of, Nth: len(hits), Snippet: snippet(t.text, place, end)})
		place, from = end, from+at+len(needle)
	}
	return hits
}

// skip returns the place n runes after at.
func skip(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// snippet returns a hit with some characters around it, on one line.
func snippet(s string, from, to int) string {
	for range snippetSide {
		_, size := utf8.DecodeLastRuneInString(s[:from])
		from -= size
	}
	to = min(to, skip(s, from, 4*snippetSide)) // a long text to look for is not repeated in each hit
	return strings.ToValidUTF8(strings.Join(strings.Fields(s[from:skip(s, to, snippetSide)]), " "), "�")
}

// fold returns a text in the form in which texts are compared: rune by rune,
// so that case does not count, and one kind of white space is like another.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < utf8.RuneSelf:
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			if '\t' <= r && r <= '\r' {
				return ' '
			}
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		if 'A' <= least && least <= 'Z' { // the sign of Kelvin is a k
			least += 'a' - 'A'
		}
		return least
	}, s)
}

// FindRequest is for conversation.find. Before is where an earlier reply said
// that the search goes on; 0 begins at the newest event. Limit 0 means 500
// hits; a reply may have a few more, because it never splits an event.
type FindRequest struct {
	Session string `json:"session"`
	Text    string `json:"text"`
	Before  int64  `json:"before,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// FindReply is a part of the hits, the newest first.
type FindReply struct {
	Hits []Hit `json:"hits,omitempty"`
	// Next says where to go on; 0 means that the log was searched to its
	// beginning.
	Next int64 `json:"next,omitempty"`
}

// Hit is one place where the text occurs.
type Hit struct {
	Seq  int64      `json:"seq"`
	Kind agent.Kind `json:"kind"`
	Part FindPart   `json:"part"`
	// Of is the id of the call or command; empty for a message.
	Of string `json:"of,omitempty"`
	// Nth counts the hits in the same text, from 0.
	Nth     int    `json:"nth,omitempty"`
	Snippet string `json:"snippet"`
}

// FindPart says which text of an event has a hit.
type FindPart string

// The texts of events that are searched.
const (
	PartMessage  FindPart = "message"
	PartThinking FindPart = "thinking"
	PartInput    FindPart = "input"
	PartOutput   FindPart = "output"
)
