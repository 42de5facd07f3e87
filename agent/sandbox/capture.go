package sandbox

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// capture turns a stream of bytes into valid UTF-8, passes it on and keeps
// its first and last half limit. It belongs to the goroutine that copies the
// stream until that has ended.
type capture struct {
	half    int
	emit    func(string) // may be nil
	partial []byte       // a rune that is not complete yet
	head    []byte
	tail    []byte
	total   int64
}

func newCapture(limit int, emit func(string)) *capture {
	return &capture{half: (limit + 1) / 2, emit: emit}
}

// Write implements [io.Writer]. It always takes everything.
func (c *capture) Write(p []byte) (int, error) {
	whole := append(c.partial, p...)
	n := completeRunes(whole)
	c.add(whole[:n])
	c.partial = append([]byte(nil), whole[n:]...)
	return len(p), nil
}

// flush ends the stream: a rune still incomplete is invalid.
func (c *capture) flush() {
	c.add(c.partial)
	c.partial = nil
}

func (c *capture) add(p []byte) {
	if len(p) == 0 {
		return
	}
	text := strings.ToValidUTF8(string(p), "\uFFFD")
	if c.emit != nil {
		c.emit(text)
	}
	c.total += int64(len(text))
	n := min(len(text), c.half-len(c.head))
	c.head = append(c.head, text[:n]...)
	c.tail = append(c.tail, text[n:]...)
	if len(c.tail) > 4*c.half { // amortises the move
		c.tail = append(c.tail[:0], c.tail[len(c.tail)-c.half:]...)
	}
}

// dropped counts the bytes that were not kept.
func (c *capture) dropped() int64 {
	return c.total - int64(len(c.head)) - int64(min(len(c.tail), c.half))
}

// String returns what was kept. Where something was dropped, a line says so.
func (c *capture) String() string {
	n := c.dropped()
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
