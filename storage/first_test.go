package storage_test

import (
	"sync"
	"testing"

	"atelier.dev/atelier/storage"
)

// Programs that start at once in a home folder without a database all open it.
func TestFirstStartsAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		home := t.TempDir()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := storage.Open(t.Context(), home)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
