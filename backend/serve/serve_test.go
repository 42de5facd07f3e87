package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"atelier.dev/atelier/backend/serve"
	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// echo answers a call with its name and arguments, and lets a test send
// envelopes.
type echo struct {
	mu      sync.Mutex
	watch   map[int]func([]byte)
	waiting chan struct{} // closed once a call hangs
	resume  chan struct{} // lets a call that hangs go on
	ended   chan error    // how the context of such a call was when it ended
}

func (e *echo) Call(ctx context.Context, method, args string) string {
	if method == "hang" {
		close(e.waiting)
		select {
		case <-e.resume:
		case <-ctx.Done():
		}
		e.ended <- ctx.Err()
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

func (e *echo) watchers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.watch)
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
	app, pages := newPages(t.Context())
	server := httptest.NewServer(pages.Handler())
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &site{app, pages, server, &http.Client{Jar: jar}}
}

func newPages(ctx context.Context) (*echo, *serve.Server) {
	app := &echo{watch: map[int]func([]byte){}, waiting: make(chan struct{}), resume: make(chan struct{}), ended: make(chan error, 1)}
	assets := fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html>hello")}, "assets/app.js": {Data: []byte("1")}, ".gitkeep": {}, ".git/config": {},
		"assets/large.js": {Data: []byte("decompressed")}, "assets/large.js.gz": {Data: []byte("as stored")},
	}
	return app, serve.New(ctx, app, assets)
}

// do sends a request with headers; Host is one of them.
func (s *site) do(t *testing.T, method, path, body string, headers map[string]string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Host = headers["Host"]
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

// token returns the token of a new address.
func (s *site) token(t *testing.T) string {
	t.Helper()
	link, err := url.Parse(s.pages.URL(s.server.Listener.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	token, found := strings.CutPrefix(link.Fragment, "token=")
	if !found || link.RawQuery != "" {
		t.Fatalf("the address %s does not keep its token in the fragment", link)
	}
	return token
}

func (s *site) exchange(t *testing.T, token string, headers map[string]string) (int, string) {
	t.Helper()
	code, body, _ := s.do(t, http.MethodPost, "/session", fmt.Sprintf(`{"token":%q}`, token), headers)
	var reply struct{ Secret string }
	if code == http.StatusOK {
		if err := json.Unmarshal([]byte(body), &reply); err != nil || reply.Secret == "" {
			t.Errorf("a token was exchanged for %s", body)
		}
	}
	return code, reply.Secret
}

// secret exchanges a new token as the page does.
func (s *site) secret(t *testing.T) string {
	t.Helper()
	code, secret := s.exchange(t, s.token(t), map[string]string{"Origin": s.server.URL})
	if code != http.StatusOK {
		t.Fatalf("the exchange was answered with %d", code)
	}
	return secret
}

func (s *site) dial(t *testing.T, headers http.Header) (*websocket.Conn, error) {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), s.server.URL+"/ws", &websocket.DialOptions{ //nolint:bodyclose // the connection owns it
		HTTPClient: s.client, HTTPHeader: headers,
	})
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, err
}

// enter opens a WebSocket as the page does.
func (s *site) enter(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, err := s.dial(t, http.Header{"Origin": {s.server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	send(t, conn, fmt.Sprintf(`{"secret":%q}`, s.secret(t)))
	if got := receive(t, conn); got != `{"signed_in":true}` {
		t.Fatalf("signing in was answered with %s", got)
	}
	return conn
}

func send(t *testing.T, conn *websocket.Conn, text string) {
	t.Helper()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, conn *websocket.Conn) string {
	t.Helper()
	_, b, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A token is valid for one secret, whoever comes first.
func TestTokenWorksOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token, own := s.token(t), map[string]string{"Origin": s.server.URL}
	var won atomic.Int32
	var racing sync.WaitGroup
	for range 50 {
		racing.Go(func() {
			if code, _ := s.exchange(t, token, own); code == http.StatusOK {
				won.Add(1)
			} else if code != http.StatusUnauthorized {
				t.Errorf("a used token was answered with %d", code)
			}
		})
	}
	racing.Wait()
	if won.Load() != 1 {
		t.Errorf("the token worked %d times", won.Load())
	}
	if code, _ := s.exchange(t, "guess", own); code != http.StatusUnauthorized {
		t.Errorf("a guess was answered with %d", code)
	}
	if code, _ := s.exchange(t, strings.Repeat("x", 2000), own); code != http.StatusBadRequest {
		t.Errorf("a long token was answered with %d", code)
	}
}

// Tokens of addresses that nobody opened are dropped, the oldest first.
func TestUnusedTokensAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	oldest, next := s.token(t), s.token(t)
	for range 15 {
		s.token(t)
	}
	own := map[string]string{"Origin": s.server.URL}
	if code, _ := s.exchange(t, oldest, own); code != http.StatusUnauthorized {
		t.Errorf("the oldest of 17 tokens was answered with %d", code)
	}
	if code, _ := s.exchange(t, next, own); code != http.StatusOK {
		t.Errorf("the next one was answered with %d", code)
	}
}

// Browsers send cookies to every port of a host, so no secret is a cookie.
func TestOtherPortsGetNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.enter(t)
	var sent http.Header
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Header }))
	defer other.Close()
	resp, err := s.client.Get(other.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if cookies := sent.Values("Cookie"); len(cookies) > 0 {
		t.Errorf("the browser sent %q to another port", cookies)
	}
}

// A host name that does not belong to this machine is refused, because another
// page could point its own name here.
func TestHostIsChecked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for host, want := range map[string]int{
		"evil.example": http.StatusForbidden, "127.0.0.1.evil.example:80": http.StatusForbidden, "10.0.0.1": http.StatusForbidden, "": http.StatusOK,
		"localhost:9999": http.StatusOK, "LOCALHOST": http.StatusOK, "127.0.0.1": http.StatusOK, "[::1]:80": http.StatusOK,
		"[[::1]]": http.StatusForbidden, "0.0.0.0": http.StatusForbidden, "127.0.0.1:80:80": http.StatusForbidden, "localhost.": http.StatusForbidden,
	} {
		if code, _, _ := s.do(t, http.MethodGet, "/assets/app.js", "", map[string]string{"Host": host}); code != want {
			t.Errorf("Host %q: %d, want %d", host, code, want)
		}
	}
}

// Only a page of the same origin may exchange a token or open the WebSocket.
// Over SSH that origin has another port than the server.
func TestOriginIsChecked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	own := strings.TrimPrefix(s.server.URL, "http://")
	for _, tt := range []struct {
		name, host, origin, site string
		in                       bool
	}{
		{"the own page", own, "http://" + own, "same-origin", true},
		{"an old browser", own, "http://" + own, "", true},
		{"a forwarded port", "localhost:4180", "http://localhost:4180", "same-origin", true},
		{"no origin", own, "", "", false},
		{"no origin, own site", own, "", "same-origin", false},
		{"another port", own, "http://127.0.0.1:1", "same-site", false},
		{"another port, no site", own, "http://127.0.0.1:1", "", false},
		{"another name of the host", own, strings.Replace("http://"+own, "127.0.0.1", "localhost", 1), "cross-site", false},
		{"https", own, "https://" + own, "", false},
		{"elsewhere", own, "https://evil.example", "cross-site", false},
		{"elsewhere under its own name", "evil.example", "http://evil.example", "same-origin", false},
		{"a sandboxed frame", own, "null", "cross-site", false},
		{"a longer name", own, "http://" + own + ".evil.example", "", false},
		{"a path", own, "http://" + own + "/", "", false},
		{"a site that is not ours", own, "http://" + own, "same-site", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			headers := map[string]string{"Host": tt.host}
			if tt.origin != "" {
				headers["Origin"] = tt.origin
			}
			if tt.site != "" {
				headers["Sec-Fetch-Site"] = tt.site
			}
			token := s.token(t)
			if code, secret := s.exchange(t, token, headers); (code == http.StatusOK) != tt.in || !tt.in && code != http.StatusForbidden {
				t.Errorf("the exchange: %d %q", code, secret)
			}
			headers["Connection"], headers["Upgrade"] = "Upgrade", "websocket"
			headers["Sec-WebSocket-Version"], headers["Sec-WebSocket-Key"] = "13", "AAAAAAAAAAAAAAAAAAAAAA=="
			if code := s.upgrade(t, headers); (code == http.StatusSwitchingProtocols) != tt.in || !tt.in && code != http.StatusForbidden {
				t.Errorf("the WebSocket: %d", code)
			}
		})
	}
	if _, err := s.dial(t, http.Header{"Origin": {s.server.URL, s.server.URL}}); err == nil {
		t.Error("two origins were let in")
	}
}

// upgrade requests a WebSocket and returns the status.
func (s *site) upgrade(t *testing.T, headers map[string]string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Host = headers["Host"]
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// A WebSocket is closed unless its first message is the secret.
func TestFirstMessageIsTheSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, tt := range map[string]struct {
		first string
		code  websocket.StatusCode
	}{
		"a call":           {`{"id":1,"method":"echo"}`, 4401},
		"a wrong secret":   {`{"secret":"wrong"}`, 4401},
		"no secret":        {`{"secret":""}`, 4401},
		"a used token":     {`{"secret":"` + s.token(t) + `"}`, 4401},
		"nonsense":         {`nonsense`, 4401},
		"a long message":   {`{"secret":"` + strings.Repeat("x", 2000) + `"}`, websocket.StatusMessageTooBig},
		"the right secret": {`{"secret":"` + s.secret(t) + `"}`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := s.dial(t, http.Header{"Origin": {s.server.URL}})
			if err != nil {
				t.Fatal(err)
			}
			send(t, conn, tt.first)
			if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != tt.code || (err == nil) != (tt.code == -1) {
				t.Errorf("closed with %v", err)
			}
		})
	}
}

// Pages that never sign in neither use up the process's descriptors nor keep out those
// that do, however many and however often they come.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	own := http.Header{"Origin": {s.server.URL}}
	for _, strangers := range []int{1, 16, 17, 64, 200} {
		var first *websocket.Conn
		for i := range strangers {
			conn, err := s.dial(t, own)
			if err != nil {
				t.Fatalf("%d of %d: %v", i, strangers, err)
			}
			if first == nil {
				first = conn
			}
		}
		s.enter(t)
		if strangers > 16 {
			if _, _, err := first.Read(t.Context()); err == nil {
				t.Errorf("the first of %d pages that do not sign in stays", strangers)
			}
		}
	}
}

// Only the front end's files are served, and nothing lists them.
func TestFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for path, want := range map[string]int{
		"/": 200, "/assets/app.js": 200, "/assets/": 404, "/assets": 404, "/.gitkeep": 404, "/.git/config": 404, "/nothing": 404,
		"/assets/..%2f.gitkeep": 404, "/ws": 403, "/session": 404,
	} {
		code, body, header := s.do(t, http.MethodGet, path, "", nil)
		if code != want || strings.Contains(body, "<pre>") {
			t.Errorf("%s: %d %s", path, code, body)
		}
		if stored := header.Get("Cache-Control") != "no-store"; path == "/" && stored {
			t.Error("the index may be cached")
		}
	}
}

// A compressed file is sent as it is stored to whoever reads that, and decompressed
// to all others.
func TestPackedFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "as stored", "br, GZIP;q=0.5": "as stored",
		"br": "decompressed", "gzip;q=0, br": "decompressed", "gzip; q=0.0": "decompressed",
	} {
		_, body, h := s.do(t, http.MethodGet, "/assets/large.js", "", map[string]string{"Accept-Encoding": accepted})
		got := map[string]string{"body": body}
		for _, name := range []string{"Content-Encoding", "Content-Length", "Content-Type", "Vary"} {
			got[name] = h.Get(name)
		}
		encoding := ""
		if want == "as stored" {
			encoding = "gzip"
		}
		if diff := cmp.Diff(map[string]string{
			"body": want, "Content-Encoding": encoding, "Content-Length": strconv.Itoa(len(want)),
			"Content-Type": "text/javascript; charset=utf-8", "Vary": "Accept-Encoding",
		}, got); diff != "" {
			t.Errorf("%s:\n%s", accepted, diff)
		}
	}
	if code, body, h := s.do(t, http.MethodHead, "/assets/large.js", "", nil); code != http.StatusOK || body != "" || h.Get("Content-Encoding") != "" {
		t.Errorf("the head: %d %q %v", code, body, h)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, _, h := s.do(t, http.MethodGet, "/", "", nil)
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

// One document may be framed and may have inline styles: the one that draws
// diagrams, which has no origin.
func TestOnlyTheDiagramsAreFramed(t *testing.T) {
	t.Parallel()
	const page = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data:; font-src 'self'; connect-src 'self'; " +
		"frame-src 'self'; frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
	const diagram = "default-src 'none'; script-src 'self' wails://wails/diagram.js; style-src 'unsafe-inline'; " +
		"frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox allow-scripts"
	s := newSite(t)
	for path, want := range map[string][2]string{
		"/":                    {page, "same-origin"},
		"/index.html":          {page, "same-origin"},
		"/assets/app.js":       {page, "same-origin"},
		"/assets/diagram.html": {page, "same-origin"},
		"/diagram.html/":       {page, "same-origin"},
		"/ws":                  {page, "same-origin"},
		"/diagram.html":        {diagram, "same-origin"},
		"/diagram.js":          {page, "cross-origin"},
	} {
		_, _, h := s.do(t, http.MethodGet, path, "", nil)
		got := [2]string{h.Get("Content-Security-Policy"), h.Get("Cross-Origin-Resource-Policy")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", path, diff)
		}
	}
}
