package mcp

import "bytes"

const (
	// mostLine is the longest message that is accepted over standard output.
	mostLine = 16 << 20
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
	buf   chunks                              // the line so far, or its beginning
	skip  bool                                // the line is too long
	size  int64                               // of the line that is skipped
	tail  []byte                              // its newest bytes
}

// write takes the next bytes of the stream.
func (s *splitter) write(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		part, whole := p, end >= 0
		if whole {
			part, p = p[:end], p[end+1:]
		} else {
			p = nil
		}
		s.add(part)
		if whole {
			s.end()
		}
	}
}

func (s *splitter) add(part []byte) {
	if !s.skip && s.buf.size+len(part) <= s.most {
		s.buf.add(part)
		return
	}
	if !s.skip {
		head, tail := s.buf.ends(keptEnds)
		s.skip, s.size, s.tail = true, int64(s.buf.size), tail
		s.buf = chunks{}
		s.buf.add(head)
	}
	s.buf.add(part[:min(len(part), max(0, keptEnds-s.buf.size))])
	before := s.size
	s.size += int64(len(part))
	part = part[max(0, len(part)-keptEnds):]
	s.tail = append(s.tail[max(0, len(s.tail)+len(part)-keptEnds):], part...)
	if before <= mostSkipped && s.size > mostSkipped {
		s.flood()
	}
}

func (s *splitter) end() {
	line, tail, size, skipped := s.buf.join(), s.tail, s.size, s.skip
	s.buf, s.tail, s.size, s.skip = chunks{}, nil, 0, false
	if skipped {
		s.long(line, tail, size)
		return
	}
	if line = bytes.TrimSuffix(line, []byte("\r")); len(bytes.TrimSpace(line)) > 0 {
		s.line(line)
	}
}
