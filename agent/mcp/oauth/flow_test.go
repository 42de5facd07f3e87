package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
	"github.com/google/go-cmp/cmp"
)

func TestTheAddressForTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{Scopes: []string{"read"}, Issuer: func(doc map[string]any) {
		doc["authorization_endpoint"] = fmt.Sprint(doc["authorization_endpoint"]) + "?tenant=1&redirect_uri=https://evil.example&scope=all&state=x"
		doc["scopes_supported"] = []string{"read", "offline_access"}
	}})
	w.needs("whoami", WhyFirst)
	address, _, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for _, random := range []string{"state", "code_challenge", "client_id", "redirect_uri"} {
		if len(q.Get(random)) < 20 || len(q[random]) != 1 || strings.Contains(q.Get(random), "evil") {
			t.Errorf("%s is %q", random, q[random])
		}
		q.Del(random)
	}
	want := url.Values{
		"tenant": {"1"}, "response_type": {"code"}, "code_challenge_method": {"S256"}, "resource": {w.at.URL},
		"scope": {"read offline_access"}, "prompt": {"consent"},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}

// Whatever the browser, or another program, brings to the port.
func TestTheBrowserComesBack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(url.Values)
		want   string // in the error
	}{
		"refused":            {func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, "access_denied"},
		"refused with words": {func(q url.Values) { q.Set("error", "server_error"); q.Set("error_description", "<b>\n\x1b") }, "server_error (<b>??)"},
		"no code":            {func(q url.Values) { q.Del("code") }, "without a code"},
		"two codes":          {func(q url.Values) { q.Add("code", "2") }, "without a code"},
		"wrong code":         {func(q url.Values) { q.Set("code", "stolen") }, "invalid_grant"},
		"no issuer":          {func(q url.Values) { q.Del("iss") }, "does not say"},
		"other issuer":       {func(q url.Values) { q.Set("iss", "https://evil.example") }, "another authorisation server"},
		"issuer with slash":  {func(q url.Values) { q.Set("iss", q.Get("iss")+"/") }, "another authorisation server"},
		"two issuers":        {func(q url.Values) { q.Add("iss", q.Get("iss")) }, "another authorisation server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, oauthtest.Config{Return: test.change})
			address, wait, err := w.a.Authorise(t.Context(), w.server)
			if err != nil {
				t.Fatal(err)
			}
			status, page := browse(t, address)
			if status != http.StatusBadRequest || !strings.Contains(page, "was not authorised") {
				t.Errorf("the page: %d\n%s", status, page)
			}
			if err := wait(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it ended with %v, want %q", err, test.want)
			}
			if w.drawer.text(w.server) != "" {
				t.Error("something was kept")
			}
		})
	}
}

// A page that guesses at the port ends nothing.
func TestOthersCallThePort(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	back := redirectOf(t, address)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	state := u.Query().Get("state")
	for _, query := range []string{"", "?code=x", "?code=x&state=", "?code=x&state=guess", "?error=access_denied&state=" + state[1:], "?code=x&state=" + state + "&state=" + state} {
		status, page := browse(t, back+query)
		if status != http.StatusBadRequest || !strings.Contains(page, "is not waiting for this page") || strings.Contains(page, "guess") {
			t.Errorf("%q: %d\n%s", query, status, page)
		}
	}
	if status, _ := browse(t, strings.TrimSuffix(back, callbackPath)+"/?code=x&state="+state); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	res, err := http.PostForm(back+"?code=x&state="+state, nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("another method: %d", res.StatusCode)
	}
	// More connections than it holds, which say nothing.
	for range 3 * callbackConns {
		conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(back, "http://"), callbackPath))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	status, page := browse(t, address)
	if status != http.StatusOK || !strings.Contains(page, "is authorised") {
		t.Errorf("the page: %d\n%s", status, page)
	}
	if err := wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.works("whoami")
}

// A second tab with the same answer changes nothing, and sees how it went.
func TestASecondTab(t *testing.T) {
	t.Parallel()
	asked, goOn, coded := make(chan struct{}), make(chan struct{}), make(chan struct{}, 2)
	w := newWorld(t, oauthtest.Config{
		Return: func(url.Values) { coded <- struct{}{} },
		Intercept: func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/token" {
				close(asked)
				<-goOn
			}
			return false
		},
	})
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	pages := make(chan string, 2)
	open := func() {
		res, err := http.Get(address)
		if err != nil {
			pages <- err.Error()
			return
		}
		defer res.Body.Close()
		pages <- res.Status
	}
	go open()
	<-coded
	<-asked
	go open()
	<-coded
	close(goOn)
	// The port may be closed before the second tab comes back.
	if first, second := <-pages, <-pages; first != "200 OK" && second != "200 OK" {
		t.Errorf("the tabs show %s and %s", first, second)
	}
	if err := wait(t.Context()); err != nil {
		t.Error(err)
	}
	w.counted(map[string]int{"authorization_code": 1})
}

func TestTheUserBeginsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	_, first, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	w.authorise()
	if err := first(t.Context()); !errors.Is(err, ErrReplaced) {
		t.Errorf("the first ended with %v", err)
	}
	w.works("whoami")
}

// An authorisation that the user removed does not come back with a browser that is
// still open.
func TestForgetEndsAFlow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.a.Forget(t.Context(), w.server); err != nil {
		t.Fatal(err)
	}
	if err := wait(t.Context()); !errors.Is(err, ErrForgotten) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(redirectOf(t, address), "http://"), callbackPath)); err == nil {
		t.Error("the port is still open")
	}
	w.authorise()
	w.works("whoami")
}

func TestTheUserGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	w.a.Close() // waits for the port
	if _, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(redirectOf(t, address), "http://"), callbackPath)); err == nil {
		t.Error("the port is still open")
	}
}

// Nobody comes back.
func TestAFlowEndsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := New(Config{TokenStore: &drawer{texts: map[string]string{}}})
		defer a.Close()
		f := &flow{account: &account{authority: a}, done: make(chan struct{}), closed: make(chan struct{})}
		a.start(func() { f.serve(&callback{}) })
		if err := f.wait(t.Context()); !errors.Is(err, ErrExpired) {
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	w.server.Remote.OAuth.CallbackPort = port
	_, _, err = w.a.Authorise(t.Context(), w.server)
	taken := (*PortError)(nil)
	if !errors.As(err, &taken) || taken.Port != port || !strings.Contains(err.Error(), strconv.Itoa(port)) {
		t.Errorf("authorise: %v", err)
	}
}

// The port of an earlier registration is used again, so that the client is, too. If
// it is taken, we register again.
func TestARegistrationIsUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	first, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	browse(t, first)
	if err := wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.authorise()
	w.counted(map[string]int{"register": 1})
	l, err := net.Listen("tcp", strings.TrimSuffix(strings.TrimPrefix(redirectOf(t, first), "http://"), callbackPath))
	if err != nil {
		t.Skipf("another test has the port: %v", err)
	}
	defer l.Close()
	w.authorise()
	w.counted(map[string]int{"register": 2})
}

// An authorisation server that has forgotten the client shows that to the user only.
// The next attempt registers again.
func TestARegistrationThatEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, oauthtest.Config{})
	w.authorise()
	w.at.Revoke()
	w.at.ForgetClients()
	w.needs("whoami", WhyEnded)
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := browse(t, address); status != http.StatusBadRequest {
		t.Fatalf("the page: %d", status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ctx); err == nil {
		t.Fatal("it was authorised")
	}
	w.a.Close()
	w.a = w.another()
	w.authorise()
	w.works("whoami")
	w.counted(map[string]int{"register": 2})
}

// A client that was registered by hand comes back to "localhost", and has a secret that
// only its authorisation server gets.
func TestAClientOfTheConfiguration(t *testing.T) {
	t.Parallel()
	var sent []string
	w := newWorld(t, oauthtest.Config{
		Issuer: func(doc map[string]any) {
			delete(doc, "registration_endpoint")
			doc["token_endpoint_auth_methods_supported"] = []string{authBasic}
		},
		Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/authorize":
				q := r.URL.Query()
				http.Redirect(rw, r, q.Get("redirect_uri")+"?code=1&state="+q.Get("state")+"&iss="+q.Get("tenant")+"http://"+r.Host+"/issuer", http.StatusFound)
				return true
			case "/token":
				id, secret, _ := r.BasicAuth()
				sent = append(sent, id+":"+secret)
				rw.Header().Set("Content-Type", "application/json")
				fmt.Fprint(rw, `{"access_token":"t","token_type":"bearer"}`)
				return true
			}
			return false
		},
	})
	if _, _, err := w.a.Authorise(t.Context(), w.server); !errors.Is(err, ErrNoRegistration) {
		t.Errorf("without a client: %v", err)
	}
	w.server.Remote.OAuth.ClientID, w.server.Remote.OAuth.ClientSecret = "me", "s3cret&"
	address, wait, err := w.a.Authorise(t.Context(), w.server)
	if err != nil {
		t.Fatal(err)
	}
	if back := redirectOf(t, address); !strings.HasPrefix(back, "http://localhost:") {
		t.Errorf("the browser comes back to %s", back)
	}
	browse(t, address)
	if err := wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"me:s3cret%26"}, sent); diff != "" {
		t.Errorf("the client (-want +got):\n%s", diff)
	}
	w.server.Remote.OAuth.Issuer = "https://as.example.com"
	if _, _, err := w.a.Authorise(t.Context(), w.server); err == nil || !strings.Contains(err.Error(), "registered with") {
		t.Errorf("at another authorisation server: %v", err)
	}
}
