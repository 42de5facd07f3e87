package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
	"github.com/google/go-cmp/cmp"
)

// drawer is a store in memory.
type drawer struct {
	mu     sync.Mutex
	texts  map[string]string
	broken error
}

func (d *drawer) Load(_ context.Context, key string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.texts[key], nil
}

func (d *drawer) Save(_ context.Context, key, secret string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return d.broken
	}
	d.texts[key] = secret
	return nil
}

func (d *drawer) Remove(_ context.Context, key string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.texts, key)
	return nil
}

func (d *drawer) text(s mcp.Server) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.texts[Key(s)]
}

// world is a server, what we keep of it, and an authority.
type world struct {
	*testing.T
	at     *oauthtest.Server
	drawer *drawer
	a      *Authority
	server mcp.Server
}

func newWorld(t *testing.T, cfg oauthtest.Config) *world {
	t.Helper()
	at, err := oauthtest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(at.Close)
	w := &world{T: t, at: at, drawer: &drawer{texts: map[string]string{}}}
	w.server = mcp.Server{Name: "test", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: at.URL}}
	w.a = w.another()
	return w
}

// another is an authority of another process.
func (w *world) another() *Authority {
	a := New(Config{TokenStore: w.drawer, Version: "1"})
	w.Cleanup(a.Close)
	return a
}

func (w *world) client(a *Authority) *http.Client {
	return &http.Client{Transport: a.RoundTripper(w.server, http.DefaultTransport)}
}

// call calls a tool and returns the status, or the error.
func (w *world) call(a *Authority, tool string) (int, error) {
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.at.URL,
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`"}}`))
	if err != nil {
		return 0, err
	}
	res, err := w.client(a).Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

func (w *world) works(tool string) {
	w.Helper()
	if status, err := w.call(w.a, tool); err != nil || status != http.StatusOK {
		w.Fatalf("call %s: %d, %v", tool, status, err)
	}
}

// needs calls a tool that the user has to authorise first.
func (w *world) needs(tool string, why Why) *NeedsUser {
	w.Helper()
	_, err := w.call(w.a, tool)
	needs := (*NeedsUser)(nil)
	if !errors.As(err, &needs) || !errors.Is(err, mcp.ErrNeedsAuth) || needs.Why != why {
		w.Fatalf("call %s: %v, want that the user is needed: %s", tool, err, why)
	}
	return needs
}

// browse opens an address like a browser, and returns the last page.
func browse(t *testing.T, address string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("browse: %v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// consents has the user authorise us, and returns how it ended.
func (w *world) consents() error {
	w.Helper()
	address, wait, err := w.a.Authorise(w.Context(), w.server)
	if err != nil {
		return err
	}
	browse(w.T, address)
	return wait(w.Context())
}

func (w *world) authorise() {
	w.Helper()
	if err := w.consents(); err != nil {
		w.Fatalf("authorise: %v", err)
	}
}

func (w *world) counted(want map[string]int) {
	w.Helper()
	got := map[string]int{}
	for what := range want {
		got[what] = w.at.Count(what)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("requests (-want +got):\n%s", diff)
	}
}
