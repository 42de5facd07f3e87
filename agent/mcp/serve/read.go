package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// errEndless ends a connection whose client writes a line without end.
var errEndless = errors.New("a message does not end")

// lineReader reads messages, one on each line.
type lineReader struct{ in *bufio.Reader }

// next returns the next message, which the caller owns, or what its client is told
// instead. The last message needs no end of its line.
func (l lineReader) next() (json.RawMessage, *refusal, error) {
	var line, tail []byte
	for size := 0; ; {
		part, err := l.in.ReadSlice('\n')
		size += len(part)
		switch {
		case size <= maxMessage:
			line = append(line, part...)
		case size > maxSkipped:
			return nil, nil, errEndless
		default:
			line = line[:min(len(line), nearby)]
			tail = append(tail, part[max(0, len(part)-nearby):]...)
			tail = append(tail[:0], tail[max(0, len(tail)-nearby):]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || size == 0):
			return nil, nil, err
		case tail != nil:
			return nil, tooLong(line, tail), nil
		}
		return bytes.TrimRight(line, "\r\n"), nil, nil
	}
}

// refusal is the answer to a message that was not read.
type refusal struct {
	RPC   string                  `json:"jsonrpc"`
	ID    json.RawMessage         `json:"id"`
	Error mcp.JSONRPCErrorDetails `json:"error"`
}

// nearby is how much of both ends of a long message is kept, to tell which request
// it is.
const nearby = 512

// An id is looked for where it can only be the message's own: before or behind all
// that is long.
var (
	idFirst = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*,`)
	})
	idLast = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"id"\s*:\s*(\d{1,18}|"[\w-]{1,100}")\s*\}\s*$`) })
)

func tooLong(head, tail []byte) *refusal {
	r := &refusal{RPC: mcp.JSONRPC_VERSION, ID: json.RawMessage("null"), Error: mcp.JSONRPCErrorDetails{
		Code: mcp.INVALID_REQUEST, Message: fmt.Sprintf("The message is longer than %d MB and was not read.", maxMessage>>20),
	}}
	if m := idFirst().FindSubmatch(head); m != nil {
		r.ID = m[1]
	} else if m := idLast().FindSubmatch(tail); m != nil {
		r.ID = m[1]
	}
	return r
}
