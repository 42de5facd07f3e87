package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// peer receives what a server sends by itself. Its methods do not block and do
// not keep what they are given.
type peer interface {
	// notified takes a notification.
	notified(method string, params json.RawMessage)
	// asked takes a request and answers it, once, now or later.
	asked(method string, params json.RawMessage, answer func(reply))
	// strange takes bytes that are not part of the protocol.
	strange(what Happening, args ...string)
	// began takes the first words of what may not be a server at all.
	began(text string)
}

// reply answers a request of a server.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Result any             `json:"result,omitempty"`
	Error  *replyError     `json:"error,omitempty"`
	RPC    string          `json:"jsonrpc"`
}

type replyError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

const (
	queued      = 64      // messages that wait for the server to read
	mostGarbage = 4 << 20 // bytes of garbage that a connection survives
	mostShown   = 20      // lines of it that are logged
	deafTime    = 3 * time.Second
	muteTime    = time.Second
	shownOf     = 200 // bytes of something strange that are shown
)

// lineLink speaks JSON-RPC in lines: what comes in is fed to it, what goes out is
// written by one goroutine. Nobody waits for a server that does not read longer
// than its own context.
type lineLink struct {
	to   output
	peer peer

	queue chan []byte
	ended chan struct{} // closed with err set
	quit  chan struct{} // closed to end the writer
	wrote chan struct{} // closed when the writer is gone

	once    sync.Once // closes quit
	mu      sync.Mutex
	err     error
	pending map[int64]chan *transport.JSONRPCResponse

	feed feed
}

// output is where a link writes.
type output struct {
	io.WriteCloser             // set before the first message
	busy           atomic.Bool // the server is to read
}

// feed is what only the goroutine that feeds a link uses.
type feed struct {
	in      splitter
	garbage int // bytes that were not a message
	shown   int // lines of it that are in the log
}

func newLineLink(p peer) *lineLink {
	l := &lineLink{
		peer: p, queue: make(chan []byte, queued), ended: make(chan struct{}), quit: make(chan struct{}), wrote: make(chan struct{}),
		pending: map[int64]chan *transport.JSONRPCResponse{},
	}
	l.feed.in = splitter{most: mostLine, line: l.received, long: l.tooLong, flood: func() {
		l.fail(&Fault{Kind: FaultTooLarge, Detail: bytesText(mostSkipped)})
	}}
	return l
}

// write runs until close. It is the only one that writes.
func (l *lineLink) write() {
	defer close(l.wrote)
	for {
		select {
		case line := <-l.queue:
			l.to.busy.Store(true)
			_, err := l.to.Write(line)
			l.to.busy.Store(false)
			if err != nil {
				l.deaf(err)
				return
			}
		case <-l.quit:
			return
		}
	}
}

// deaf fails the link because the server closed its input. Most of those are
// about to end, which says more.
func (l *lineLink) deaf(err error) {
	timer := time.NewTimer(deafTime)
	defer timer.Stop()
	select {
	case <-l.ended:
	case <-l.quit:
	case <-timer.C:
		l.fail(&Fault{Kind: FaultBlocked, Err: err})
	}
}

// mute fails the link because the server closed its output: nothing can be answered any
// more. Most of those are about to end, which says more.
func (l *lineLink) mute() {
	timer := time.NewTimer(muteTime)
	defer timer.Stop()
	select {
	case <-l.ended:
	case <-l.quit:
	case <-timer.C:
		l.fail(&Fault{Kind: FaultProtocol, Detail: "it closed its output"})
	}
}

// blocked reports whether the server does not read what was written.
func (l *lineLink) blocked() bool { return l.to.busy.Load() }

// fail ends the link for the reason that came first.
func (l *lineLink) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
		close(l.ended)
	}
}

func (l *lineLink) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// close lets go of the server's input, which also ends a write that it blocks.
func (l *lineLink) close() {
	l.fail(&Fault{Kind: FaultClosed})
	l.once.Do(func() { close(l.quit) })
	_ = l.to.Close()
	<-l.wrote
}

// errNotSent marks a request that the server has certainly not seen.
var errNotSent = errors.New("the request was not sent")

func (l *lineLink) send(ctx context.Context, message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if err := l.failure(); err != nil { // which the queue might have room for
		return fmt.Errorf("%w: %w", errNotSent, err)
	}
	select {
	case <-l.ended:
		return fmt.Errorf("%w: %w", errNotSent, l.failure())
	case <-ctx.Done():
		return ctx.Err()
	case l.queue <- append(text, '\n'):
		return nil
	}
}

// SendRequest implements [transport.Interface].
func (l *lineLink) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, ok := request.ID.Value().(int64)
	if !ok {
		return nil, errors.New("send request: its id is not a number")
	}
	answer := make(chan *transport.JSONRPCResponse, 1)
	l.mu.Lock()
	l.pending[id] = answer
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.pending, id)
	}()
	if err := l.send(ctx, request); err != nil {
		return nil, err
	}
	select {
	case response := <-answer:
		return response, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.ended:
		select {
		case response := <-answer: // it came just before the end
			return response, nil
		default:
			return nil, l.failure()
		}
	}
}

// SendNotification implements [transport.Interface].
func (l *lineLink) SendNotification(ctx context.Context, n protocol.JSONRPCNotification) error {
	return l.send(ctx, n)
}

// received takes a line from the server.
func (l *lineLink) received(line []byte) {
	messages, err := parseMessages(line)
	if err != nil {
		l.strange(line)
	}
	for _, m := range messages {
		switch {
		case m.isResponse():
			l.answered(m)
		case m.isRequest():
			id := m.ID
			l.peer.asked(m.Method, m.Params, func(r reply) { l.reply(id, r) })
		default:
			l.peer.notified(m.Method, m.Params)
		}
	}
}

// strange takes a line that is not a message.
func (l *lineLink) strange(line []byte) {
	if l.feed.shown++; l.feed.shown <= mostShown {
		l.peer.strange(HappenedNoMessage, beginning(line, shownOf))
	}
	if l.feed.garbage += len(line); l.feed.garbage > mostGarbage {
		l.fail(&Fault{Kind: FaultGarbage, Detail: beginning(line, shownOf)})
	}
	if l.feed.shown == 1 {
		l.peer.began(beginning(line, shownOf))
	}
	if id, ok := idNear(line[:min(len(line), keptEnds)], line[max(0, len(line)-keptEnds):]); ok {
		l.spoil(id, codeGarbage, beginning(line, shownOf))
	}
}

// reply answers without waiting: a server that asks but does not read is given up.
func (l *lineLink) reply(id json.RawMessage, r reply) {
	r.ID, r.RPC = id, protocol.JSONRPC_VERSION
	text, err := json.Marshal(r)
	if err != nil {
		return // a result of ours always has a JSON form
	}
	select {
	case l.queue <- append(text, '\n'):
	case <-l.ended:
	default:
		l.fail(&Fault{Kind: FaultBlocked})
	}
}

func (l *lineLink) answered(m message) {
	id, ours := m.number()
	l.mu.Lock()
	answer := l.pending[id]
	delete(l.pending, id) // a second answer to the same request is foreign
	l.mu.Unlock()
	if !ours || answer == nil {
		l.peer.strange(HappenedForeign, beginning(m.ID, shownOf))
		return
	}
	response := &transport.JSONRPCResponse{JSONRPC: protocol.JSONRPC_VERSION, ID: protocol.NewRequestId(id), Result: m.Result}
	if m.Error != nil {
		response.Error = &protocol.JSONRPCErrorDetails{}
		if err := json.Unmarshal(m.Error, response.Error); err != nil {
			response.Error.Message = beginning(m.Error, shownOf)
		}
	}
	answer <- response
}

// tooLong fails the request whose answer was too long, or all if it cannot be
// told which.
func (l *lineLink) tooLong(head, tail []byte, size int64) {
	text := fmt.Sprintf("a message of %s, where %s are accepted", bytesText(size), bytesText(mostLine))
	l.peer.strange(HappenedTooLong, bytesText(size), bytesText(mostLine))
	if id, ok := idNear(head, tail); ok && l.spoil(id, codeTooLarge, text) {
		return
	}
	l.mu.Lock()
	waiting := slices.Collect(maps.Keys(l.pending))
	l.mu.Unlock()
	for _, id := range waiting {
		l.spoil(id, codeTooLarge, text)
	}
}

// These mark answers that we refused. They are in the range of codes that an
// application may use.
const (
	codeTooLarge = -1 - iota
	codeGarbage
)

// spoil answers a request of ours in place of a server whose answer cannot be
// read. It reports whether there is such a request.
func (l *lineLink) spoil(id int64, code int, text string) bool {
	l.mu.Lock()
	answer := l.pending[id]
	delete(l.pending, id)
	l.mu.Unlock()
	if answer == nil {
		return false
	}
	answer <- &transport.JSONRPCResponse{ID: protocol.NewRequestId(id), Error: &protocol.JSONRPCErrorDetails{Code: code, Message: text}}
	return true
}

// SetNotificationHandler implements [transport.Interface]: notifications go to the
// peer.
func (l *lineLink) SetNotificationHandler(func(protocol.JSONRPCNotification)) {}

// GetSessionId implements [transport.Interface].
func (l *lineLink) GetSessionId() string { return "" }
