//go:build unix

package hooks

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
)

// memory is a store of settings that calls back before each access.
type memory struct {
	backend.HookLog // without entries
	mu              sync.Mutex
	texts           map[string]string
	access          func(ctx context.Context)
}

func (m *memory) Setting(ctx context.Context, key string) (string, error) {
	m.access(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts[key], nil
}

func (m *memory) SetSetting(ctx context.Context, key, text string) error {
	m.access(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts[key] = text
	return nil
}

func (m *memory) LastHookRecords(context.Context, string, string, []string) (map[string]backend.HookRecord, error) {
	return nil, nil
}

// onMemory is a fixture over a store in memory.
func onMemory(t *testing.T) (*fixture, *memory) {
	t.Helper()
	base := t.TempDir()
	f := &fixture{t: t, folder: base + "/project", user: base + "/user"}
	if err := os.Mkdir(f.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	m := &memory{texts: map[string]string{}, access: func(context.Context) {}}
	trusted := trust.New(trust.Config{Folder: f.folder, User: f.user, Store: m})
	f.Hooks = New(Config{
		Folder: f.folder, User: f.user, Store: m, Trust: trusted,
		Engine: hook.Options{Runner: hook.Local{}}, Changed: func(string) {},
	})
	f.review = review.New(trusted, f.Hooks)
	return f, m
}

// missed returns the guards that the list says are missed.
func (f *fixture) missed() (out []HookMissing) {
	f.t.Helper()
	reply, err := f.List(f.t.Context(), HooksRequest{})
	if err != nil {
		f.t.Error(err)
	}
	for _, file := range reply.Files {
		out = append(out, file.Missing...)
	}
	return out
}

// waits marks the context of a reader that waits at one of its accesses to the store.
type waits struct{}

// Wherever one reader is with the store when a guard vanishes and others read the
// files: everybody misses the guard, and it stays missed.
func TestReadersTakeTurns(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*fixture, context.Context, string){
		"judges again":    func(f *fixture, ctx context.Context, _ string) { f.again(ctx) },
		"decides":         func(f *fixture, ctx context.Context, id string) { f.decide(ctx, id) },
		"finds it absent": func(f *fixture, ctx context.Context, _ string) { f.write(".agent/settings.json", `{}`); f.current(ctx) },
	} {
		waited := true
		for n := 0; waited; n++ {
			synctest.Test(t, func(t *testing.T) {
				waited = vanishMeanwhile(t, n, first)
				if t.Failed() {
					t.Fatalf("while one who %s waited at access %d", name, n)
				}
			})
		}
	}
}

// vanishMeanwhile has a guard vanish while a reader waits at an access to the store,
// and reports whether there is such an access.
func vanishMeanwhile(t *testing.T, at int, read func(f *fixture, ctx context.Context, id string)) (waited bool) {
	const file = ".agent/settings.json"
	f, store := onMemory(t)
	defer f.Close(t.Context()) //nolint:errcheck // it has no log
	f.write(file, strings.Replace(denies, `"hooks": [`, `"hooks": [{"type": "command", "command": "first"}, `, 1))
	f.accept()
	f.write(file, denies)
	guard := f.current(t.Context()).sources[2].handlers[0]
	release := make(chan struct{})
	store.access = func(ctx context.Context) {
		if ctx.Value(waits{}) == nil {
			return
		}
		if at--; at == -1 {
			waited = true
			<-release
		}
	}
	var all sync.WaitGroup
	all.Go(func() { read(f, context.WithValue(t.Context(), waits{}, true), guard.ID()) })
	synctest.Wait()
	f.write(file, `{}`)
	for range 2 {
		all.Go(func() {
			if got := f.missed(); len(got) != 2 {
				t.Errorf("missed meanwhile: %+v", got)
			}
		})
	}
	synctest.Wait()
	if got := f.ready(t.Context(), guard, f.folder); got.State != hook.StateReady && got.State != hook.StateChanged {
		t.Errorf("for an engine that was told of it before: %+v", got)
	}
	close(release)
	all.Wait()
	f.again(t.Context())
	if got := f.missed(); len(got) != 2 || f.ready(t.Context(), guard, f.folder).State != hook.StateChanged {
		t.Errorf("missed in the end: %+v", got)
	}
	return waited
}

// A result that was read for a caller whose context has ended serves the others:
// no guard is forgotten, and none waits to be trusted again.
func TestReadersThatLeave(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	const file, own = ".agent/settings.json", "~/.agent/settings.json"
	t.Run("before a guard vanishes", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.write(own, denies)
		f.current(left)
		f.restartAfter(func() { f.write(own, `{"hooks": {`) })
		if got := f.decides(); got.Decision != agent.Ask {
			t.Errorf("the file broke while the program did not run: %+v", got)
		}
	})
	t.Run("after it vanished", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.write(file, denies)
		f.accept()
		f.write(file, `{}`)
		f.current(left)
		if got := f.missed(); len(got) != 1 || !got[0].Gone {
			t.Errorf("missed: %+v", got)
		}
	})
	t.Run("while it stands", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.write(file, denies)
		f.accept()
		f.again(left)
		if got := f.current(t.Context()).sources; f.decides().Decision != agent.Deny || slices.ContainsFunc(got, func(s source) bool { return s.undecided }) {
			t.Errorf("a guard that is trusted waits for a decision")
		}
	})
}

// failing is a store that fails until it is mended.
func (m *memory) ChangeSetting(ctx context.Context, key string, change func(string) (string, error)) error {
	m.access(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	text, err := change(m.texts[key])
	if err == nil {
		m.texts[key] = text
	}
	return err
}

type failing struct {
	Store
	broken atomic.Bool
}

func (s *failing) Setting(ctx context.Context, key string) (string, error) {
	if s.broken.Load() {
		return "", errors.New("the disk is away")
	}
	return s.Store.Setting(ctx, key)
}

func (s *failing) SetSetting(ctx context.Context, key, text string) error {
	if s.broken.Load() {
		return errors.New("the disk is away")
	}
	return s.Store.SetSetting(ctx, key, text)
}

func (s *failing) ChangeSetting(ctx context.Context, key string, change func(string) (string, error)) error {
	if s.broken.Load() {
		return errors.New("the disk is away")
	}
	return s.Store.ChangeSetting(ctx, key, change)
}

// A failed read of the store is repeated, and a failed write is made up for later.
func TestStoreThatFailsForAWhile(t *testing.T) {
	t.Parallel()
	var store *failing
	f := newFixtureOn(t, func(s Store) Store {
		store = &failing{Store: s}
		return store
	})
	const own = "~/.agent/settings.json"
	store.broken.Store(true)
	f.write(own, denies)
	f.current(t.Context())
	store.broken.Store(false)
	if got := f.decides(); got.Decision != agent.Deny {
		t.Errorf("%+v", got)
	}
	if l := f.current(t.Context()); l.sources[0].undecided || l.unsure() {
		t.Error("the guard still waits for a decision")
	}
	f.restartAfter(func() { f.write(own, `{"hooks": {`) })
	store.broken.Store(true)
	f.current(t.Context())
	store.broken.Store(false)
	if got := f.decides(); got.Decision != agent.Ask {
		t.Errorf("the file broke while the program did not run: %+v", got)
	}
}
