package workbench_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

var errFaulty = errors.New("it is locked")

// lockedKeys is a key store that can be read but accepts no key, even if it has
// stored a part of one.
type lockedKeys struct {
	*keystore.Store
	locked *bool
}

func (k lockedKeys) SetKey(entry, key string) error {
	if err := k.Store.SetKey(entry, key); err != nil || !*k.locked {
		return err
	}
	*k.locked = false // for the undo
	return errFaulty
}

// lockedStore is a store that accepts no setting.
type lockedStore struct {
	*storage.Store
	locked *bool
}

func (s lockedStore) SetSetting(ctx context.Context, key, value string) error {
	if *s.locked {
		return &backend.Error{Code: backend.CodeStoreFailed, Message: errFaulty.Error()}
	}
	return s.Store.SetSetting(ctx, key, value)
}

// keyUsed asks a provider for its models and returns the key that each server
// received, empty if it was not asked.
func keyUsed(p *page, servers ...*llmtest.Server) []string {
	p.t.Helper()
	before := make([]int, len(servers))
	for i, s := range servers {
		before[i] = len(s.AllRequests())
	}
	must[models.ConnectionTest](p, "models.test", models.ModelRef{Provider: "compat"})
	used := make([]string, len(servers))
	for i, s := range servers {
		for _, r := range s.AllRequests()[before[i]:] {
			used[i] = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		}
	}
	return used
}

// A key and an address are stored both or neither, whichever of the two fails,
// also for the next process.
func TestKeyAndAddressAreSetTogether(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		keyFails, storeFails bool
		sameHost             bool
	}{
		"the key store fails":                      {keyFails: true},
		"the key store fails, on the same host":    {keyFails: true, sameHost: true},
		"the database fails":                       {storeFails: true},
		"the database fails, on the same host":     {storeFails: true, sameHost: true},
		"neither fails":                            {},
		"neither fails, and only the path changes": {sameHost: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := llmtest.Serve(t), llmtest.Serve(t)
			home := t.TempDir()
			keysLocked, storeLocked := false, false
			p := openPage(t, t.TempDir(), home, variables(), func(s *storage.Store) backend.Store {
				return lockedStore{s, &storeLocked}
			}, func(cfg *workbench.Config) { cfg.Keys = lockedKeys{keystore.New(home), &keysLocked} })
			must[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "compat", Key: "key-of-the-first", BaseURL: first.URL})

			want := []string{"key-of-the-first", ""}
			change := models.SetKeyRequest{Provider: "compat", Key: "key-of-the-second", BaseURL: second.URL}
			if tt.sameHost {
				change.BaseURL = first.URL + "/"
			}
			keysLocked, storeLocked = tt.keyFails, tt.storeFails
			_, err := call[models.KeyList](p, "keys.set", change)
			switch fails := tt.keyFails || tt.storeFails; {
			case (err != nil) != fails:
				t.Errorf("keys.set: %v", err)
			case !fails && tt.sameHost:
				want = []string{"key-of-the-second", ""}
			case !fails:
				want = []string{"", "key-of-the-second"}
			}
			keysLocked, storeLocked = false, false
			if got := keyUsed(p, first, second); got[0] != want[0] || got[1] != want[1] {
				t.Errorf("the servers were sent %q, want %q", got, want)
			}
			p.close()
			again := newPage(t, t.TempDir(), home, variables())
			if got := keyUsed(again, first, second); got[0] != want[0] || got[1] != want[1] {
				t.Errorf("after a restart the servers were sent %q, want %q", got, want)
			}
			if b, err := os.ReadFile(filepath.Join(home, "keys.json")); err != nil || strings.Count(string(b), "key-of-the") != 1 {
				t.Errorf("the key store holds %s (%v)", b, err)
			}
		})
	}
}

// A key is never sent to another host than the one it was entered for: a new
// address requires the key again, whatever the source of the old one.
func TestAKeyStaysWithItsHost(t *testing.T) {
	t.Parallel()
	first, second := llmtest.Serve(t), llmtest.Serve(t)
	for name, tt := range map[string]struct {
		env       []string
		set       []models.SetKeyRequest // the last one requires the key
		says      string
		elsewhere string // the key that the second server receives after that
	}{
		"another host": {
			set:  []models.SetKeyRequest{{Key: "secret-key", BaseURL: first.URL}, {BaseURL: second.URL}},
			says: "is not sent to this one",
		},
		"from the provider's own": {
			set:  []models.SetKeyRequest{{Key: "secret-key"}, {BaseURL: second.URL}},
			says: "is not sent to this one",
		},
		"back to the provider's own": {
			set:  []models.SetKeyRequest{{Key: "secret-key", BaseURL: second.URL}, {}},
			says: "is not sent to the provider's own", elsewhere: "secret-key",
		},
		"another scheme": {
			set:  []models.SetKeyRequest{{Key: "secret-key", BaseURL: strings.Replace(first.URL, "http:", "https:", 1)}, {BaseURL: first.URL}},
			says: "another address",
		},
		"the environment's key": {
			env: []string{"COMPAT_API_KEY", "secret-key"},
			set: []models.SetKeyRequest{{BaseURL: second.URL}}, says: "COMPAT_API_KEY",
		},
		"the environment's key and address": {
			env: []string{"COMPAT_API_KEY", "secret-key", "COMPAT_BASE_URL", first.URL},
			set: []models.SetKeyRequest{{BaseURL: second.URL}}, says: "COMPAT_BASE_URL",
		},
		"beside the environment's key": {
			env:       []string{"COMPAT_API_KEY", "secret-key"},
			set:       []models.SetKeyRequest{{Key: "another-key", BaseURL: second.URL}, {BaseURL: first.URL}},
			elsewhere: "another-key",
		},
	} {
		t.Run(name, func(t *testing.T) { // not parallel: the cases share the servers
			home := t.TempDir()
			p := newPage(t, t.TempDir(), home, variables(tt.env...))
			for i, in := range tt.set {
				in.Provider = "compat"
				_, err := call[models.KeyList](p, "keys.set", in)
				if i < len(tt.set)-1 {
					if err != nil {
						t.Fatal(err)
					}
					continue
				}
				if err == nil || err.Code != backend.CodeKeyNeeded || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret-key") {
					t.Fatalf("%+v was answered with %v", in, err)
				}
			}
			p.close()
			again := newPage(t, t.TempDir(), home, variables(tt.env...))
			if got := keyUsed(again, second)[0]; got != tt.elsewhere {
				t.Errorf("the other host was sent %q, want %q", got, tt.elsewhere)
			}
		})
	}
}

// A change that keeps the host keeps the key. So does an address that was
// stored before keys were bound to hosts, with its key under the plain name.
func TestAKeyFollowsItsHost(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables())
	if err := errors.Join(p.store.SetSetting(t.Context(), "base_url.compat", server.URL), keystore.New(home).SetKey("compat", "earlier-key")); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{server.URL, server.URL + "/", server.URL} {
		if got := keyUsed(p, server)[0]; got != "earlier-key" {
			t.Fatalf("%s was sent %q", address, got)
		}
		must[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "compat", BaseURL: address})
	}
	must[models.KeyList](p, "keys.remove", models.ProviderRef{Provider: "compat"})
	if b, err := os.ReadFile(filepath.Join(home, "keys.json")); err != nil || strings.Contains(string(b), "earlier-key") {
		t.Errorf("the key store holds %s (%v)", b, err)
	}
}

// An address that contains a secret is refused and stored nowhere. One from the
// environment is used, and shown without the secret.
func TestAddressesHoldNoSecrets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, variables("COMPAT_BASE_URL", "http://me:canary-1@127.0.0.1:1/v1?key=canary-1#canary-1"))
	for _, address := range []string{
		"https://me:canary-1@host.example/v1", "https://canary-1@host.example/v1", "https://host.example/v1?key=canary-1",
		"https://host.example/v1#canary-1", "https://canary-1.example/v1?", "https://host.example/v1?api-version=2024-10-21", "canary-1", "http://:80/canary-1", "https://[canary-1",
	} {
		_, err := call[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "openai", Key: "k", BaseURL: address})
		if err == nil || err.Code != backend.CodeInvalid || err.Next == "" || strings.Contains(err.Error()+err.Details, "canary-1") {
			t.Errorf("%s was answered with %v", address, err)
		}
	}
	must[models.KeyList](p, "keys.set", models.SetKeyRequest{Provider: "azure", Key: "k", BaseURL: "https://mine.openai.azure.com/openai?api-version=2025-04-01-preview"})
	for _, k := range must[models.KeyList](p, "keys.list", backend.Empty{}).Keys {
		switch {
		case strings.Contains(k.BaseURL, "canary-1"),
			k.Provider == "compat" && k.BaseURL != "http://127.0.0.1:1/v1",
			k.Provider == "openai" && (k.Source != "" || k.BaseURL != ""):
			t.Errorf("%+v is shown", k)
		}
	}
	checks, err := p.bench.CheckProviders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if strings.Contains(fmt.Sprint(c.BaseURL, c.Connection.Problem), "canary-1") {
			t.Errorf("doctor shows %+v", c)
		}
	}
	p.close()
	if err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "canary-1") {
			t.Errorf("%s holds the secret (%v)", path, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// OAS-109: a summary's own cap is sent to Anthropic, whose answers otherwise
// have the model's cap.
func TestSummaryCapOnTheWire(t *testing.T) {
	t.Parallel()
	long := llmtest.Round{Text: strings.Repeat("word, ", 4000), Usage: small}
	server := llmtest.Serve(t, long, llmtest.Round{Text: "## Goal\nThe login.", Usage: small})
	p := newPage(t, t.TempDir(), t.TempDir(), variables("ANTHROPIC_API_KEY", "the-secret-key", "ANTHROPIC_BASE_URL", server.Root))
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	p.send(info.ID, "Mend the login.")
	await(p, anyOf[agent.ProcessingEnd])
	must[backend.Empty](p, "conversation.compact", workbench.CompactRequest{Session: info.ID})
	if end := await(p, anyOf[agent.CompactionEnd]); end.Outcome != agent.OutcomeDone {
		t.Fatalf("%+v", end)
	}
	requests := server.Requests()
	for i, want := range []string{`"max_tokens":128000`, `"max_tokens":8192`} {
		if body := string(requests[i].Body); !strings.Contains(body, want) {
			t.Errorf("request %d has no %s: %.300s", i+1, want, body)
		}
	}
}
