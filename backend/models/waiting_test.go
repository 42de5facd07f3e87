package models

import (
	"testing"

	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/backend"
)

// askingKeys is a keyring that asks the user before it answers.
type askingKeys struct {
	backend.KeyStore
	ask func()
}

func (k askingKeys) Key(string) (string, backend.KeySource, error) {
	k.ask()
	return "", "", nil
}

// While a keyring waits for the user, the sessions still learn the limits and
// prices of their models.
func TestWaitingKeyring(t *testing.T) {
	t.Parallel()
	asked := 0
	var p *Providers
	p = New(Config{Home: t.TempDir(), Settings: noSettings{}, Getenv: func(string) string { return "" }, Keys: askingKeys{ask: func() {
		if asked++; !p.mu.TryLock() {
			t.Error("the lock is held while a key is read")
			return
		}
		p.mu.Unlock()
	}}})
	for range 2 { // the second time nothing is read
		if err := p.Ready(t.Context(), demo.Provider); err != nil {
			t.Fatal(err)
		}
	}
	if want := len(p.vendors); asked != want {
		t.Errorf("%d keys were read, want %d", asked, want)
	}
}
