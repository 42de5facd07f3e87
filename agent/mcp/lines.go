package mcp

import (
	"bytes"
	"slices"
	"strconv"
)

const (
	// mostMessage is the longest message that is accepted.
	mostMessage = 16 << 20
	// mostSkipped is how much of one longer line is skipped before its server is
	// given up.
	mostSkipped = 256 << 20
	// keptEnds is how much of both ends of a skipped line is kept, to tell what it was.
	keptEnds = 512
)

// splitter cuts a stream into lines. It holds one line of at most most bytes.
type splitter struct {
	most  int
	line  func(line []byte)                   // owns the line
	long  func(head, tail []byte, size int64) // a line was too long
	flood func()                              // a line does not end
	buf   []byte                              // the line so far, or its beginning
	skip  bool                                // the line is too long
	size  int64                               // of the line that is skipped
	tail  []byte                              // its newest bytes
}

// write takes the next bytes of the stream.
func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		s.add(part)
		if whole {
			s.end()
		}
	}
}

func (s *splitter) add(part []byte) {
	if !s.skip && len(s.buf)+len(part) <= s.most {
		s.buf = append(s.buf, part...)
		return
	}
	if !s.skip {
		s.skip, s.size = true, int64(len(s.buf))
		s.tail = last(s.buf)
		s.buf = bytes.Clone(s.buf[:min(len(s.buf), keptEnds)])
	}
	s.buf = append(s.buf, part[:min(len(part), max(0, keptEnds-len(s.buf)))]...)
	before := s.size
	s.size += int64(len(part))
	s.tail = last(append(s.tail, part[max(0, len(part)-keptEnds):]...))
	if before <= mostSkipped && s.size > mostSkipped {
		s.flood()
	}
}

// last returns a copy of the last bytes of a text.
func last(text []byte) []byte { return bytes.Clone(text[max(0, len(text)-keptEnds):]) }

func (s *splitter) end() {
	line, tail, size, skipped := s.buf, s.tail, s.size, s.skip
	s.buf, s.tail, s.size, s.skip = nil, nil, 0, false
	if skipped {
		s.long(line, tail, size)
		return
	}
	if line = bytes.TrimSuffix(line, []byte("\r")); len(bytes.TrimSpace(line)) > 0 {
		s.line(slices.Clip(line))
	}
}

// answeredID looks for the id of the answer that a text was to be, in its beginning and
// its end.
func answeredID(head, tail []byte) (int64, bool) {
	for _, part := range [][]byte{head, tail} {
		_, after, found := bytes.Cut(part, []byte(`"id":`))
		after = bytes.TrimLeft(after, " ")
		digits := len(after) - len(bytes.TrimLeft(after, "0123456789"))
		if id, err := strconv.ParseInt(string(after[:digits]), 10, 64); found && err == nil {
			return id, true
		}
	}
	return 0, false
}
