package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

const (
	// maxPages limits the WebSockets that are open at a time.
	maxPages = 64
	// maxStrangers limits those that have not signed in yet.
	maxStrangers = 16
	// signInTimeout limits how long a page may take to send the secret.
	signInTimeout = 10 * time.Second
	// statusSignedOut closes a WebSocket whose first message is not the secret.
	// transport.ts knows it.
	statusSignedOut websocket.StatusCode = 4401
	// maxRequest limits one message from the page. A prompt of a megabyte fits
	// easily.
	maxRequest = 8 << 20
	// queueLength limits the messages that wait for a slow page. A page that
	// falls further behind is disconnected; it connects again and reads what it
	// missed, so that nothing is lost and nobody waits for it.
	queueLength = 512
	// maxCalls limits the calls that run at a time, of all pages together.
	maxCalls = 128
	// pingInterval is how often a page is asked whether it is still there, and
	// pingTimeout how long it may take to answer, which has to cover one long
	// message over a slow connection.
	pingInterval, pingTimeout = 15 * time.Second, 30 * time.Second
)

// request is a page's message.
type request struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Args   json.RawMessage `json:"args"`
	// Key names a call that must not run twice. A page that was cut off sends it
	// again with the same key. Empty for calls that may be repeated.
	Key string `json:"key"`
}

// methodPing is answered by the server itself, so that a page notices a
// connection that died without being closed.
const methodPing = "ping"

// socket serves one page until it leaves.
func (s *Server) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has answered
	}
	defer conn.CloseNow() //nolint:errcheck // it may be closed already
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	known := s.admit(cancel)
	signedIn := s.signIn(ctx, conn)
	if known(); !signedIn {
		return
	}
	select {
	case s.pages <- struct{}{}:
		defer func() { <-s.pages }()
	default:
		_ = conn.Close(websocket.StatusTryAgainLater, "too many pages are open")
		return
	}
	conn.SetReadLimit(maxRequest)

	out := make(chan []byte, queueLength)
	send := func(b []byte) {
		select {
		case out <- b:
		default:
			cancel()
		}
	}
	send([]byte(`{"signed_in":true}`))
	defer s.app.Subscribe(func(envelope []byte) {
		send(fmt.Appendf(nil, `{"event":%s}`, envelope))
	})()
	go func() {
		defer cancel()
		keepAlive(ctx, conn)
	}()
	go func() {
		defer cancel()
		for {
			select {
			case <-ctx.Done():
				return
			case b := <-out:
				if conn.Write(ctx, websocket.MessageText, b) != nil {
					return
				}
			}
		}
	}()
	s.read(ctx, conn, send)
}

// admit counts a WebSocket that has not signed in, until known is called. If there are too
// many, the oldest one ends, so that programs that never sign in keep no page out: that
// signs in at once.
func (s *Server) admit(end context.CancelFunc) (known func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.strangers) == maxStrangers {
		(*s.strangers[0])()
		s.strangers = s.strangers[1:]
	}
	s.strangers = append(s.strangers, &end)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.strangers = slices.DeleteFunc(s.strangers, func(c *context.CancelFunc) bool { return c == &end })
	}
}

// signIn reports whether the first message is the secret and arrives in time.
func (s *Server) signIn(ctx context.Context, conn *websocket.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, signInTimeout)
	defer cancel()
	conn.SetReadLimit(maxCredential)
	_, b, err := conn.Read(ctx)
	if err != nil {
		return false
	}
	var first struct {
		Secret string `json:"secret"`
	}
	if json.Unmarshal(b, &first) != nil || !s.isSecret(first.Secret) {
		_ = conn.Close(statusSignedOut, "not signed in")
		return false
	}
	return true
}

// read runs the page's calls until the connection ends. A call outlives its
// page, because a user who reloads the page or closes it does not take back
// what they did just before.
func (s *Server) read(ctx context.Context, conn *websocket.Conn, send func([]byte)) {
	for {
		_, b, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var req request
		if err := json.Unmarshal(b, &req); err != nil {
			_ = conn.Close(websocket.StatusInvalidFramePayloadData, "not a request")
			return
		}
		if req.Method == methodPing {
			send([]byte(`{"pong":true}`))
			continue
		}
		select {
		case s.calls <- struct{}{}:
		case <-ctx.Done():
			return
		}
		go func() {
			defer func() { <-s.calls }()
			reply := s.once.reply(req.Key, func() string { return s.app.Call(s.ctx, req.Method, string(req.Args)) })
			// The reply is a JSON object, and the id becomes its first member.
			send(append(strconv.AppendInt([]byte(`{"id":`), req.ID, 10), ","+reply[1:]...))
		}()
	}
}

// keepAlive returns once the page does not answer, or ctx ends. A page that is
// gone would keep its place otherwise, because nothing closes a connection whose
// way is interrupted.
func keepAlive(ctx context.Context, conn *websocket.Conn) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if ping(ctx, conn) != nil {
			return
		}
	}
}

func ping(ctx context.Context, conn *websocket.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return conn.Ping(ctx)
}

// awaitCalls waits for the calls that run. No call begins after it.
func (s *Server) awaitCalls() {
	for range maxCalls {
		s.calls <- struct{}{}
	}
}
