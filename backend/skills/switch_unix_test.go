//go:build unix

package skills

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"atelier.dev/atelier/storage"
)

// Two processes that switch skills off at the same time both have their way.
func TestSwitchesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	home := filepath.Join(t.TempDir(), "home")
	var both sync.WaitGroup
	errs := make(chan error, 2)
	for process := range 2 {
		store, err := storage.Open(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		s := &Skills{cfg: Config{Store: store, Folder: f.folder}}
		both.Go(func() {
			for i := range 20 {
				if err := s.turn(t.Context(), SkillSwitchRequest{ID: fmt.Sprint(process, "/", i)}); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	both.Wait()
	close(errs)
	for err := range errs {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	off, err := (&Skills{cfg: Config{Store: store}}).switches(t.Context())
	if err != nil || len(off) != 40 {
		t.Errorf("%d skills are off, want 40; %v", len(off), err)
	}
}
