package agents_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	tasks "atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/storage"
)

// OAS-510, OAS-519: eight agents claim a hundred tasks, and none is done twice.
func TestWorkQueue(t *testing.T) {
	t.Parallel()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.CreateSession(t.Context(), backend.SessionInfo{ID: "s", Folder: "/p", State: agent.StateIdle}); err != nil {
		t.Fatal(err)
	}
	b := agents.NewBoards(store).Of("s")
	err = b.Change(t.Context(), func(b *tasks.Board) error {
		for i := range 100 {
			if _, err := b.Create(tasks.Task{Subject: fmt.Sprint(i)}, time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	did := map[string]int{}
	var workers sync.WaitGroup
	for i := range 8 {
		name := fmt.Sprintf("agent-%d", i)
		workers.Go(func() {
			list, err := b.Read(t.Context())
			if err != nil {
				t.Error(err)
			}
			for _, task := range list.Tasks {
				change := func(s tasks.Status) error {
					return b.Change(t.Context(), func(b *tasks.Board) error {
						_, err := b.Update(tasks.Change{ID: task.ID, By: name, Status: s}, time.Now())
						return err
					})
				}
				switch err := change(tasks.InProgress); {
				case errors.Is(err, tasks.ErrTaken), errors.Is(err, tasks.ErrFinal):
					continue
				case err != nil:
					t.Error(err)
					continue
				}
				mu.Lock()
				did[task.ID]++
				mu.Unlock()
				if err := change(tasks.Completed); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	for id, n := range did {
		if n != 1 {
			t.Errorf("%s was done %d times", id, n)
		}
	}
	if len(did) != 100 {
		t.Errorf("%d tasks were done", len(did))
	}
}
