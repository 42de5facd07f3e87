// Package oauthtest is a server of the Model Context Protocol with its
// authorisation server, on loopback, for tests and for journeys in a browser. It
// keeps to the specifications unless it is told otherwise.
package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config says how the server differs from one that keeps to the specifications.
type Config struct {
	// Consent shows a page with two buttons instead of consenting at once.
	Consent bool
	// Scopes are what every request needs; Admin is what the tool "admin" needs, too.
	Scopes []string
	Admin  string
	// Life is how long a token lasts; 0 means an hour.
	Life time.Duration
	// Resource, Issuer and Answer change the documents before they are sent, and the
	// answers of the token endpoint.
	Resource, Issuer, Answer func(document map[string]any)
	// Return changes the parameters that the browser comes back with.
	Return func(url.Values)
	// Intercept answers a request before the server does, and reports whether it did.
	Intercept func(w http.ResponseWriter, r *http.Request) bool
	// Address is where it listens; empty means any port of loopback.
	Address string
}

// Assertion is the token of a machine that the authorisation server takes.
const Assertion = "workload"

// Server is a running server.
type Server struct {
	URL    string // of the server of the protocol
	Issuer string // of the authorisation server

	cfg    Config
	server *http.Server
	ended  chan struct{}

	mu      sync.Mutex
	now     func() time.Time
	counts  map[string]int
	clients map[string]string // ids, and their redirect addresses
	codes   map[string]consent
	access  map[string]token
	refresh map[string]consent
}

type consent struct{ client, redirect, challenge, resource, scope string }

type token struct {
	scope string
	ends  time.Time
}

// Start starts a server.
func Start(cfg Config) (*Server, error) {
	if cfg.Life == 0 {
		cfg.Life = time.Hour
	}
	if cfg.Address == "" {
		cfg.Address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s := &Server{
		URL: "http://" + l.Addr().String() + "/mcp", Issuer: "http://" + l.Addr().String() + "/issuer",
		cfg: cfg, ended: make(chan struct{}), now: time.Now, counts: map[string]int{},
		clients: map[string]string{}, codes: map[string]consent{}, access: map[string]token{}, refresh: map[string]consent{},
	}
	s.server = &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(l)
	}()
	return s, nil
}

// Close stops the server.
func (s *Server) Close() {
	_ = s.server.Close()
	<-s.ended
}

// Count returns how often an endpoint was asked: "register", "authorize",
// "authorization_code", "refresh_token", "client_credentials", "mcp" and so on.
func (s *Server) Count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[what]
}

// Expire ends all access tokens; refresh tokens still work.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Revoke ends everything that was granted.
func (s *Server) Revoke() {
	s.Expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.refresh)
}

// ForgetClients ends all registrations.
func (s *Server) ForgetClients() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.clients)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
	if s.cfg.Intercept != nil && s.cfg.Intercept(w, r) {
		return
	}
	origin := strings.TrimSuffix(s.Issuer, "/issuer")
	switch r.URL.Path {
	case "/mcp":
		s.count("mcp")
		s.serveMCP(w, r)
	case "/.well-known/oauth-protected-resource/mcp":
		s.count("resource")
		s.document(w, s.cfg.Resource, map[string]any{"resource": s.URL, "authorization_servers": []string{s.Issuer}, "scopes_supported": s.cfg.Scopes})
	case "/.well-known/oauth-authorization-server/issuer":
		s.count("issuer")
		s.document(w, s.cfg.Issuer, map[string]any{
			"issuer": s.Issuer, "authorization_endpoint": origin + "/authorize", "token_endpoint": origin + "/token",
			"registration_endpoint": origin + "/register", "revocation_endpoint": origin + "/revoke",
			"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true,
		})
	case "/register":
		s.count("register")
		s.register(w, r)
	case "/authorize":
		s.count("authorize")
		s.authorize(w, r)
	case "/token":
		s.token(w, r)
	case "/revoke":
		s.count("revoke")
		s.Revoke()
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

func (s *Server) document(w http.ResponseWriter, change func(map[string]any), document map[string]any) {
	if change != nil {
		change(document)
	}
	reply(w, http.StatusOK, document)
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, code, words string) {
	reply(w, status, map[string]string{"error": code, "error_description": words})
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Redirects []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Redirects) != 1 {
		refuse(w, http.StatusBadRequest, "invalid_redirect_uri", "one redirect address")
		return
	}
	id := "client-" + rand.Text()
	s.mu.Lock()
	s.clients[id] = asked.Redirects[0]
	s.mu.Unlock()
	reply(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": asked.Redirects, "token_endpoint_auth_method": "none"})
}

// authorize is the page where the user consents. An answer of the user is a request
// with "answer".
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	registered, known := s.clients[q.Get("client_id")]
	s.mu.Unlock()
	if !known || registered != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "This request cannot be authorised.", http.StatusBadRequest)
		return
	}
	if s.cfg.Consent && q.Get("answer") == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		yes, no := maps.Clone(q), maps.Clone(q)
		yes.Set("answer", "yes")
		no.Set("answer", "no")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Consent</title><h1>May Atelier use this server?</h1><p>%s</p><p><a id="yes" href="?%s">Allow</a> <a id="no" href="?%s">Refuse</a></p>`,
			html.EscapeString(q.Get("scope")), html.EscapeString(yes.Encode()), html.EscapeString(no.Encode()))
		return
	}
	back := url.Values{"state": {q.Get("state")}, "iss": {s.Issuer}}
	if q.Get("answer") == "no" {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		s.mu.Lock()
		s.codes[code] = consent{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
		s.mu.Unlock()
		back.Set("code", code)
	}
	if s.cfg.Return != nil {
		s.cfg.Return(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "no form")
		return
	}
	kind := r.PostForm.Get("grant_type")
	s.count(kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	var of consent
	var ok bool
	switch kind {
	case "authorization_code":
		code := r.PostForm.Get("code")
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		of, ok = s.codes[code]
		ok = ok && of.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) && of.redirect == r.PostForm.Get("redirect_uri") &&
			of.client == r.PostForm.Get("client_id")
		delete(s.codes, code)
	case "refresh_token":
		of, ok = s.refresh[r.PostForm.Get("refresh_token")]
		delete(s.refresh, r.PostForm.Get("refresh_token"))
	case "client_credentials":
		ok = true
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		ok = r.PostForm.Get("assertion") == Assertion
	}
	unattended := ok && of == consent{}
	if unattended {
		of = consent{scope: r.PostForm.Get("scope"), resource: r.PostForm.Get("resource")}
	}
	if !ok || of.resource != r.PostForm.Get("resource") {
		refuse(w, http.StatusBadRequest, "invalid_grant", "what was granted is unknown or was used")
		return
	}
	answer := map[string]any{"access_token": "access-" + rand.Text(), "token_type": "Bearer", "expires_in": int(s.cfg.Life.Seconds())}
	if !unattended {
		answer["refresh_token"] = "refresh-" + rand.Text()
	}
	if s.cfg.Answer != nil {
		s.cfg.Answer(answer)
	}
	s.access[fmt.Sprint(answer["access_token"])] = token{scope: of.scope, ends: s.now().Add(s.cfg.Life)}
	if refresh, ok := answer["refresh_token"].(string); ok {
		s.refresh[refresh] = of
	}
	reply(w, http.StatusOK, answer)
}

// allows reports whether a request has a token with the scopes, and whether it has
// one at all.
func (s *Server) allows(r *http.Request, scopes []string) (known, allowed bool) {
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.access[text]
	if !ok || !found || !s.now().Before(t.ends) {
		return false, false
	}
	has := strings.Fields(t.scope)
	return true, !slices.ContainsFunc(scopes, func(one string) bool { return !slices.Contains(has, one) })
}

func (s *Server) refuseMCP(w http.ResponseWriter, status int, code string, scopes []string) {
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s"`, strings.Replace(s.URL, "/mcp", "/.well-known/oauth-protected-resource/mcp", 1))
	if len(scopes) > 0 {
		challenge += fmt.Sprintf(`, scope="%s"`, strings.Join(scopes, " "))
	}
	if code != "" {
		challenge += fmt.Sprintf(`, error="%s"`, code)
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, status, code, "")
}
