package env

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// lineReader reads lines of any length in constant memory, until its context
// ends.
type lineReader struct {
	r     *bufio.Reader
	limit int // bytes kept of a line
}

// newLineReader reads a file of about the given size. Most files are small, and
// a large buffer for each would be most of what a Read allocates.
func newLineReader(ctx context.Context, r io.Reader, limit int, size int64) *lineReader {
	buffer := min(max(size, sniffed), 64<<10)
	return &lineReader{r: bufio.NewReaderSize(endingReader{ctx, r}, int(buffer)), limit: limit}
}

// endingReader reads until a context ends, then returns its error.
type endingReader struct {
	ctx context.Context
	io.Reader
}

func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// binary looks for a NUL byte ahead, before the first line is read.
func (l *lineReader) binary() bool {
	start, _ := l.r.Peek(sniffed)
	return bytes.IndexByte(start, 0) >= 0
}

// next returns the next line as valid UTF-8 without its ending, or io.EOF. A
// line beyond the limit ends with a note about the missing rest.
func (l *lineReader) next() (string, error) {
	var kept []byte
	cut := 0
	for {
		part, err := l.r.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !more && (!errors.Is(err, io.EOF) || len(kept)+cut+len(part) == 0) {
			return "", err
		}
		if !more {
			part = bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
		}
		n := min(len(part), l.limit-len(kept))
		kept = append(kept, part[:n]...)
		cut += len(part) - n
		if more {
			continue
		}
		line := strings.ToValidUTF8(string(kept), "\uFFFD")
		if cut > 0 {
			line += fmt.Sprintf(" [... %d more bytes in this line]", cut)
		}
		return line, nil
	}
}

// lineSplitter splits pieces of text into lines and calls fn for each.
type lineSplitter struct {
	rest strings.Builder
	fn   func(line string)
}

func (s *lineSplitter) add(text string) {
	for {
		line, after, found := strings.Cut(text, "\n")
		s.rest.WriteString(line)
		if !found {
			return
		}
		text = after
		s.flush()
	}
}

func (s *lineSplitter) flush() {
	if s.rest.Len() > 0 {
		s.fn(s.rest.String())
		s.rest.Reset()
	}
}

func slash(path string) string { return filepath.ToSlash(path) }
