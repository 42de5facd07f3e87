package storage_test

import (
	"errors"
	"strconv"
	"sync"
	"testing"

	"atelier.dev/atelier/storage"
)

// Changes of one setting by several processes are all kept. A change that fails leaves the
// value as it is, and every process sees the newest one.
func TestSettingsChangeInOneStep(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	stores := []*storage.Store{open(t, home), open(t, home)}
	const each = 50
	var all sync.WaitGroup
	for _, s := range stores {
		all.Go(func() {
			for range each {
				err := s.ChangeSetting(t.Context(), "n", func(value string) (string, error) {
					n, _ := strconv.Atoi(value) // it begins empty
					return strconv.Itoa(n + 1), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	refused := errors.New("refused")
	if err := stores[0].ChangeSetting(t.Context(), "n", func(string) (string, error) { return "0", refused }); !errors.Is(err, refused) {
		t.Errorf("the error of a change is %v", err)
	}
	for i, s := range stores {
		if got, err := s.Setting(t.Context(), "n"); err != nil || got != strconv.Itoa(len(stores)*each) {
			t.Errorf("process %d reads %q, %v", i, got, err)
		}
	}
}
