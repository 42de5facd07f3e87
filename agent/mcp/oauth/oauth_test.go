package oauth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
	"github.com/google/go-cmp/cmp"
)

func TestTheUserAuthorisesOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Scopes: []string{"read"}})
	if got := w.needs("whoami", WhyFirst).Scopes; !cmp.Equal(got, []string{"read"}) {
		t.Errorf("the server asks for %v", got)
	}
	w.authorise()
	w.works("whoami")
	if !strings.Contains(w.drawer.text(w.server), "refresh-") {
		t.Error("the tokens were not kept")
	}
	// Another process has them, too.
	w.a = w.another()
	w.works("whoami")
	w.counted(map[string]int{"register": 1, "authorize": 1, "authorization_code": 1, "refresh_token": 0})
}

// A server that asks for nothing gets nothing, and its requests are not delayed.
func TestAServerThatWantsNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			t.Error("a request has a token")
		}
		return r.URL.Path == "/mcp"
	}})
	w.works("whoami")
	w.counted(map[string]int{"resource": 0, "issuer": 0})
}

func TestATokenIsRenewedOnceForAllRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	w.at.Expire()
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if status, err := w.call(w.a, "whoami"); err != nil || status != http.StatusOK {
				t.Errorf("call: %d, %v", status, err)
			}
		})
	}
	calls.Wait()
	w.counted(map[string]int{"refresh_token": 1, "authorize": 1})
}

// A token is renewed before it ends, so that no request is refused.
func TestATokenIsRenewedBeforeItEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Life: early / 2})
	w.authorise()
	before := w.at.Count("mcp")
	w.works("whoami")
	w.counted(map[string]int{"refresh_token": 1, "mcp": before + 1})
}

// A refresh token works once, so the other process's token is taken from the store.
func TestAnotherProcessRenewedTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	other := w.another()
	if status, err := w.call(other, "whoami"); err != nil || status != http.StatusOK {
		t.Fatalf("call: %d, %v", status, err)
	}
	w.at.Expire()
	w.works("whoami")
	if status, err := w.call(other, "whoami"); err != nil || status != http.StatusOK {
		t.Fatalf("call of the other process: %d, %v", status, err)
	}
	w.counted(map[string]int{"refresh_token": 1})
}

// A request that is given up does not take a refresh token with it.
func TestARenewalOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	w := newWorld(t, oauthtest.Config{Intercept: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" && r.PostFormValue("grant_type") == "refresh_token" {
			close(asked)
			<-goOn
		}
		return false
	}})
	w.authorise()
	w.at.Expire()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.at.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err == nil {
			var res *http.Response
			if res, err = w.client(w.a).Do(req); err == nil {
				res.Body.Close()
			}
		}
		failed <- err
	}()
	<-asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
	close(goOn)
	w.works("whoami")
	w.counted(map[string]int{"refresh_token": 1})
}

func TestARevokedTokenNeedsTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	w.at.Revoke()
	needs := w.needs("whoami", WhyEnded)
	if !strings.Contains(needs.Error(), "revoked") || !strings.Contains(needs.Error(), "invalid_grant") {
		t.Errorf("it says %q", needs)
	}
	if kept := w.drawer.text(w.server); strings.Contains(kept, "access-") || strings.Contains(kept, "refresh-") {
		t.Errorf("the tokens are still kept: %s", kept)
	}
	w.needs("whoami", WhyEnded)
	w.authorise()
	w.works("whoami")
	w.counted(map[string]int{"refresh_token": 1, "authorize": 2})
}

// A token that cannot be renewed for the moment is not a reason to ask the
// user.
func TestAnAuthorisationServerThatIsDown(t *testing.T) {
	t.Parallel()
	down := make(chan bool, 1)
	down <- false
	w := newWorld(t, oauthtest.Config{Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		is := <-down
		down <- is
		if is && r.URL.Path == "/token" {
			rw.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	}})
	w.authorise()
	<-down
	down <- true
	w.at.Expire()
	_, err := w.call(w.a, "whoami")
	if err == nil || errors.Is(err, mcp.ErrNeedsAuth) || !strings.Contains(err.Error(), "502") {
		t.Errorf("the call failed with %v", err)
	}
	<-down
	down <- false
	w.works("whoami")
}

func TestMoreScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Scopes: []string{"read"}, Admin: "admin"})
	w.needs("whoami", WhyFirst)
	w.authorise()
	w.works("whoami")
	if got := w.needs("admin", WhyScopes).Scopes; !cmp.Equal(got, []string{"admin"}) {
		t.Errorf("it needs %v", got)
	}
	w.works("whoami") // what was granted still works
	w.authorise()
	w.works("admin")
	w.works("whoami")
}

// A server that asks for what it was given would have the user consent for ever.
func TestAServerThatNeverHasEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Scopes: []string{"read"}, Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/mcp" || r.Header.Get("Authorization") == "" {
			return false
		}
		rw.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read"`)
		rw.WriteHeader(http.StatusForbidden)
		return true
	}})
	w.needs("whoami", WhyFirst)
	w.authorise()
	if status, err := w.call(w.a, "whoami"); err != nil || status != http.StatusForbidden {
		t.Errorf("call: %d, %v, want the server's refusal", status, err)
	}
}

// A server that refuses every token is asked a limited number of times.
func TestAServerThatRefusesItsTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/mcp" {
			rw.WriteHeader(http.StatusUnauthorized)
		}
		return r.URL.Path == "/mcp"
	}})
	w.authorise()
	_, err := w.call(w.a, "whoami")
	if !errors.Is(err, mcp.ErrNeedsAuth) && err != nil {
		t.Errorf("the call failed with %v", err)
	}
	if got := w.at.Count("refresh_token"); got > attempts {
		t.Errorf("the token was renewed %d times", got)
	}
}

func TestATokenStaysAtItsOrigin(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	other, err := oauthtest.Start(oauthtest.Config{Intercept: func(_ http.ResponseWriter, r *http.Request) bool {
		seen <- r.Header.Get("Authorization")
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	w := newWorld(t, oauthtest.Config{Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/away" {
			http.Redirect(rw, r, other.URL, http.StatusTemporaryRedirect)
		}
		return r.URL.Path == "/away"
	}})
	w.authorise()
	for _, address := range []string{other.URL, strings.Replace(w.at.URL, "/mcp", "/away", 1), strings.Replace(other.URL, "127.0.0.1", "localhost", 1)} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.client(w.a).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if got := <-seen; got != "" {
			t.Errorf("%s got %q", address, got)
		}
	}
}

// A key that the user wrote into the configuration is sent as it is, and what the
// server says to it is the answer.
func TestAnAuthorisationOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.at.URL, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer mine")
	res, err := w.client(w.a).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d", res.StatusCode)
	}
}

// A body that cannot be sent twice is not sent twice.
func TestABodyThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	w.at.Expire()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.at.URL, io.NopCloser(bytes.NewBufferString("{}")))
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client(w.a).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d, want the server's refusal", res.StatusCode)
	}
	w.works("whoami")
}

func TestForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	if err := w.a.Forget(t.Context(), w.server); err != nil {
		t.Fatal(err)
	}
	if kept := w.drawer.text(w.server); kept != "" {
		t.Errorf("still kept: %s", kept)
	}
	w.needs("whoami", WhyFirst)
	w.counted(map[string]int{"revoke": 1})
}

// Tokens that cannot be kept are used as long as the program runs, and that is said.
func TestAKeyringThatKeepsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	locked := errors.New("the keyring is locked")
	w.drawer.broken = locked
	if err := w.consents(); !errors.Is(err, locked) {
		t.Errorf("authorise: %v", err)
	}
	w.works("whoami")

	// The keyring is locked when a token is renewed.
	w = newWorld(t, oauthtest.Config{})
	w.authorise()
	w.drawer.broken = locked
	var said []error
	w.a.cfg.Report = func(server string, err error) { said = append(said, err) }
	w.at.Expire()
	w.works("whoami")
	if len(said) != 1 || !errors.Is(said[0], locked) {
		t.Errorf("it was said: %v", said)
	}
}

// The tokens of a server are not used for another address or another client.
func TestKey(t *testing.T) {
	t.Parallel()
	base := mcp.Server{Name: "a", Remote: mcp.Remote{URL: "https://mcp.example.com/x?key=secret"}}
	seen := map[string]string{Key(base): "base"}
	for name, change := range map[string]func(*mcp.Server){
		"path":   func(s *mcp.Server) { s.Remote.URL = "https://mcp.example.com/y?key=secret" },
		"host":   func(s *mcp.Server) { s.Remote.URL = "https://mcp.example.org/x?key=secret" },
		"query":  func(s *mcp.Server) { s.Remote.URL = "https://mcp.example.com/x" },
		"client": func(s *mcp.Server) { s.Remote.OAuth.ClientID = "other" },
		"issuer": func(s *mcp.Server) { s.Remote.OAuth.Issuer = "https://as.example.com" },
	} {
		s := base
		change(&s)
		if before, ok := seen[Key(s)]; ok {
			t.Errorf("%s has the key of %s", name, before)
		}
		seen[Key(s)] = name
	}
	renamed := base
	renamed.Name = "b"
	if Key(renamed) != Key(base) {
		t.Error("another name loses the tokens")
	}
	for key := range seen {
		if strings.Contains(key, "secret") || !strings.HasPrefix(key, "mcp mcp.example.") {
			t.Errorf("the key is %q", key)
		}
	}
}

// Close ends what is under way, and nothing begins after it.
func TestClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	w.a.Close()
	if err := wait(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("the flow ended with %v", err)
	}
	if _, err := http.Get(redirectOf(t, address)); err == nil {
		t.Error("the port is still open")
	}
	if _, _, err := w.a.Authorise(t.Context(), w.server); !errors.Is(err, ErrClosed) {
		t.Errorf("authorise: %v", err)
	}
}

// redirectOf returns where the browser would come back to.
func redirectOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("redirect_uri")
}
