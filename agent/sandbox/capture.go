package sandbox

import (
	"fmt"
	"strings"
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
	whole := append(c.partial, p...)
	n := completeRunes(whole)
	c.add(whole[:n])
	c.partial = append([]byte(nil), whole[n:]...)
	return len(p), nil
}

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
	text := strings.ToValidUTF8(string(p), "\uFFFD")
	if c.emit != nil {
		c.emit(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.preserve(text)
	c.total += int64(len(text))
	n := min(len(text), c.half-len(c.head))
	c.head = append(c.head, text[:n]...)
	c.tail = append(c.tail, text[n:]...)
	if len(c.tail) > 4*c.half { // amortises the move
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.half:]...)
	}
}

// preserve passes text to the spill once memory overflows. The text in memory
// goes first.
func (c *capture) preserve(text string) {
	switch {
	case c.spill == nil:
	case c.spill.begun():
		c.spill.write(text)
	case c.total+int64(len(text)) > int64(2*c.half):
		c.spill.write(string(c.head) + string(c.tail)) // complete, because memory has not overflowed before
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
