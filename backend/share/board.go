package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// maxPieces limits the pieces on a board. Beyond it the older half is left out.
	maxPieces = 4_000
	// maxBoard limits their HTML, in bytes.
	maxBoard = 16 << 20
	// maxBatch is how much a viewer is written at once, in bytes, but for one long piece.
	maxBatch = 256 << 10
)

// board is what viewers of a share see. It is safe for concurrent use.
type board struct {
	mu sync.Mutex
	// generation changes when viewers have to read everything again.
	generation int
	pieces     []piece
	size       int
	byKey      map[string]int // places of pieces that will be replaced
	ops        []int          // the piece that each change concerns
	drafts     [2]string      // what is being streamed: the answer, and the thinking
	state      state
	end        ShareEnd
	wakes      map[chan struct{}]bool
	empty      chan struct{} // closed when the share has ended and nobody watches any more
}

// piece is a part of the document. op is its newest change.
type piece struct {
	html string
	op   int
}

// state is what a viewer is told beside the document.
type state struct {
	Title   string `json:"title"`
	Working bool   `json:"working,omitempty"`
	Waiting bool   `json:"waiting,omitempty"` // for an answer of the user
	Cost    string `json:"cost,omitempty"`
	Cut     bool   `json:"cut,omitempty"` // the document does not begin at its beginning
}

// cursor is how far a viewer has read.
type cursor struct {
	generation, op int
	drafts         [2]string
	state          state
	begun          bool
}

func newBoard() *board {
	return &board{byKey: map[string]int{}, wakes: map[chan struct{}]bool{}, empty: make(chan struct{})}
}

// watch returns a channel that signals changes, until leave is called. It fails if the share
// has ended or has as many viewers as it may.
func (b *board) watch() (wake chan struct{}, leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != "" || len(b.wakes) >= maxViewers {
		return nil, nil, false
	}
	wake = make(chan struct{}, 1)
	b.wakes[wake] = true
	return wake, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.wakes, wake)
		if b.end != "" && len(b.wakes) == 0 {
			close(b.empty)
		}
	}, true
}

// viewers counts those who watch.
func (b *board) viewers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.wakes)
}

// changed wakes the viewers. The lock is held.
func (b *board) changed() {
	for wake := range b.wakes {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}

// put adds a piece, or replaces the one that has the key. An empty key is nobody's. keep
// says that the piece will be replaced.
func (b *board) put(key, html string, keep bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.changed()
	at, known := b.byKey[key]
	delete(b.byKey, key)
	switch {
	case known:
		b.size += len(html) - len(b.pieces[at].html)
		b.pieces[at] = piece{html, len(b.ops)}
	case html == "":
		return
	default:
		at = len(b.pieces)
		b.pieces, b.size = append(b.pieces, piece{html, len(b.ops)}), b.size+len(html)
	}
	b.ops = append(b.ops, at)
	if keep {
		b.byKey[key] = at
	}
	if len(b.ops) > 2*maxPieces || b.size > maxBoard && len(b.pieces) > 1 {
		b.halve()
	}
}

// halve leaves out the older half. The lock is held.
func (b *board) halve() {
	from := (len(b.pieces) + 1) / 2
	rest := b.pieces[from:]
	b.clear()
	b.state.Cut = true
	for _, p := range rest {
		b.pieces, b.size = append(b.pieces, piece{p.html, len(b.ops)}), b.size+len(p.html)
		b.ops = append(b.ops, len(b.pieces)-1)
	}
}

// clear empties the document. The lock is held.
func (b *board) clear() {
	b.generation++
	b.pieces, b.ops, b.size = nil, nil, 0
	clear(b.byKey)
}

// restart empties the document, which is about to be written again.
func (b *board) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clear()
	b.drafts, b.state.Cut = [2]string{}, false
	b.changed()
}

// draft shows what is being streamed.
func (b *board) draft(all [2]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drafts != all {
		b.drafts = all
		b.changed()
	}
}

// tell changes what viewers are told beside the document.
func (b *board) tell(change func(*state)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.state
	if change(&b.state); b.state != before {
		b.changed()
	}
}

// close ends the share for all viewers. Nothing of it is read after that.
func (b *board) close(why ShareEnd) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != "" {
		return
	}
	b.end = why
	b.changed()
	if len(b.wakes) == 0 {
		close(b.empty)
	}
}

// since returns what changed after the cursor, as server-sent events, and moves it; nil if
// nothing did. After the end it returns the end only.
func (b *board) since(c *cursor) (out []byte, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.end != "" {
		return event(nil, "end", map[string]any{"why": b.end}), true
	}
	if !c.begun || c.generation != b.generation {
		*c = cursor{generation: b.generation, begun: true}
		out = event(out, "reset", struct{}{})
	}
	if c.state != b.state {
		c.state = b.state
		out = event(out, "state", b.state)
	}
	for ; c.op < len(b.ops); c.op++ {
		if len(out) > maxBatch {
			return out, false
		}
		if at := b.ops[c.op]; b.pieces[at].op == c.op { // else a later change has it
			out = event(out, "piece", map[string]any{"id": at, "html": b.pieces[at].html})
		}
	}
	for i, draft := range b.drafts {
		if draft != c.drafts[i] {
			at, text := difference(c.drafts[i], draft)
			c.drafts[i] = draft
			out = event(out, "draft", map[string]any{"kind": i, "at": at, "text": text})
		}
	}
	return out, false
}

// difference returns where two texts part, in UTF-16 code units, and the rest of the newer.
func difference(old, now string) (at int, text string) {
	n := 0
	if len(now) >= len(old) && now[:len(old)] == old {
		n = len(old)
	} else {
		for n < len(old) && n < len(now) && old[n] == now[n] {
			n++
		}
		for n > 0 && n < len(now) && !utf8.RuneStart(now[n]) {
			n--
		}
	}
	return units(now[:n]), now[n:]
}

// units is the length of a text as JavaScript counts.
func units(text string) (n int) {
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// event appends one server-sent event. JSON has no line breaks but that at its end. HTML in
// it is not escaped once more, which would make it half as long again.
func event(out []byte, name string, data any) []byte {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return out // no text fails to encode
	}
	return fmt.Appendf(out, "event: %s\ndata: %s\n", name, raw.Bytes())
}
