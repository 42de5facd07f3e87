package wire

import "slices"

// text is a long text that grows at its end. A request shares its pieces, which
// never change: the text may grow, or lose its end, while the request is sent.
type text struct {
	pieces [][]byte
	size   int    // of all pieces
	free   []byte // empty; its capacity is the unused rest of the newest buffer
}

// bufferSize is how much text a buffer has. A request of 600 KB has 40 pieces.
const bufferSize = 16 << 10

// add appends b and returns its bytes in the text.
func (t *text) add(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	t.size += len(b)
	if len(b) >= bufferSize/4 {
		b = slices.Clip(b)
		t.pieces = append(t.pieces, b)
		return b
	}
	if cap(t.free) < len(b) {
		t.free = make([]byte, 0, bufferSize)
	}
	added := append(t.free, b...)
	// A piece with unused capacity is the newest part of the buffer. cut takes the
	// capacity of the piece that becomes the last.
	if last := len(t.pieces) - 1; last >= 0 && cap(t.pieces[last])-len(t.pieces[last]) == cap(t.free) {
		t.pieces[last] = t.pieces[last][:len(t.pieces[last])+len(b)]
	} else {
		t.pieces = append(t.pieces, added)
	}
	t.free = added[len(b):]
	return slices.Clip(added)
}

// separate adds a comma to a text that is not empty.
func (t *text) separate() {
	if t.size > 0 {
		t.add(comma)
	}
}

// cut removes everything after the first size bytes.
func (t *text) cut(size int) {
	for t.size > size {
		last := len(t.pieces) - 1
		piece := t.pieces[last]
		rest := max(0, len(piece)-(t.size-size))
		t.size -= len(piece) - rest
		if rest == 0 {
			t.pieces = t.pieces[:last]
			continue
		}
		t.pieces[last] = piece[:rest]
	}
	if last := len(t.pieces) - 1; last >= 0 {
		t.pieces[last] = slices.Clip(t.pieces[last])
	}
}
