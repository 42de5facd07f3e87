// Package serve shows the application to a browser: the same front end and the
// same calls as the window, over one WebSocket on a loopback address. Whoever
// has the one-time token of the printed address gets a cookie; without it
// nothing is answered.
package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// App is the application as the browser needs it.
type App interface {
	Call(ctx context.Context, method, args string) string
	Subscribe(watch func(envelope []byte)) (cancel func())
}

// Server answers one browser user. Its methods are safe for concurrent use.
type Server struct {
	app    App
	assets http.Handler
	ctx    context.Context

	mu     sync.Mutex
	tokens map[secret]bool // not used yet
	guests map[secret]bool // cookies
}

// secret is the hash of a token or cookie: the thing itself is not kept.
type secret [sha256.Size]byte

// cookieName holds the visitor's secret. It is one name for all ports, because
// a forwarded port differs from ours; the value decides.
const cookieName = "atelier"

// New returns a server for app with the given front end. Connections end with
// ctx.
func New(ctx context.Context, app App, assets fs.FS) *Server {
	return &Server{
		app: app, assets: http.FileServerFS(assets), ctx: ctx,
		tokens: map[secret]bool{}, guests: map[secret]bool{},
	}
}

// Token returns a new one-time token.
func (s *Server) Token() string {
	token := newSecret()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[hash(token)] = true
	return token
}

// URL returns the address for a browser, with a new one-time token.
func (s *Server) URL(addr net.Addr) string {
	return "http://" + addr.String() + "/?token=" + s.Token()
}

// Handler returns the HTTP side. Serve it on a loopback address only.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.index)
	mux.HandleFunc("GET /ws", s.socket)
	mux.Handle("GET /", s.assets)
	return Harden(s.guard(mux))
}

// guard lets nobody through who does not have the cookie, or is just
// exchanging a token for it. A name that is not a loopback one is refused
// first: a web page elsewhere can point its own name at this address.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			http.Error(w, "Atelier answers to loopback names only.", http.StatusForbidden)
			return
		}
		if r.URL.Path == "/" && r.URL.Query().Has("token") {
			s.admit(w, r)
			return
		}
		if !s.known(r) {
			http.Error(w, "This address needs the one-time link that atelier serve printed. Run it again in the same folder for a new one.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit exchanges a token for a cookie, once, and takes it out of the address.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) {
	token := hash(r.URL.Query().Get("token"))
	s.mu.Lock()
	fresh := s.tokens[token]
	delete(s.tokens, token)
	cookie := newSecret()
	if fresh {
		s.guests[hash(cookie)] = true
	}
	s.mu.Unlock()
	switch {
	case fresh:
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	case !s.known(r):
		http.Error(w, "This link was used already. Run atelier serve again in the same folder for a new one.", http.StatusForbidden)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) known(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.CookiesNamed(cookieName) {
		if s.guests[hash(c.Value)] {
			return true
		}
	}
	return false
}

// index is never cached: after an update it must name the new files.
func (s *Server) index(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	s.assets.ServeHTTP(w, r)
}

// loopback reports whether a Host header names this machine to itself.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

func hash(s string) secret { return sha256.Sum256([]byte(s)) }
