package keystore

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/backend"
	"github.com/zalando/go-keyring"
)

func fileOnly(t *testing.T) *Store {
	t.Helper()
	s := New(filepath.Join(t.TempDir(), "home"))
	s.keyring = func() bool { return false }
	return s
}

func TestFileKeepsKeysPrivate(t *testing.T) {
	s := fileOnly(t)
	if key, source, err := s.Key("openai"); key != "" || source != "" || err != nil {
		t.Fatalf("empty store: %q %q %v", key, source, err)
	}
	if err := s.SetKey("openai", "sk-secret"); err != nil {
		t.Fatal(err)
	}
	if key, source, err := s.Key("openai"); key != "sk-secret" || source != backend.KeyFromFile || err != nil {
		t.Errorf("after set: %q %q %v", key, source, err)
	}
	info, err := os.Stat(s.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, %v", info.Mode(), err)
	}
	if dir, _ := os.Stat(filepath.Dir(s.file)); dir.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v", dir.Mode())
	}
	if err := s.RemoveKey("openai"); err != nil {
		t.Fatal(err)
	}
	if key, _, _ := s.Key("openai"); key != "" {
		t.Errorf("after remove: %q", key)
	}
}

// Programs that set keys at once lose none of them.
func TestKeysAreSetAtOnce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	program := func() *Store {
		s := New(home)
		s.keyring = func() bool { return false }
		return s
	}
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			if err := program().SetKey(strconv.Itoa(i), "sk-secret"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 30 {
		if key, _, err := program().Key(strconv.Itoa(i)); key != "sk-secret" || err != nil {
			t.Errorf("key %d: %q %v", i, key, err)
		}
	}
}

// A file that says that there are no keys takes the next one.
func TestFileOfNoKeys(t *testing.T) {
	s := fileOnly(t)
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.file), 0o700), os.WriteFile(s.file, []byte("null\n"), 0o600), s.SetKey("openai", "sk-secret")); err != nil {
		t.Fatal(err)
	}
	if key, _, err := s.Key("openai"); key != "sk-secret" || err != nil {
		t.Errorf("%q %v", key, err)
	}
}

func TestBrokenFileIsReportedWithoutItsContent(t *testing.T) {
	s := fileOnly(t)
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		t.Fatal(err)
	}
	broken := []byte(`{"openai": sk-secret`)
	if err := os.WriteFile(s.file, broken, 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Key("openai")
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("err = %v", err)
	}
	if err := s.SetKey("compat", "x"); err == nil {
		t.Error("a broken file was overwritten")
	}
	if b, _ := os.ReadFile(s.file); string(b) != string(broken) {
		t.Errorf("file is now %q", b)
	}
}

func TestKeyringWinsAndEmptiesTheFile(t *testing.T) {
	keyring.MockInit() // the library's own in-memory provider
	s := fileOnly(t)
	if err := s.SetKey("openai", "old"); err != nil {
		t.Fatal(err)
	}
	s.keyring = func() bool { return true }
	if err := s.SetKey("openai", "new"); err != nil {
		t.Fatal(err)
	}
	if key, source, err := s.Key("openai"); key != "new" || source != backend.KeyFromKeyring || err != nil {
		t.Errorf("got %q %q %v", key, source, err)
	}
	if b, _ := os.ReadFile(s.file); strings.Contains(string(b), "old") {
		t.Errorf("the old key is still in the file: %s", b)
	}
}

// A keyring that hangs, like a locked one without a screen, is not used.
func TestHangingKeyringIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unlocked := make(chan struct{})
		defer close(unlocked)
		if answers(func() error { <-unlocked; return nil }) {
			t.Error("the key store did not answer")
		}
	})
	for err, want := range map[error]bool{nil: true, keyring.ErrNotFound: true, errors.New("no bus"): false} {
		if answers(func() error { return err }) != want {
			t.Errorf("%v: want %t", err, want)
		}
	}
}
