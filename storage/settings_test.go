package storage_test

import (
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/storage"
)

// A setting is read from the database once in a second, because every round of a
// turn needs it. This process sees its own changes at once, and another's after
// that second.
func TestSettingsAreKeptForASecond(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var stores [2]*storage.Store
		for i := range stores {
			s, err := storage.Open(t.Context(), home)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close() //nolint:errcheck // the goroutines end before the bubble does
			stores[i] = s
		}
		own, other := stores[0], stores[1]
		set := func(s *storage.Store, value string) {
			t.Helper()
			if err := s.SetSetting(t.Context(), "k", value); err != nil {
				t.Fatal(err)
			}
		}
		want := func(when, value string) {
			t.Helper()
			if got, err := own.Setting(t.Context(), "k"); got != value || err != nil {
				t.Errorf("%s: %q, %v; want %q", when, got, err, value)
			}
		}
		want("missing", "")
		set(own, "own")
		want("after its own change", "own")
		set(other, "other")
		want("at once after another's change", "own")
		time.Sleep(time.Second) // in the bubble, no time passes
		want("a second after another's change", "other")
		set(own, "own again")
		want("after its own change again", "own again")
	})
}
