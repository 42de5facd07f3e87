//go:build unix

package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/storage"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// keys is a keyring.
type keys struct {
	mu   sync.Mutex
	held map[string]string
	// asked, if it is set, is closed by a look-up, which then waits for answered.
	asked, answered chan struct{}
}

func (k *keys) Key(name string) (string, backend.KeySource, error) {
	if k.asked != nil {
		close(k.asked)
		<-k.answered
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held[name], backend.KeyFromKeyring, nil
}

func (k *keys) SetKey(name, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held[name] = key
	return nil
}

func (k *keys) RemoveKey(name string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, name)
	return nil
}

func (k *keys) Place() (bool, string) { return true, "" }

// yard is the servers of a folder, over a real database, real files and processes.
type yard struct {
	*Servers
	t            *testing.T
	folder, user string
	store        *storage.Store
	keys         *keys
	review       *review.Reviewer
	env          map[string]string
	news         chan struct{}
}

func newYard(t *testing.T) *yard {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{
		t: t, folder: filepath.Join(base, "project"), user: filepath.Join(base, "user"), keys: &keys{held: map[string]string{}},
		env: map[string]string{}, news: make(chan struct{}, 1),
	}
	for _, dir := range []string{y.folder, y.user} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if y.store, err = storage.Open(t.Context(), filepath.Join(base, "home")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = y.store.Close() })
	y.begin()
	t.Cleanup(func() { _ = y.Close(context.Background()) })
	return y
}

// begin starts the program with what is stored.
func (y *yard) begin() {
	trusted := trust.New(trust.Config{Folder: y.folder, User: y.user, Store: y.store})
	y.Servers = New(Config{
		Folder: y.folder, User: y.user, Version: "1", Store: y.store, Keys: y.keys, Trust: trusted,
		Getenv: func(name string) string { return y.env[name] }, Environ: os.Environ,
		Changed: func() {
			select {
			case y.news <- struct{}{}:
			default:
			}
		},
	})
	y.review = review.New(trusted, y.Servers)
}

func (y *yard) restart() {
	y.t.Helper()
	if err := y.Close(y.t.Context()); err != nil {
		y.t.Fatal(err)
	}
	y.begin()
}

func (y *yard) put(name, text string) {
	y.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(y.folder, name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) read(name string) string {
	y.t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		y.t.Fatal(err)
	}
	return string(b)
}

// good is the definition of a server that works. Behave decides how, from a file.
func (y *yard) good() (definition string, behave func(string)) {
	program, err := os.Executable()
	if err != nil {
		y.t.Fatal(err)
	}
	script, behaviour := filepath.Join(y.user, "server.sh"), filepath.Join(y.user, "behaviour")
	y.put(script, fmt.Sprintf("#!/bin/sh\nexport ATELIER_MCPTEST=$(cat %s)\nexec %s\n", behaviour, program))
	y.put(behaviour, "good")
	return fmt.Sprintf(`{"command": %q, "env": {"GORACE": "atexit_sleep_ms=0"}}`, script), func(b string) { y.put(behaviour, b) }
}

func (y *yard) rows() []ServerRow {
	y.t.Helper()
	reply, err := y.List(y.t.Context(), ServersRequest{NoConnect: true})
	if err != nil {
		y.t.Fatal(err)
	}
	return reply.Servers
}

// states are the states of all rows, with the scopes of their files.
func (y *yard) states() string {
	y.t.Helper()
	var out []string
	for _, r := range y.rows() {
		out = append(out, fmt.Sprintf("%s %s %s", r.Origin.Scope, r.Name, r.State))
	}
	return strings.Join(out, ", ")
}

// await waits for a state of the connections.
func (y *yard) await(want string) {
	y.t.Helper()
	y.Begin()
	for y.states() != want {
		select {
		case <-y.news:
		case <-y.t.Context().Done():
			y.t.Fatalf("it is %q, not %q", y.states(), want)
		}
	}
}

// accept trusts everything that waits, and returns the notes about it.
func (y *yard) accept() (notes []string) {
	y.t.Helper()
	reply, err := y.review.List(y.t.Context(), backend.Empty{})
	if err != nil {
		y.t.Fatal(err)
	}
	for _, item := range reply.Items {
		shown, err := y.review.Show(y.t.Context(), review.TrustRequest{ID: item.ID})
		if err != nil {
			y.t.Fatal(err)
		}
		for _, n := range shown.Notes {
			notes = append(notes, n.Message)
		}
		if _, err := y.review.Accept(y.t.Context(), review.TrustAcceptRequest{ID: item.ID, Seal: shown.Seal}); err != nil {
			y.t.Fatal(err)
		}
	}
	return notes
}
