package reading

import (
	"context"
	"slices"
	"strings"
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
func (r *Reader) find(ctx context.Context, in FindRequest) (FindReply, error) {
	info, err := r.project.Session(ctx, in.Session)
	if err != nil {
		return FindReply{}, err
	}
	before := in.Before
	if before <= 0 || before > info.Seq {
		before = info.Seq + 1
	}
	needle := backend.FoldText(in.Text)
	if needle == "" {
		return FindReply{}, nil
	}
	limit := in.Limit
	if limit <= 0 || limit > findHits {
		limit = findHits
	}
	var hits []Hit
	searched, takenBack := 0, 0
	for events := 0; before > 1 && events < findEvents && searched < findBytes; {
		page, err := r.store.Events(ctx, backend.EventRange{Session: in.Session, Before: before, Limit: findPage, Newest: true})
		if err != nil {
			return FindReply{}, err
		}
		if len(page) == 0 {
			return FindReply{Hits: hits, TakenBack: takenBack}, nil
		}
		for i := len(page) - 1; i >= 0; i-- {
			if err := ctx.Err(); err != nil {
				return FindReply{}, context.Cause(ctx)
			}
			before = page[i].Seq
			var here []Hit
			for _, t := range backend.TextsOf(feed.ForDisplay(page[i])) {
				searched += len(t.Text)
				here = append(here, hitsOf(page[i], t, needle)...)
			}
			if info.TookBack(before) {
				takenBack += len(here)
				continue
			}
			slices.Reverse(here)
			hits = append(hits, here...)
			if len(hits) >= limit {
				return FindReply{Hits: hits, TakenBack: takenBack, Next: next(before)}, nil
			}
		}
		events += len(page)
	}
	return FindReply{Hits: hits, TakenBack: takenBack, Next: next(before)}, nil
}

// next returns where the search of a log goes on, 0 if nothing is left.
func next(before int64) int64 {
	if before <= 1 {
		return 0
	}
	return before
}

// hitsOf returns the hits in one text, which must not overlap.
func hitsOf(ev agent.Event, t backend.EventText, needle string) []Hit {
	folded := backend.FoldText(t.Text)
	var hits []Hit
	// The runes of the text and of its folded form correspond, their bytes do not.
	place, from := 0, 0
	for len(hits) < hitsInText {
		at := strings.Index(folded[from:], needle)
		if at < 0 {
			break
		}
		place = skip(t.Text, place, utf8.RuneCountInString(folded[from:from+at]))
		end := skip(t.Text, place, utf8.RuneCountInString(needle))
		hits = append(hits, Hit{Seq: ev.Seq, Kind: ev.Kind(), Part: t.Part, Of: t.Of, Nth: len(hits), Snippet: snippet(t.Text, place, end)})
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
	// TakenBack counts the places that are not listed because the conversation was
	// rewound to before them.
	TakenBack int `json:"taken_back,omitempty"`
	// Next says where to go on; 0 means that the log was searched to its
	// beginning.
	Next int64 `json:"next,omitempty"`
}

// Hit is one place where the text occurs.
type Hit struct {
	Seq  int64            `json:"seq"`
	Kind agent.Kind       `json:"kind"`
	Part backend.TextPart `json:"part"`
	// Of is the id of the call or command; empty for a message.
	Of string `json:"of,omitempty"`
	// Nth counts the hits in the same text, from 0.
	Nth     int    `json:"nth,omitempty"`
	Snippet string `json:"snippet"`
}
