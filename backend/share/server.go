package share

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"
	"golang.org/x/net/netutil"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/transcript/reader"
)

const (
	heartbeat      = 15 * time.Second
	writePatience  = 20 * time.Second // for one batch to a viewer
	endPatience    = 250 * time.Millisecond
	maxEnter       = 2 << 10 // bytes of a message that carries a token
	maxConnections = maxViewers + 64
	maxWrong       = 10 // passwords in a minute
)

// policy of the viewer's page: its own script and style, and the stream.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// share is one share. run owns it.
type share struct {
	info    ShareInfo // without what changes
	watcher *watcher
	secrets secrets

	ctx    context.Context // ends with the share
	stop   func(ShareEnd)
	opened chan struct{} // closed when open has returned
	done   chan struct{} // closed when nothing of it is left

	listener net.Listener
	server   *http.Server
	jobs     sync.WaitGroup

	mu      sync.Mutex // guards what follows
	address string     // of the page, once viewers can reach it
	host    string     // of the tunnel
}

// secrets are what viewers have to know. The token and the password are kept as hashes.
type secrets struct {
	token    [sha256.Size]byte
	salt     []byte
	password []byte // nil if there is none
	key      string // of the stream
	checks   chan struct{}

	mu    sync.Mutex // guards what follows
	wrong []time.Time
}

func newShare(cfg Config, in ShareRequest, info backend.SessionInfo) (one *share, token string, err error) {
	where := "127.0.0.1:0"
	if in.Reach == ReachNetwork {
		where = ":0"
	}
	listener, err := net.Listen("tcp", where)
	if err != nil {
		return nil, "", backend.Problem(backend.ProblemListen, where).Because(err)
	}
	token = random()
	one = &share{
		watcher: newWatcher(cfg, in), listener: netutil.LimitListener(listener, maxConnections),
		opened: make(chan struct{}), done: make(chan struct{}),
		secrets: secrets{token: sha256.Sum256([]byte(token)), key: random(), checks: make(chan struct{}, 2)},
	}
	if in.Password != "" {
		one.secrets.salt = []byte(random())
		one.secrets.password = hash(in.Password, one.secrets.salt)
	}
	now := time.Now()
	one.info = ShareInfo{
		ID: random()[:12], Session: in.Session, Title: info.Title, Reach: in.Reach, Password: in.Password != "",
		StartedAt: now.UnixMilli(), ExpiresAt: now.Add(expiry(in.Hours)).UnixMilli(),
	}
	one.ctx, one.stop = lifetime(in.Hours)
	one.server = &http.Server{
		Handler: one.handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	return one, token, nil
}

// lifetime returns a context that ends by itself after some hours, or by stop before.
func lifetime(hours int) (ctx context.Context, stop func(ShareEnd)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ctx, release := context.WithTimeoutCause(ctx, expiry(hours), EndExpired)
	return ctx, func(why ShareEnd) { cancel(why); release() }
}

func random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// hash is slow, so that passwords cannot be guessed.
func hash(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, 2, 19<<10, 1, 32)
}

// drop frees a share that never ran.
func (s *share) drop() {
	s.stop(EndFailed)
	_ = s.listener.Close() // nothing was accepted
}

// open reads the session and makes the share reachable.
func (s *share) open(ctx context.Context) error {
	defer close(s.opened)
	if err := s.watcher.rebuild(ctx); err != nil {
		return err
	}
	s.jobs.Go(func() {
		if err := s.watcher.own(s.ctx); err != nil && s.ctx.Err() == nil {
			slog.Error("a share ended because its session cannot be read", "session", s.info.Session, "err", err)
			s.stop(EndFailed)
		}
	})
	s.jobs.Go(func() {
		if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.stop(EndFailed)
		}
	})
	port := s.listener.Addr().(*net.TCPAddr).Port
	address := fmt.Sprintf("http://127.0.0.1:%d/", port)
	switch s.info.Reach {
	case ReachNetwork:
		own := ownAddress()
		if own == "" {
			return backend.Problem(backend.ProblemShareNetwork)
		}
		address = fmt.Sprintf("http://%s/", net.JoinHostPort(own, fmt.Sprint(port)))
	case ReachTunnel:
		host, err := s.tunnel(ctx, port)
		if err != nil {
			return err
		}
		address = "https://" + host + "/"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = address
	return nil
}

// run waits for the end of the share, and closes everything of it.
func (s *share) run() {
	<-s.ctx.Done()
	s.watcher.board.close(endOf(s.ctx))
	patience := time.NewTimer(endPatience)
	defer patience.Stop()
	select {
	case <-s.watcher.board.empty:
	case <-patience.C:
	}
	_ = s.server.Close() // ends every connection
	_ = s.listener.Close()
	<-s.opened
	s.jobs.Wait()
	<-s.watcher.board.empty
}

// shown returns the share as the user sees it.
func (s *share) shown() ShareInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.info
	out.Address, out.Viewers = s.address, s.watcher.board.viewers()
	if s.ctx.Err() != nil {
		out.End, out.Viewers = endOf(s.ctx), 0
	}
	return out
}

func (s *share) handler() http.Handler {
	mux := http.NewServeMux()
	for path, part := range map[string]struct{ kind, text string }{
		"/{$}": {"text/html", reader.Page()}, "/viewer.js": {"text/javascript", reader.Script()}, "/viewer.css": {"text/css", reader.Style()},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", part.kind+"; charset=utf-8")
			_, _ = io.WriteString(w, part.text) // the viewer may have left
		})
	}
	mux.HandleFunc("POST /enter", s.enter)
	mux.HandleFunc("GET /live", s.live)
	return s.guarded(mux)
}

// guarded refuses requests by other names, since a page elsewhere can make its name resolve
// to this address, and requests of other origins. Everything gets the headers of a page.
func (s *share) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Robots-Tag", "noindex")
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		switch {
		case !s.known(r.Host):
			http.Error(w, "This share has another address.", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host && origin != "https://"+r.Host,
			r.URL.Path != "/" && site != "" && site != "same-origin" && site != "none":
			http.Error(w, "Only the page of this share may ask for this.", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// known reports whether a Host header is a name of this share.
func (s *share) known(host string) bool {
	s.mu.Lock()
	tunnel := s.host
	s.mu.Unlock()
	if tunnel != "" && strings.EqualFold(host, tunnel) {
		return true
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || s.info.Reach == ReachNetwork && isOwn(addr))
}

// isOwn reports whether an address is one of this machine.
func isOwn(addr netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range all {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr() == addr.Unmap() {
			return true
		}
	}
	return false
}

// ownAddress returns the address at which the network reaches this machine; empty if it is
// in none.
func ownAddress() string {
	all, _ := net.InterfaceAddrs()
	best := ""
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || prefix.Addr().IsLoopback() || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if addr := prefix.Addr(); best == "" || addr.Is4() && addr.IsPrivate() {
			best = addr.String()
			if addr.Is4() && addr.IsPrivate() {
				return best
			}
		}
	}
	return best
}

// enter trades the token and the password for the key of the stream.
func (s *share) enter(w http.ResponseWriter, r *http.Request) {
	var in struct{ Token, Password string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxEnter)).Decode(&in); err != nil {
		http.Error(w, "token", http.StatusBadRequest)
		return
	}
	given := sha256.Sum256([]byte(in.Token))
	if subtle.ConstantTimeCompare(given[:], s.secrets.token[:]) != 1 {
		http.Error(w, "token", http.StatusUnauthorized)
		return
	}
	if status := s.secrets.check(r.Context(), in.Password); status != http.StatusOK {
		http.Error(w, "password", status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"key": s.secrets.key}) // the viewer may have left
}

// check returns the status that answers a password.
func (s *secrets) check(ctx context.Context, password string) int {
	if s.password == nil {
		return http.StatusOK
	}
	if password == "" {
		return http.StatusUnauthorized
	}
	select { // a check takes memory
	case s.checks <- struct{}{}:
		defer func() { <-s.checks }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable
	}
	if s.wrongs(false) >= maxWrong {
		return http.StatusTooManyRequests
	}
	if subtle.ConstantTimeCompare(hash(password, s.salt), s.password) != 1 {
		s.wrongs(true)
		return http.StatusUnauthorized
	}
	return http.StatusOK
}

// wrongs counts the wrong passwords of the last minute, with one more if another is wrong.
func (s *secrets) wrongs(another bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.wrong) > 0 && time.Since(s.wrong[0]) > time.Minute {
		s.wrong = s.wrong[1:]
	}
	if another && len(s.wrong) < maxWrong {
		s.wrong = append(s.wrong, time.Now())
	}
	return len(s.wrong)
}

// live streams the session to one viewer, as fast as the viewer reads.
func (s *share) live(w http.ResponseWriter, r *http.Request) {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || subtle.ConstantTimeCompare([]byte(key), []byte(s.secrets.key)) != 1 {
		http.Error(w, "token", http.StatusUnauthorized)
		return
	}
	wake, leave, ok := s.watcher.board.watch()
	if !ok {
		http.Error(w, "full", http.StatusServiceUnavailable)
		return
	}
	defer leave()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var at cursor
	for {
		batch, ended := s.watcher.board.since(&at)
		if len(batch) > 0 {
			if !send(w, out, batch) || ended {
				return
			}
			continue
		}
		select {
		case <-wake:
		case <-beat.C:
			if !send(w, out, []byte(": alive\n\n")) {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

func send(w http.ResponseWriter, out *http.ResponseController, batch []byte) bool {
	if err := out.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return false
	}
	if _, err := w.Write(batch); err != nil {
		return false
	}
	return out.Flush() == nil
}
