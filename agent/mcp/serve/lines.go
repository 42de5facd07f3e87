package serve

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// maxMessage limits one message of a client, in bytes. A longer one is refused;
	// one that has not ended after maxSkipped ends the connection.
	maxMessage = 16 << 20
	maxSkipped = 256 << 20
	// maxRequests limits the requests of one client that run at a time.
	maxRequests = 64
	// maxNotices limits the notifications that wait to be written.
	maxNotices = 256
	// lastAnswers is how long requests may still run when the input has ended: a script
	// pipes some in and reads all answers, but a client that died reads none.
	lastAnswers = time.Minute
)

// Serve talks to one client over lines of JSON-RPC, until the input or ctx ends. What was
// asked before the input ended is still answered, but for what needs the client's own
// answer. It is ours because mcp-go's server for input and output knows one client in a
// process, and reads lines of any length. Reading ends with ctx only if in does.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &peer{id: rand.Text(), out: out, notices: make(chan mcp.JSONRPCNotification, maxNotices), open: map[int64]chan json.RawMessage{}, left: make(chan struct{})}
	if err := s.protocol.RegisterSession(ctx, c); err != nil {
		return fmt.Errorf("begin to serve a client: %w", err)
	}
	defer s.protocol.UnregisterSession(context.WithoutCancel(ctx), c.id)
	var notifying, running sync.WaitGroup
	defer notifying.Wait()
	defer cancel()
	defer func() {
		close(c.left)
		defer time.AfterFunc(lastAnswers, cancel).Stop()
		running.Wait()
	}()
	notifying.Go(func() { c.notify(ctx) })

	requests := s.protocol.WithContext(ctx, c)
	slots := make(chan struct{}, maxRequests)
	lines := lineReader{in: bufio.NewReaderSize(in, 64<<10)}
	var err error
	for ctx.Err() == nil {
		var message json.RawMessage
		var refused *refusal
		if message, refused, err = lines.next(); err != nil {
			break
		}
		if refused != nil {
			c.write(refused)
			continue
		}
		if c.answered(message) {
			continue
		}
		// A notification may cancel a request that holds a slot, and what follows the
		// handshake needs its result.
		if isNotification(message) || isHandshake(message) {
			c.write(s.protocol.HandleMessage(requests, message))
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		running.Go(func() {
			defer func() { <-slots }()
			c.write(s.protocol.HandleMessage(requests, message))
		})
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("read from the client: %w", err)
	}
	return ctx.Err()
}

// isNotification reports whether a message wants no answer.
func isNotification(message json.RawMessage) bool {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return json.Unmarshal(message, &m) == nil && m.Method != "" && m.ID == nil
}

// isHandshake reports whether a message is the first request of a client.
func isHandshake(message json.RawMessage) bool {
	var m struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(message, &m) == nil && m.Method == string(mcp.MethodInitialize)
}

// peer is the client at the other end of the lines. It implements the session
// interfaces of mcp-go's server.
type peer struct {
	id      string
	ready   atomic.Bool
	notices chan mcp.JSONRPCNotification
	left    chan struct{} // closed when the client's input has ended
	info    atomic.Pointer[mcp.Implementation]
	can     atomic.Pointer[mcp.ClientCapabilities]

	writing sync.Mutex // held while a message is written
	out     io.Writer

	mu   sync.Mutex // guards what follows
	next int64
	open map[int64]chan json.RawMessage // requests to the client
}

var (
	_ server.SessionWithClientInfo  = (*peer)(nil)
	_ server.SessionWithElicitation = (*peer)(nil)
)

// SessionID implements [server.ClientSession].
func (c *peer) SessionID() string { return c.id }

// Initialize implements [server.ClientSession].
func (c *peer) Initialize() { c.ready.Store(true) }

// Initialized implements [server.ClientSession].
func (c *peer) Initialized() bool { return c.ready.Load() }

// NotificationChannel implements [server.ClientSession].
func (c *peer) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.notices }

// GetClientInfo implements [server.SessionWithClientInfo].
func (c *peer) GetClientInfo() mcp.Implementation { return value(&c.info) }

// SetClientInfo implements [server.SessionWithClientInfo].
func (c *peer) SetClientInfo(info mcp.Implementation) { c.info.Store(&info) }

// GetClientCapabilities implements [server.SessionWithClientInfo].
func (c *peer) GetClientCapabilities() mcp.ClientCapabilities { return value(&c.can) }

// SetClientCapabilities implements [server.SessionWithClientInfo].
func (c *peer) SetClientCapabilities(can mcp.ClientCapabilities) { c.can.Store(&can) }

func value[T any](p *atomic.Pointer[T]) (v T) {
	if stored := p.Load(); stored != nil {
		v = *stored
	}
	return v
}

// write writes a message as a line; nil is none. An error shows at the next read:
// whoever does not read leaves.
func (c *peer) write(message any) {
	if message == nil {
		return
	}
	line, err := json.Marshal(message)
	if err != nil {
		return // every message of the protocol has a JSON form
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.out.Write(append(line, '\n'))
}

// notify writes notifications, until ctx ends.
func (c *peer) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.notices:
			c.write(n)
		}
	}
}

// answered passes on an answer to a request of ours, and reports whether the message
// was one.
func (c *peer) answered(message json.RawMessage) bool {
	var m struct {
		ID     *int64 `json:"id"`
		Method string `json:"method"`
	}
	if json.Unmarshal(message, &m) != nil || m.Method != "" || m.ID == nil {
		return false
	}
	c.mu.Lock()
	answer := c.open[*m.ID]
	delete(c.open, *m.ID)
	c.mu.Unlock()
	if answer != nil {
		answer <- message
	}
	return true // or an answer to what nobody asked any more
}

// RequestElicitation implements [server.SessionWithElicitation].
func (c *peer) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	answer := make(chan json.RawMessage, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.open[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.open, id)
	}()
	c.write(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": id, "method": mcp.MethodElicitationCreate, "params": r.Params})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.left:
		return nil, errors.New("the client has left")
	case message := <-answer:
		var m struct {
			Result *mcp.ElicitationResult `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(message, &m); err != nil {
			return nil, fmt.Errorf("read the client's answer: %w", err)
		}
		if m.Error != nil || m.Result == nil {
			return nil, errors.New("the client did not answer")
		}
		return m.Result, nil
	}
}
