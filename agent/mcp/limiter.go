package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// mostOther limits bodies that are no messages, and those of failures.
const mostOther = 64 << 10

// limiter is the RoundTripper of mcp-go's transports: it limits what a server may send,
// names the failures that mcp-go has no names for, and filters the messages.
type limiter struct {
	base   http.RoundTripper
	host   host
	answer func(*transport.JSONRPCResponse)
	sse    bool // the server is one of 2024
	// refused is the status with which the newest handshake was refused.
	refused atomic.Int32
}

// RoundTrip implements [http.RoundTripper].
func (l *limiter) RoundTrip(request *http.Request) (*http.Response, error) {
	sent := sentBy(request)
	response, err := l.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return l.failed(request, sent, response)
	}
	f := filter{server: l.host, answer: l.answer, only: sent.ID, once: !l.sse}
	switch kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind {
	case "text/event-stream":
		response.Body = &eventBody{Closer: response.Body, in: bufio.NewReader(response.Body), filter: f}
	case "application/json":
		response.Body = &wholeBody{Closer: response.Body, in: response.Body, filter: f}
		response.ContentLength = -1
	default:
		response.Body = limitedBody(response.Body, mostOther)
	}
	return response, nil
}

// sentBy returns what a request sends.
func sentBy(request *http.Request) (sent envelope) {
	if request.GetBody == nil {
		return sent
	}
	if body, err := request.GetBody(); err == nil {
		_ = json.NewDecoder(body).Decode(&sent)
		_ = body.Close()
	}
	return sent
}

// failed returns a response that mcp-go knows what to do with, or a fault with the
// status.
func (l *limiter) failed(request *http.Request, sent envelope, response *http.Response) (*http.Response, error) {
	body := response.Body
	response.Body = limitedBody(body, mostOther)
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized:
		return response, nil
	case status < 400 && response.Header.Get("Location") != "":
		return response, nil // to be followed
	case sent.Method == string(protocol.MethodInitialize) && status < 500 && !l.sse:
		l.refused.Store(int32(status))
		return response, nil // perhaps a server of 2024
	case status == http.StatusNotFound && !l.sse:
		return response, nil // the session is over
	case status == http.StatusMethodNotAllowed && request.Method == http.MethodGet && !l.sse:
		return response, nil // it has nothing to announce
	}
	defer body.Close()
	text, err := io.ReadAll(response.Body)
	var answer envelope
	if err == nil && json.Unmarshal(text, &answer) == nil && len(answer.Error) > 0 && string(answer.Error) != "null" {
		response.Body = io.NopCloser(bytes.NewReader(text))
		return response, nil
	}
	return nil, &Fault{Kind: FaultHTTP, Detail: fmt.Sprint(response.StatusCode)}
}

// CloseIdleConnections lets http.Client close those of the base.
func (l *limiter) CloseIdleConnections() {
	if c, ok := l.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// wholeBody is a body with one message, or an array of them.
type wholeBody struct {
	io.Closer
	in     io.Reader
	filter filter
	out    []byte
	err    error
}

// Read implements [io.Reader].
func (b *wholeBody) Read(p []byte) (int, error) {
	if b.err == nil {
		b.err = io.EOF
		text, err := io.ReadAll(io.LimitReader(b.in, mostMessage+1))
		switch {
		case err != nil:
			b.err = err
		case len(text) > mostMessage:
			b.err = &Fault{Kind: FaultTooLarge, Detail: bytesText(mostMessage)}
		default:
			messages, err := b.filter.messages(text)
			if err != nil {
				b.filter.server.report(HappenedNoMessage, beginning(text, shownOf))
			}
			b.out = bytes.Join(asBytes(messages), []byte("\n"))
		}
	}
	if len(b.out) == 0 {
		return 0, b.err
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

func asBytes(messages []json.RawMessage) [][]byte {
	out := make([][]byte, len(messages))
	for i, message := range messages {
		out[i] = message
	}
	return out
}

// eventBody is a stream of server-sent events. It reads lines, not events: those that
// are a whole message are filtered, all others are passed on as they are.
type eventBody struct {
	io.Closer
	in     *bufio.Reader
	filter filter
	size   int // of the event so far
	out    []byte
	err    error
}

// Read implements [io.Reader].
func (b *eventBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 && b.err == nil {
		b.line()
	}
	if len(b.out) == 0 {
		return 0, b.err
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

// line handles one line.
func (b *eventBody) line() {
	var line []byte
	for more := true; more; {
		part, err := b.in.ReadSlice('\n')
		line = append(line, part...)
		if more = errors.Is(err, bufio.ErrBufferFull); !more {
			b.err = err
		}
		if b.size += len(part); b.size > mostMessage {
			b.tooLarge()
			return
		}
	}
	text := bytes.TrimRight(line, "\r\n")
	if len(text) == 0 {
		b.size = 0
	}
	b.out = line
	if data, isData := bytes.CutPrefix(text, []byte("data:")); isData {
		if messages, err := b.filter.messages(data); err == nil {
			b.out = nil
			for _, message := range messages {
				b.out = fmt.Appendf(b.out, "data: %s\n\n", message)
			}
		}
	}
}

// tooLarge ends the stream with an answer to the request, or with a fault.
func (b *eventBody) tooLarge() {
	fault := &Fault{Kind: FaultTooLarge, Detail: bytesText(mostMessage)}
	b.err = fault
	if !b.filter.only.IsNil() && !b.filter.answered {
		b.out, b.err = fmt.Appendf(nil, "\n\ndata: %s\n\n", refusal(b.filter.only, codeTooLarge, fault.Detail)), io.EOF
	}
}
