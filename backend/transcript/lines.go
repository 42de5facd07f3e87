package transcript

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// The limits of a file.
const (
	MaxLine  = 32 << 20 // longer lines are skipped
	MaxLines = 500_000
	MaxSize  = 1 << 30 // in bytes
)

// ErrTooLarge is the error of a file beyond the limits.
var ErrTooLarge = errors.New("the transcript is too large")

// lines yields the lines of a file; nil for a line that is too long. A line is valid
// until the next one.
func lines(ctx context.Context, r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for n := 0; ; n++ {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if n >= MaxLines {
				yield(nil, fmt.Errorf("%w: it has more than %d lines", ErrTooLarge, MaxLines))
				return
			}
			var err error
			line, err = readLine(ctx, in, line[:0])
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLong) {
				yield(nil, fmt.Errorf("read line %d: %w", n+1, err))
				return
			}
			if errors.Is(err, io.EOF) && len(line) == 0 {
				return
			}
			shown := line
			if errors.Is(err, errLong) {
				shown = nil
			}
			if !yield(shown, nil) || errors.Is(err, io.EOF) {
				return
			}
		}
	}
}

var errLong = errors.New("the line is too long")

// readLine appends the next line to line, without its end. Of a line that is too long
// it reads and drops the rest, and returns errLong. At the end of the file it
// returns io.EOF with what is left.
func readLine(ctx context.Context, in *bufio.Reader, line []byte) ([]byte, error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			line = append(line, part...)
			long = len(line) > MaxLine
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if stopped := ctx.Err(); stopped != nil {
				return line, stopped
			}
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return line[:0:0], errLong
		case err == nil:
			return line[:len(line)-1], nil
		}
		return line, err
	}
}
