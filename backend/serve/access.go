package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

const (
	// maxTokens limits the printed addresses that were not used yet. A further
	// one invalidates the oldest.
	maxTokens = 16
	// maxCredential limits messages that carry a token or the secret.
	maxCredential = 1 << 10
)

// digest is the hash of a token. The token itself is not kept.
type digest [sha256.Size]byte

// exchange trades a one-time token for the server's secret.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCredential)).Decode(&body); err != nil {
		http.Error(w, "The body is not a token.", http.StatusBadRequest)
		return
	}
	if !s.useToken(body.Token) {
		http.Error(w, "This link was used already. Run atelier serve again in the same folder for a new one.", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"secret": s.secret}) // the page may have left
}

func (s *Server) newToken() string {
	token := newSecret()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens) == maxTokens {
		s.tokens = s.tokens[1:]
	}
	s.tokens = append(s.tokens, sha256.Sum256([]byte(token)))
	return token
}

// useToken reports whether token is valid. A token is valid once.
func (s *Server) useToken(token string) bool {
	used := digest(sha256.Sum256([]byte(token)))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, valid := range s.tokens {
		if subtle.ConstantTimeCompare(valid[:], used[:]) == 1 {
			s.tokens = append(s.tokens[:i:i], s.tokens[i+1:]...)
			return true
		}
	}
	return false
}

func (s *Server) isSecret(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(s.secret)) == 1
}

func newSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// loopbackOnly refuses requests whose host name is not a loopback name, because
// a web page elsewhere can make its own name resolve to this address.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(r.Host) {
			http.Error(w, "Atelier answers to loopback names only, such as 127.0.0.1 and localhost.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a Host header is a loopback name or address.
func isLoopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// sameOriginOnly refuses requests from pages of another origin. The origin
// follows from the Host header, not from the listening address, because a
// browser may reach it through another port over SSH.
func sameOriginOnly(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origins, site := r.Header.Values("Origin"), r.Header.Get("Sec-Fetch-Site")
		if len(origins) != 1 || origins[0] != "http://"+r.Host || site != "" && site != "same-origin" {
			http.Error(w, "Only Atelier's own page may do this.", http.StatusForbidden)
			return
		}
		next(w, r)
	})
}
