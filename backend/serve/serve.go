package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// headerTimeout limits how long a client may take to send a request's
	// header.
	headerTimeout = 10 * time.Second
	// readTimeout limits a whole request, but not the WebSocket.
	readTimeout = 20 * time.Second
	// idleTimeout closes connections that wait for another request.
	idleTimeout = 30 * time.Second
	// maxHeader limits the header of a request.
	maxHeader = 32 << 10
)

// App is the application that the browser needs. A call returns soon after its
// context ends.
type App interface {
	Call(ctx context.Context, method, args string) string
	Subscribe(watch func(envelope []byte)) (cancel func())
}

// Server answers the browsers of one user. Its methods are safe for concurrent
// use.
type Server struct {
	app    App
	files  fs.FS
	assets http.Handler
	ctx    context.Context
	secret string
	pages  chan struct{} // a slot for each page that has signed in
	calls  chan struct{} // a slot for each running call
	once   once

	mu     sync.Mutex
	tokens []digest // unused, the oldest first
	// strangers end the WebSockets that have not signed in, the oldest first.
	strangers []*context.CancelFunc
}

// New returns a server for app with the given front end. It serves until ctx
// ends.
func New(ctx context.Context, app App, assets fs.FS) *Server {
	return &Server{
		app: app, files: assets, assets: http.FileServerFS(assets), ctx: ctx,
		secret: newSecret(), pages: make(chan struct{}, maxPages), calls: make(chan struct{}, maxCalls),
	}
}

// URL returns the address for a browser, with a new one-time token.
func (s *Server) URL(addr net.Addr) string {
	return "http://" + addr.String() + "/#token=" + s.newToken()
}

// Serve answers on a loopback listener until the server's context ends, then
// closes the listener and waits for the calls that run. Call it only once.
func (s *Server) Serve(listener net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	defer context.AfterFunc(s.ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	s.awaitCalls()
	return nil
}

// Handler returns the HTTP handler. Serve it on a loopback address only.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", s.file)
	mux.Handle("POST /session", sameOriginOnly(s.exchange))
	mux.Handle("GET /ws", sameOriginOnly(s.socket))
	return Harden(loopbackOnly(mux))
}
