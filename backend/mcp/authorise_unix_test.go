//go:build unix

package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
	"atelier.dev/atelier/backend"
)

// A server that wants authorisation is connected once the browser has come back, and
// again after a restart, because its tokens are kept; when they are forgotten, it asks
// anew. A changed file counts at once.
func TestAuthorise(t *testing.T) {
	t.Parallel()
	at, err := oauthtest.Start(oauthtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	y := newYard(t)
	y.put(filepath.Join(y.user, userFile), fmt.Sprintf(`{"mcpServers": {"a": {"type": "http", "url": %q}}}`, at.URL))
	y.await("user a needs_auth")
	y.consent("")
	y.await("user a connected")
	for y.rows()[0].Auth.URL != "" { // until the row hears of it
		select {
		case <-y.news:
		case <-t.Context().Done():
			t.Fatal("the row still asks")
		}
	}
	if auth := y.rows()[0].Auth; auth != (ServerAuth{Kept: true}) {
		t.Errorf("%+v", auth)
	}
	y.restart()
	y.await("user a connected")
	if n := at.Count("authorize"); n != 1 {
		t.Errorf("the user was asked %d times", n)
	}
	at.Revoke()
	_, _ = y.Reconnect(t.Context(), ServerRequest{Name: "a"})
	y.await("user a needs_auth")
	if row := y.rows()[0]; row.Problem.ID != backend.ProblemServerAuthEnded || row.Auth.Kept {
		t.Errorf("%+v", row)
	}
	y.consent("")
	y.await("user a connected")
	if _, err := y.Forget(t.Context(), ServerRequest{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	y.await("user a needs_auth")
	if len(y.keys.held) != 0 {
		t.Errorf("%d secrets are left", len(y.keys.held))
	}
	if _, err := y.Authorise(t.Context(), ServerRequest{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := y.Forget(t.Context(), ServerRequest{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	y.await("user a needs_auth")
	if row := y.rows()[0]; row.Auth != (ServerAuth{}) || row.Problem.ID != backend.ProblemServerNeedsAuth {
		t.Errorf("after the user called it off: %+v, %+v", row.Auth, row.Problem)
	}
	y.put(filepath.Join(y.user, userFile), `{}`)
	y.Reload()
	y.await("")
}

// consent does what the user does in the browser.
func (y *yard) consent(answer string) (address string) {
	y.t.Helper()
	reply, err := y.Authorise(y.t.Context(), ServerRequest{Name: "a"})
	if err != nil {
		y.t.Fatal(err)
	}
	if auth := y.rows()[0].Auth; auth.URL != reply.URL {
		y.t.Errorf("%+v instead of %s", auth, reply.URL)
	}
	res, err := http.Get(reply.URL + answer)
	if err != nil {
		y.t.Fatal(err)
	}
	_ = res.Body.Close()
	return reply.URL
}

// A row says why its server was not authorised, until the user tries again.
func TestAuthoriseFails(t *testing.T) {
	t.Parallel()
	at, err := oauthtest.Start(oauthtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	y := newYard(t)
	taken := httptest.NewServer(nil)
	t.Cleanup(taken.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(taken.URL, "http://"), ":")
	file := filepath.Join(y.user, userFile)
	y.put(file, fmt.Sprintf(`{"mcpServers": {"a": {"type": "http", "url": %q}}}`, at.URL))
	y.await("user a needs_auth")
	y.consent("&answer=no")
	for y.rows()[0].Problem.ID != backend.ProblemServerAuthDenied {
		select {
		case <-y.news:
		case <-t.Context().Done():
			t.Fatal(y.rows()[0])
		}
	}
	if row := y.rows()[0]; row.Auth != (ServerAuth{}) || !strings.Contains(row.Problem.Details, "access_denied") {
		t.Errorf("%+v: %+v", row.Auth, row.Problem)
	}
	y.consent("")
	y.await("user a connected")
	y.put(file, fmt.Sprintf(`{"mcpServers": {"a": {"type": "http", "url": "%s?b", "oauth": {"callbackPort": %s}}}}`, at.URL, port))
	y.Reload()
	y.await("user a needs_auth")
	_, err = y.Authorise(t.Context(), ServerRequest{Name: "a"})
	if problem := (*backend.Error)(nil); !errors.As(err, &problem) || problem.ID != backend.ProblemServerAuthPort || problem.Args[1] != port {
		t.Errorf("%v", err)
	}
}
