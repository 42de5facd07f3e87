package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// idle is how long a client of the older protocols may be silent before its session
// ends.
const idle = time.Hour

// Handler serves Streamable HTTP to whoever sends the token as a bearer. It is for
// loopback only: a request that names another host, or comes from another site's
// page, is refused before its token is looked at.
func (s *Server) Handler(token string) http.Handler {
	protocol := server.NewStreamableHTTPServer(s.protocol, server.WithStateful(true), server.WithSessionIdleTTL(idle),
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) || !fromLoopback(r.Header.Get("Origin")) {
			http.Error(w, "This server answers programs of this machine only.", http.StatusForbidden)
			return
		}
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "The token is missing or wrong. Atelier printed it when it began to serve.", http.StatusUnauthorized)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxMessage)
		protocol.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a host, with or without a port, is this machine's
// loopback.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback()
}

// fromLoopback reports whether an origin is a page of this machine, or none.
func fromLoopback(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLoopback(u.Host)
}
