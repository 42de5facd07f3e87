// Package watch reads the sessions of other programs while they happen, without making them our
// own: as pieces for people, with what they used. It searches them, and finds who of them wrote a
// line. It only reads.
//
// A transcript is read again when it changed, and a caller is given what differs from what it
// has. What is read again costs time, so a large transcript is read less often.
package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/internal/text"
)

// The limits of a transcript that is watched.
const (
	maxPieces = 20_000
	maxText   = 32 << 10 // bytes of a piece's text
	maxOutput = 8 << 10  // bytes of what a call returned
	maxKept   = 4        // transcripts in memory
	// firstPieces are shown of a transcript at first, and pagePieces before them at a time.
	firstPieces = 200
	pagePieces  = 50
)

// PieceKind says what a piece is.
type PieceKind string

// The kinds.
const (
	PiecePrompt  PieceKind = "prompt"
	PieceAnswer  PieceKind = "answer"
	PieceThought PieceKind = "thought"
	PieceCall    PieceKind = "call"
	PieceSummary PieceKind = "summary"
)

// Piece is a part of a session of another program.
type Piece struct {
	Kind   PieceKind `json:"kind"`
	At     int64     `json:"at"`
	Text   string    `json:"text,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Input  string    `json:"input,omitempty"`
	Output string    `json:"output,omitempty"`
	Failed bool      `json:"failed,omitempty"`
	// Cut says that a text is longer than it is here.
	Cut bool `json:"cut,omitempty"`
}

// Watched is what changed of a transcript.
type Watched struct {
	// Version names this state of it.
	Version string `json:"version"`
	// Pieces stand at From and after it, and take the place of all that were there.
	From   int     `json:"from"`
	Pieces []Piece `json:"pieces,omitempty"`
	Total  int     `json:"total"`
	// Usage is what the session used, and Cost what that costs at our prices; absent if one of its prices is not known.
	Usage llm.Usage `json:"usage"`
	Cost  *llm.Cost `json:"cost,omitempty"`
	Model string    `json:"model,omitempty"`
	At    int64     `json:"at"`
	// Skipped counts what was not understood.
	Skipped int `json:"skipped,omitempty"`
}

// Price prices what an answer used; nil if its price is not known.
type Price func(provider, model string, u llm.Usage, at time.Time) *llm.Cost

// Watcher keeps the transcripts that are watched. It is safe for concurrent use.
type Watcher struct {
	Price Price

	mu   sync.Mutex // held while one is read
	kept []*reading // the newest last
}

// reading is a transcript as it was read.
type reading struct {
	store transcript.Store
	name  string
	stamp string
	next  time.Time // before which it is not read again
	all   Watched   // from the beginning
	sums  []uint64  // of the pieces
	was   string    // the version before, and from where this one differs
	from  int
}

var seed = maphash.MakeSeed()

// Watch returns what a transcript has beyond a version of it; empty means that the caller has
// nothing.
func (w *Watcher) Watch(ctx context.Context, s transcript.Store, name, version string) (Watched, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.read(ctx, s, name)
	if err != nil {
		return Watched{}, err
	}
	out := r.all
	switch version {
	case out.Version:
		out.From, out.Pieces = out.Total, nil
	case r.was:
		out.From = r.from
	default:
		out.From = max(out.Total-firstPieces, 0)
	}
	if version != out.Version {
		out.Pieces = r.all.Pieces[out.From:]
	}
	return out, nil
}

// Earlier returns the pieces before one.
func (w *Watcher) Earlier(ctx context.Context, s transcript.Store, name string, before int) (Watched, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, err := w.read(ctx, s, name)
	if err != nil {
		return Watched{}, err
	}
	out := r.all
	before = min(max(before, 0), out.Total)
	out.From = max(before-pagePieces, 0)
	out.Pieces = out.Pieces[out.From:before]
	return out, nil
}

// read returns the transcript as it is, or as it was a moment ago. mu is held.
func (w *Watcher) read(ctx context.Context, s transcript.Store, name string) (*reading, error) {
	at := slices.IndexFunc(w.kept, func(r *reading) bool { return r.store == s && r.name == name })
	var before *reading
	if at >= 0 {
		before = w.kept[at]
		w.kept = append(slices.Delete(w.kept, at, at+1), before)
	}
	stamp, err := s.Stamp(name)
	if err != nil {
		return nil, err
	}
	if before != nil && (before.stamp == stamp || time.Now().Before(before.next)) {
		return before, nil
	}
	begin := time.Now()
	all, err := w.parse(ctx, s, name)
	if err != nil {
		return nil, err
	}
	r := &reading{store: s, name: name, stamp: stamp, all: all, next: time.Now().Add(5 * time.Since(begin))}
	for _, p := range all.Pieces {
		p.At = 0 // that of an answer changes when the next line says that it is whole
		r.sums = append(r.sums, maphash.Comparable(seed, p))
	}
	r.all.Version = fmt.Sprintf("%x", maphash.Bytes(seed, fmt.Append(nil, r.sums, all.Usage)))
	if before != nil {
		r.was, r.from = before.all.Version, 0
		for r.from < min(len(r.sums), len(before.sums)) && r.sums[r.from] == before.sums[r.from] {
			r.from++
		}
		if r.was == r.all.Version { // nothing that is shown changed
			r.was, r.from = before.was, before.from
		}
		w.kept = w.kept[:len(w.kept)-1]
	}
	w.kept = append(w.kept, r)
	w.kept = w.kept[max(len(w.kept)-maxKept, 0):]
	return r, nil
}

// parse reads a transcript.
func (w *Watcher) parse(ctx context.Context, s transcript.Store, name string) (all Watched, err error) {
	file, err := s.Open(name)
	if err != nil {
		return all, err
	}
	defer file.Close()
	all.Cost, all.Usage.Known = new(llm.Cost), true
	inputs := map[string]string{}
	for ev, err := range file.Events(ctx, nil, nil) {
		if err != nil {
			return all, err
		}
		all.At = max(all.At, ev.At)
		switch d := ev.Data.(type) {
		case agent.TextEnd:
			w.spend(&all, d, ev.At)
		case agent.ToolCallStart:
			inputs[d.CallID] = d.Input
		case agent.Imported:
			all.Skipped = d.Skipped
		}
		all.Pieces = append(all.Pieces, pieces(ev, inputs)...)
		if len(all.Pieces) > maxPieces {
			all.Pieces = slices.Clone(all.Pieces[maxPieces/2:])
		}
	}
	all.Total = len(all.Pieces)
	return all, nil
}

// spend adds what an answer used and costs.
func (w *Watcher) spend(all *Watched, d agent.TextEnd, at int64) {
	if d.Model != "" {
		all.Model = d.Model
	}
	if !d.Usage.Known {
		return
	}
	all.Usage.Input += d.Usage.Input
	all.Usage.CacheRead += d.Usage.CacheRead
	all.Usage.CacheWrite += d.Usage.CacheWrite
	all.Usage.Output += d.Usage.Output
	all.Usage.Reasoning += d.Usage.Reasoning
	if all.Cost == nil {
		return
	}
	cost := &d.Usage.Charged
	if *cost == 0 {
		cost = nil
		if w.Price != nil {
			cost = w.Price(d.Provider, d.Model, d.Usage, time.UnixMilli(at))
		}
	}
	if cost == nil {
		all.Cost = nil
		return
	}
	*all.Cost += *cost
}

// pieces returns what an event shows.
func pieces(ev agent.Event, inputs map[string]string) (all []Piece) {
	add := func(p Piece) {
		p.At = ev.At
		for _, part := range []struct {
			text  *string
			limit int
		}{{&p.Text, maxText}, {&p.Input, maxOutput}, {&p.Output, maxOutput}} {
			if kept := text.Head(*part.text, part.limit); len(kept) < len(*part.text) {
				*part.text, p.Cut = kept, true
			}
		}
		all = append(all, p)
	}
	switch d := ev.Data.(type) {
	case agent.UserInput:
		add(Piece{Kind: PiecePrompt, Text: d.Wrote()})
	case agent.TextEnd:
		for _, part := range d.Message.Parts {
			switch {
			case part.Kind == llm.PartText && strings.TrimSpace(part.Text) != "":
				add(Piece{Kind: PieceAnswer, Text: part.Text})
			case part.Kind == llm.PartReasoning && part.Reasoning != nil:
				add(Piece{Kind: PieceThought, Text: part.Reasoning.Text})
			}
		}
	case agent.ToolCallEnd:
		add(Piece{Kind: PieceCall, Tool: d.Tool, Text: about(inputs[d.CallID]), Input: inputs[d.CallID], Output: d.Output, Failed: d.IsError})
		delete(inputs, d.CallID)
	case agent.CompactionEnd:
		add(Piece{Kind: PieceSummary, Text: d.Summary})
	}
	return all
}

// about is what a call concerns, in one line.
func about(input string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &members) != nil {
		return ""
	}
	for _, name := range []string{"file_path", "absolute_path", "path", "command", "pattern", "query", "url", "description", "prompt"} {
		var value string
		if json.Unmarshal(members[name], &value) == nil && value != "" {
			line, _, _ := strings.Cut(strings.TrimSpace(value), "\n")
			return text.Shorten(line, 160)
		}
	}
	return ""
}
