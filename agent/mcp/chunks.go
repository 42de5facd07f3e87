package mcp

import (
	"bytes"
	"io"
)

const leastChunk, mostChunk = 512, 1 << 20

// chunks collects bytes without moving those that it has, so that a text of 16 MB
// needs no more until it is whole.
type chunks struct {
	parts [][]byte
	size  int
}

func (c *chunks) add(p []byte) {
	for len(p) > 0 {
		last := len(c.parts) - 1
		if last < 0 || len(c.parts[last]) == cap(c.parts[last]) {
			c.parts = append(c.parts, make([]byte, 0, min(max(c.size, len(p), leastChunk), mostChunk)))
			last++
		}
		part := c.parts[last]
		n := min(len(p), cap(part)-len(part))
		c.parts[last], p = append(part, p[:n]...), p[n:]
		c.size += n
	}
}

// Write implements [io.Writer].
func (c *chunks) Write(p []byte) (int, error) {
	c.add(p)
	return len(p), nil
}

// join returns all bytes, which the caller then owns.
func (c *chunks) join() []byte {
	if len(c.parts) == 1 {
		return c.parts[0]
	}
	return bytes.Join(c.parts, nil)
}

// ends returns copies of the first and the last bytes, at most most of each.
func (c *chunks) ends(most int) (head, tail []byte) {
	for _, part := range c.parts {
		head = append(head, part[:min(len(part), most-len(head))]...)
	}
	for i := len(c.parts) - 1; i >= 0 && len(tail) < most; i-- {
		part := c.parts[i]
		tail = append(bytes.Clone(part[max(0, len(part)-(most-len(tail))):]), tail...)
	}
	return head, tail
}

// readAll reads at most most bytes.
func readAll(from io.Reader, most int64) ([]byte, error) {
	var all chunks
	n, err := io.Copy(&all, io.LimitReader(from, most+1))
	if err == nil && n > most {
		err = errTooLarge
	}
	if err != nil {
		return nil, err
	}
	return all.join(), nil
}
