package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
)

// The longest header and body of a message that are accepted.
const (
	maxHeader = 64 << 10
	maxBody   = 32 << 20
)

var errTooLarge = errors.New("the language server sent a larger message than is accepted")

// codec is that of the protocol, with limits.
type codec struct{ jsonrpc2.VSCodeObjectCodec }

// ReadObject implements [jsonrpc2.ObjectCodec].
func (codec) ReadObject(stream *bufio.Reader, v any) error {
	length, err := contentLength(stream)
	if err != nil {
		return err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(stream, body); err != nil {
		return err
	}
	return json.Unmarshal(body, v)
}

// contentLength reads the header of a message.
func contentLength(stream *bufio.Reader) (length int, err error) {
	length = -1
	for size := 0; ; {
		line, err := stream.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, errTooLarge
		} else if err != nil {
			return 0, err
		}
		if size += len(line); size > maxHeader {
			return 0, errTooLarge
		}
		field, value, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		switch {
		case field == "" && length < 0:
			return 0, errors.New("the language server printed what is no message")
		case field == "":
			return length, nil
		case strings.EqualFold(field, "Content-Length"):
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 {
				return 0, fmt.Errorf("the language server sent a message of the length %.40q", value)
			}
			if length > maxBody {
				return 0, errTooLarge
			}
		}
	}
}
