package oauth

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
)

// An authorisation server that does not know the client any more is registered at
// again.
func TestAClientThatEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/token" || r.PostFormValue("grant_type") != "refresh_token" {
			return false
		}
		rw.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(rw, `{"error":"invalid_client"}`)
		return true
	}})
	w.authorise()
	w.at.Expire()
	w.needs("whoami", WhyEnded)
	w.authorise()
	w.works("whoami")
	w.counted(map[string]int{"register": 2})
}

// late is a store that learns of the other process's token only when it is asked again.
type late struct {
	*drawer
	newer string // what the next but one question finds
	asked int
}

func (l *late) Load(ctx context.Context, key string) (string, error) {
	text, err := l.drawer.Load(ctx, key)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.newer != "" {
		if l.asked++; l.asked > 1 {
			return l.newer, err
		}
	}
	return text, err
}

// Two processes may use one refresh token at the same moment. The one that comes second
// takes the other's tokens.
func TestAnotherProcessUsedTheRefreshToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	store := &late{drawer: w.drawer}
	w.a = New(Config{TokenStore: store})
	t.Cleanup(w.a.Close)
	w.authorise()
	before := w.drawer.text(w.server)
	w.at.Expire()
	if status, err := w.call(w.another(), "whoami"); err != nil || status != http.StatusOK {
		t.Fatalf("the other process: %d, %v", status, err)
	}
	w.drawer.mu.Lock()
	store.newer = w.drawer.texts[Key(w.server)]
	w.drawer.texts[Key(w.server)] = before
	w.drawer.mu.Unlock()
	w.works("whoami")
	w.counted(map[string]int{"refresh_token": 2, "authorize": 1})
}

// An authorisation server that could bind tokens to keys may issue plain ones.
func TestATokenThatIsNotBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Issuer: func(doc map[string]any) { doc["dpop_signing_alg_values_supported"] = []string{"ES256"} }})
	w.authorise()
	w.works("whoami")
}

// The answer is redeemed once, however often and at whatever moment it comes.
func TestAnAnswerIsRedeemedOnce(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}, 2), make(chan struct{})
	w := newWorld(t, oauthtest.Config{Intercept: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			asked <- struct{}{}
			<-goOn
		}
		return false
	}})
	_, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	f := w.a.account(w.server).flow
	answer := url.Values{"state": {f.state}, "iss": {w.at.Issuer}, "code": {"1"}}
	var tabs sync.WaitGroup
	for range 5 {
		tabs.Go(func() {
			if known, err := f.returned(answer); !known || err == nil {
				t.Errorf("the code is no good, and it says %v, %v", known, err)
			}
		})
	}
	<-asked
	close(goOn)
	tabs.Wait()
	if err := wait(t.Context()); err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Errorf("it ended with %v", err)
	}
	w.counted(map[string]int{"authorization_code": 1})
}

// An address for consent that brings scopes of its own does not get them.
func TestScopesOfTheAddressForConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Issuer: func(doc map[string]any) {
		doc["authorization_endpoint"] = doc["authorization_endpoint"].(string) + "?scope=everything"
	}})
	address, _, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(address, "everything") {
		t.Errorf("the user consents at %s", address)
	}
}
