//go:build sqlite_fts5 || fts5

package search_test

import (
	"context"
	"fmt"
	"os"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/search"
)

// A program that keeps sessions in Atelier's store searches them.
func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: My session: Where is the needle?
}

func example(ctx context.Context) error {
	home, err := os.MkdirTemp("", "example-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	store, err := storage.Open(ctx, home)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.CreateSession(ctx, backend.SessionInfo{ID: "mine", Folder: "/project", State: agent.StateIdle}); err != nil {
		return err
	}
	for _, p := range []agent.Payload{agent.Title{Text: "My session"}, agent.UserInput{Text: "Where is the needle?"}} {
		if _, err := store.Append(ctx, agent.Event{Session: "mine", At: 1_793_534_400_000, Data: p}); err != nil {
			return err
		}
	}

	index := search.Open(home, store.Logs())
	defer index.Close()
	if err := index.CatchUp(ctx); err != nil {
		return err
	}
	found, err := index.Search(ctx, backend.Search{Text: "needle in:prompt after:2026-01"})
	if err != nil {
		return err
	}
	for _, session := range found.Sessions {
		for _, hit := range session.Hits {
			fmt.Printf("%s: %s\n", session.Title, hit.Snippet)
		}
	}
	return nil
}
