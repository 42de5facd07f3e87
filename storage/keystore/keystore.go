package keystore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier.dev/atelier/backend"
	"github.com/gofrs/flock"
	"github.com/moby/sys/atomicwriter"
	"github.com/zalando/go-keyring"
)

// service is the name of the keys in the keyring.
const service = "atelier"

// Store looks for keys in both places, the keyring first, and writes to the
// keyring if there is one.
type Store struct {
	file    string
	keyring func() bool // whether there is one; determined once, when it is first needed
	mu      sync.Mutex
}

var _ backend.KeyStore = (*Store)(nil)

// New returns a store whose file is in home. It does not access the keyring
// yet, because that may start a program, which must not happen before a window
// is visible.
func New(home string) *Store {
	return &Store{file: filepath.Join(home, "keys.json"), keyring: sync.OnceValue(available)}
}

// patience limits a keyring's first answer, and the wait for other programs that write
// the file. A locked keyring asks for its password on the screen, or waits for a screen
// that does not exist; we do not wait for that.
const patience = 2 * time.Second

// available reports whether a keyring answers. Without a session bus there is
// none, and asking would try to start one.
func available() bool {
	return hasSessionBus() && answers(func() error {
		_, err := keyring.Get(service, "availability")
		return err
	})
}

// answers reports whether a look-up ends in time, with or without a result. A
// look-up that does not end is abandoned.
func answers(look func() error) bool {
	found := make(chan error, 1)
	go func() { found <- look() }()
	select {
	case err := <-found:
		return err == nil || errors.Is(err, keyring.ErrNotFound)
	case <-time.After(patience):
		return false
	}
}

// Place implements [backend.KeyStore].
func (s *Store) Place() (bool, string) { return s.keyring(), s.file }

// Key implements [backend.KeyStore].
func (s *Store) Key(provider string) (string, backend.KeySource, error) {
	if s.keyring() {
		key, err := keyring.Get(service, provider)
		if err == nil {
			return key, backend.KeyFromKeyring, nil
		}
		if !errors.Is(err, keyring.ErrNotFound) {
			return "", "", fmt.Errorf("read keyring: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.readFile()
	if err != nil || keys[provider] == "" {
		return "", "", err
	}
	return keys[provider], backend.KeyFromFile, nil
}

// SetKey implements [backend.KeyStore]. A key that goes to the keyring is
// removed from the file.
func (s *Store) SetKey(provider, key string) error {
	if s.keyring() {
		if err := keyring.Set(service, provider, key); err != nil {
			return fmt.Errorf("write keyring: %w", err)
		}
		key = ""
	}
	return s.setInFile(provider, key)
}

// RemoveKey implements [backend.KeyStore].
func (s *Store) RemoveKey(provider string) error {
	if s.keyring() {
		if err := keyring.Delete(service, provider); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return fmt.Errorf("delete from keyring: %w", err)
		}
	}
	return s.setInFile(provider, "")
}

// setInFile writes one key, or removes it if it is empty.
func (s *Store) setInFile(provider, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys, err := s.readFile()
	if err != nil {
		return err
	}
	if keys[provider] == key {
		return nil
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if keys, err = s.readFile(); err != nil { // another program may have written it
		return err
	}
	if key == "" {
		delete(keys, provider)
	} else {
		keys[provider] = key
	}
	return s.writeFile(keys)
}

// lock waits until no other program writes the file.
func (s *Store) lock() (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return nil, fmt.Errorf("make key folder: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	lock := flock.New(s.file+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil || !ok {
		return nil, fmt.Errorf("lock key file: %w", err)
	}
	return func() { _ = lock.Unlock() }, nil // closing the file releases it as well
}

func (s *Store) readFile() (map[string]string, error) {
	keys := map[string]string{}
	b, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read key file: %w", err)
	}
	if err := json.Unmarshal(b, &keys); err != nil {
		return nil, fmt.Errorf("read key file %s: it is not a JSON object of strings", s.file) // the error could quote a key
	}
	if keys == nil { // the file says null
		keys = map[string]string{}
	}
	return keys, nil
}

// writeFile replaces the whole file, which others can never read.
func (s *Store) writeFile(keys map[string]string) error {
	b, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("encode keys: %w", err)
	}
	if err := atomicwriter.WriteFile(s.file, b, 0o600); err != nil {
		return fmt.Errorf("write key file: %w", err)
	}
	return nil
}
