package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// capture turns a stream of bytes into valid UTF-8, passes it on and keeps its
// first and last half limit. With a spill, the rest goes there. One goroutine
// writes to a capture; others may read it meanwhile.
type capture struct {
	half    int
	emit    func(string) // may be nil
	partial []byte       // an incomplete rune; only the writer uses it

	mu      sync.Mutex // guards what follows
	head    []byte
	tail    []byte
	total   int64  // bytes since the last take
	dropped int64  // bytes that earlier takes left out
	spill   *spill // may be nil
}

func newCapture(limit int, emit func(string)) *capture {
	return &capture{half: (limit + 1) / 2, emit: emit}
}

// Write implements [io.Writer]. It always accepts everything.
func (c *capture) Write(p []byte) (int, error) {
	whole := p
	if len(c.partial) > 0 {
		whole = append(c.partial, p...)
	}
	n := completeRunes(whole)
	c.add(whole[:n])
	c.partial = slices.Clone(whole[n:])
	return len(p), nil
}

// ReadFrom implements [io.ReaderFrom]. It reads as much at once as a pipe holds.
func (c *capture) ReadFrom(r io.Reader) (int64, error) {
	buffer := make([]byte, pipeSize)
	total := int64(0)
	for {
		n, err := r.Read(buffer)
		_, _ = c.Write(buffer[:n]) // which accepts everything
		total += int64(n)
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}

// pipeSize is how much a pipe holds on Linux.
const pipeSize = 64 << 10

// flush ends the stream. A rune that is still incomplete is invalid.
func (c *capture) flush() {
	c.add(c.partial)
	c.partial = nil
	c.spill.close()
}

func (c *capture) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if !utf8.Valid(p) {
		p = bytes.ToValidUTF8(p, []byte("\uFFFD"))
	}
	if c.emit != nil {
		c.emit(string(p))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.preserve(p)
	c.total += int64(len(p))
	n := min(len(p), c.half-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.keepLast(p[n:])
}

// keepLast appends to the tail, which holds the last half limit at least.
func (c *capture) keepLast(p []byte) {
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	if len(p) > 0 && c.tail == nil {
		c.tail = make([]byte, 0, 2*c.half)
	}
	if len(c.tail)+len(p) > 2*c.half { // amortises the move
		c.tail = append(c.tail[:0], c.tail[max(0, len(c.tail)-c.half):]...)
	}
	c.tail = append(c.tail, p...)
}

// preserve passes text to the spill once memory overflows. The text in memory
// goes first.
func (c *capture) preserve(text []byte) {
	switch {
	case c.spill == nil:
	case c.spill.begun():
		c.spill.write(text)
	case c.total+int64(len(text)) > int64(2*c.half):
		c.spill.write(c.head) // with the tail it is complete, because memory has not overflowed before
		c.spill.write(c.tail)
		c.spill.write(text)
	}
}

// missing counts the bytes since the last take that memory did not keep.
func (c *capture) missing() int64 {
	return c.total - int64(len(c.head)) - int64(min(len(c.tail), c.half))
}

// lost counts all bytes that no text has contained or will contain.
func (c *capture) lost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dropped + c.missing()
}

// take returns the text kept since the last take. If something is missing, a
// line says so.
func (c *capture) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, missing := c.text(), c.missing()
	c.head, c.tail, c.total = nil, nil, 0
	c.dropped += missing
	return text
}

func (c *capture) text() string {
	n := c.missing()
	if n == 0 {
		return string(c.head) + string(c.tail)
	}
	head := string(c.head[:completeRunes(c.head)])
	tail := c.tail[len(c.tail)-c.half:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return fmt.Sprintf("%s\n[... %d bytes of output were dropped here ...]\n%s", head, n, tail)
}

// completeRunes returns the length of p without an incomplete last rune.
func completeRunes(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}
