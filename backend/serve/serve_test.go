package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"atelier.dev/atelier/backend/serve"
	"github.com/coder/websocket"
)

// echo answers a call with its own name and arguments, and lets a test send
// envelopes.
type echo struct {
	mu      sync.Mutex
	watch   map[int]func([]byte)
	waiting chan struct{}
}

func (e *echo) Call(ctx context.Context, method, args string) string {
	if method == "hang" {
		close(e.waiting)
		<-ctx.Done()
	}
	b, _ := json.Marshal(map[string]string{"method": method, "args": args})
	return `{"ok":` + string(b) + `}`
}

func (e *echo) Subscribe(watch func([]byte)) func() {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := len(e.watch)
	e.watch[id] = watch
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watch, id)
	}
}

func (e *echo) emit(s string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.watch {
		w([]byte(s))
	}
}

type site struct {
	app    *echo
	pages  *serve.Server
	server *httptest.Server
	client *http.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	app := &echo{watch: map[int]func([]byte){}, waiting: make(chan struct{})}
	assets := fstest.MapFS{"index.html": {Data: []byte("<!doctype html>hello")}, "app.js": {Data: []byte("1")}}
	pages := serve.New(t.Context(), app, assets)
	server := httptest.NewServer(pages.Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &site{app, pages, server, &http.Client{Jar: jar}}
}

func (s *site) get(t *testing.T, url string, edit func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(req)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func (s *site) enter(t *testing.T) {
	t.Helper()
	if code, body, _ := s.get(t, s.pages.URL(s.server.Listener.Addr()), nil); code != http.StatusOK || !strings.Contains(body, "hello") {
		t.Fatalf("entering: %d %s", code, body)
	}
}

// Without a token nothing is answered; with one everything is, once.
func TestTokenOpensOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.pages.URL(s.server.Listener.Addr())
	for _, path := range []string{"/", "/app.js", "/ws", "/nothing", "/?token=guess"} {
		if code, body, _ := s.get(t, s.server.URL+path, nil); code != http.StatusForbidden || strings.Contains(body, "hello") {
			t.Errorf("%s without a token: %d %s", path, code, body)
		}
	}
	if code, body, h := s.get(t, link, nil); code != http.StatusOK || !strings.Contains(body, "hello") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("with the token: %d %s", code, body)
	}
	if code, _, _ := s.get(t, s.server.URL+"/app.js", nil); code != http.StatusOK {
		t.Errorf("with the cookie: %d", code)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := &site{s.app, s.pages, s.server, &http.Client{Jar: jar}}
	if code, _, _ := other.get(t, link, nil); code != http.StatusForbidden {
		t.Errorf("the token opened twice: %d", code)
	}
}

// A name that is not this machine's own is refused even with the cookie: the
// defence against a page that points its own name here.
func TestHostIsChecked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "127.0.0.1.evil.example:80": http.StatusForbidden, "10.0.0.1": http.StatusForbidden, "": http.StatusOK,
		"localhost:9999": http.StatusOK, "LOCALHOST": http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:80": http.StatusOK,
	} {
		code, _, _ := s.get(t, s.server.URL+"/app.js", func(r *http.Request) {
			for _, c := range s.client.Jar.Cookies(r.URL) {
				r.AddCookie(c) // a browser keeps one for each name; here it is given to all
			}
			r.Host = host
		})
		if code != want {
			t.Errorf("Host %q: %d, want %d", host, code, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	_, _, h := s.get(t, s.server.URL+"/", nil)
	for name, want := range map[string]string{
		"Content-Security-Policy": "script-src 'self'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
	} {
		if !strings.Contains(h.Get(name), want) {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
	for _, forbidden := range []string{"unsafe-inline", "unsafe-eval", "*"} {
		if strings.Contains(h.Get("Content-Security-Policy"), forbidden) {
			t.Errorf("the policy allows %s", forbidden)
		}
	}
}

func (s *site) dial(t *testing.T, origin string) (*websocket.Conn, error) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.server.URL+"/ws", &websocket.DialOptions{ //nolint:bodyclose // the connection owns it
		HTTPClient: s.client, HTTPHeader: http.Header{"Origin": {origin}},
	})
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, err
}

func TestForeignOriginIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	for _, origin := range []string{"https://evil.example", "http://127.0.0.1:1", "null"} {
		if _, err := s.dial(t, origin); err == nil {
			t.Errorf("origin %s was let in", origin)
		}
	}
	if _, err := s.dial(t, s.server.URL); err != nil {
		t.Errorf("own origin: %v", err)
	}
}

// Calls are answered under their id, events arrive in between, and a call that
// takes long holds up no other.
func TestCallsAndEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	conn, err := s.dial(t, s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	send := func(text string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	receive := func() string {
		t.Helper()
		_, b, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	send(`{"id":1,"method":"hang"}`)
	<-s.app.waiting
	send(`{"id":2,"method":"echo","args":{"a":1}}`)
	if got, want := receive(), `{"id":2,"ok":{"args":"{\"a\":1}","method":"echo"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.app.emit(`{"session":"x","seq":1}`)
	if got, want := receive(), `{"event":{"session":"x","seq":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	send(`nonsense`)
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusInvalidFramePayloadData {
		t.Errorf("nonsense: %v", err)
	}
}

// A page that does not read is cut off, so that it can hold up nobody.
func TestSlowPageIsCutOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	conn, err := s.dial(t, s.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	envelope := `{"session":"x","seq":1,"pad":"` + strings.Repeat("x", 60_000) + `"}`
	for range 2000 {
		s.app.emit(envelope)
	}
	conn.SetReadLimit(1 << 20)
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			return // cut off, as it should be
		}
	}
}
