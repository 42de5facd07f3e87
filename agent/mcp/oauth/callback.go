package oauth

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"atelier.dev/atelier/agent/mcp"
)

const (
	callbackPath  = "/callback"
	callbackConns = 32               // connections at once
	callbackRead  = 5 * time.Second  // for a request to arrive
	callbackWrite = 45 * time.Second // for the answer, which waits for the tokens
	callbackStop  = 2 * time.Second  // for the last answer to reach the browser
)

// callback is a server on this computer, to which the browser comes back.
type callback struct {
	address   string // the redirect URI
	listeners []net.Listener
}

// listen opens the port of the configuration, or the one of an earlier registration
// if it is free, or any. A client that was registered by hand was registered for
// "localhost", which is both of this computer's addresses; what we register ourselves
// has the address that needs no look-up (RFC 8252, 7.3).
func listen(cfg mcp.OAuth, before string) (*callback, error) {
	host := "127.0.0.1"
	if cfg.ClientID != "" || cfg.MetadataURL != "" {
		host = "localhost"
	}
	if cfg.CallbackPort != 0 {
		at, err := listenOn(host, cfg.CallbackPort)
		if err != nil {
			return nil, &PortError{Port: cfg.CallbackPort}
		}
		return at, nil
	}
	if u, err := url.Parse(before); err == nil && u.Hostname() == host {
		if port, err := strconv.Atoi(u.Port()); err == nil {
			if at, err := listenOn(host, port); err == nil {
				return at, nil
			}
		}
	}
	const tries = 5 // the second address of a free port may be taken
	var failures []error
	for range tries {
		at, err := listenOn(host, 0)
		if err == nil {
			return at, nil
		}
		failures = append(failures, err)
	}
	return nil, fmt.Errorf("listen for the browser: %w", errors.Join(failures...))
}

func listenOn(host string, port int) (*callback, error) {
	first, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	port = first.Addr().(*net.TCPAddr).Port
	at := &callback{listeners: []net.Listener{first}, address: "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + callbackPath}
	if host == "localhost" && hasIPv6() {
		second, err := net.Listen("tcp", net.JoinHostPort("::1", strconv.Itoa(port)))
		if err != nil { // another program would get what the browser brings
			at.close()
			return nil, err
		}
		at.listeners = append(at.listeners, second)
	}
	return at, nil
}

func hasIPv6() bool {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

func (at *callback) close() {
	for _, l := range at.listeners {
		_ = l.Close()
	}
}

//go:embed callback.html
var callbackPage string

// The sentences of the page, in both languages, because the browser's need not be
// Atelier's.
const (
	pageDone    = "Atelier is authorised. You can close this page."
	pageDoneZH  = "Atelier 已获得授权。你可以关闭此页面。"
	pageFail    = "Atelier was not authorised. Go back to Atelier to see why."
	pageFailZH  = "Atelier 未获得授权。请返回 Atelier 查看原因。"
	pageWrong   = "Atelier is not waiting for this page. Go back to Atelier and start again."
	pageWrongZH = "Atelier 并未在等待此页面。请返回 Atelier 重新开始。"
)

// serve answers the browser on goroutines of its own, until stop is called, which
// waits for them.
func (at *callback) serve(returned func(url.Values) (known bool, err error)) (stop func()) {
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, returned) }),
		// The log would have addresses with codes.
		ErrorLog: silent, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: callbackRead, ReadTimeout: callbackRead, WriteTimeout: callbackWrite, IdleTimeout: callbackRead,
	}
	server.SetKeepAlivesEnabled(false)
	var running sync.WaitGroup
	for _, l := range at.listeners {
		running.Go(func() { _ = server.Serve(&fewer{Listener: l, places: make(chan struct{}, callbackConns)}) })
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), callbackStop)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		running.Wait()
	}
}

func answer(w http.ResponseWriter, r *http.Request, returned func(url.Values) (bool, error)) {
	if r.URL.Path != callbackPath || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	status, text, zh := http.StatusOK, pageDone, pageDoneZH
	if known, err := returned(r.URL.Query()); !known {
		status, text, zh = http.StatusBadRequest, pageWrong, pageWrongZH
	} else if err != nil {
		status, text, zh = http.StatusBadRequest, pageFail, pageFailZH
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, callbackPage, text, zh)
}

// fewer is a listener with a limit of connections at once. The next one waits, at
// most as long as a request may take to arrive.
type fewer struct {
	net.Listener
	places chan struct{}
}

func (l *fewer) Accept() (net.Conn, error) {
	l.places <- struct{}{}
	leave := sync.OnceFunc(func() { <-l.places })
	conn, err := l.Listener.Accept()
	if err != nil {
		leave()
		return nil, err
	}
	return &placed{Conn: conn, leave: leave}, nil
}

type placed struct {
	net.Conn
	leave func()
}

func (c *placed) Close() error {
	c.leave()
	return c.Conn.Close()
}

var silent = log.New(io.Discard, "", 0)
