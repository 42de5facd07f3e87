// Command bench-sessions measures what a page waits for in a home folder with very
// many sessions and a very long one: the list, opening a session, and searching. The
// calls are those of pages, with their JSON, without the connection. scripts/seed
// makes the home folder.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/search"
)

func main() {
	home := flag.String("home", "", "the home folder")
	folder := flag.String("folder", "", "the project folder of the sessions")
	runs := flag.Int("runs", 20, "how often each call is made; the median and the slowest are printed")
	flag.Parse()
	if err := measure(context.Background(), *home, *folder, *runs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// row is one call, and how long it may take.
type row struct {
	name, method string
	in           any
	most         time.Duration
}

func found(text string) row {
	return row{"search: " + text, "sessions.search", sessionlist.SearchRequest{Text: text}, 100 * time.Millisecond}
}

var rows = []row{
	{"list", "sessions.list", backend.Empty{}, 100 * time.Millisecond},
	{"open the long session", "conversation.open", map[string]any{"session": "seed-long", "limit": 200}, 200 * time.Millisecond},
	found("answer"),
	found(`"every reader"`),
	found("prompt 3999 token"),
	found("ex"),
	found("nowhere at all"),
	found("cache tool:bash"),
	found("cache file:internal/parser"),
	found("session is:archived"),
	found("cost:>0.5 -tag:none"),
}

// noKeys is a store without keys.
type noKeys struct{}

func (noKeys) Key(string) (string, backend.KeySource, error) { return "", "", nil }
func (noKeys) SetKey(string, string) error                   { return errors.New("the bench keeps no keys") }
func (noKeys) RemoveKey(string) error                        { return nil }
func (noKeys) Place() (keyring bool, file string)            { return false, "" }

// measure prints a line for each call, and fails if one took too long.
func measure(ctx context.Context, home, folder string, runs int) (err error) {
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return fmt.Errorf("find the project folder: %w", err)
	}
	begin := time.Now()
	store, err := storage.Open(ctx, home)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	fmt.Printf("%-34s %8.1f ms\n", "open the database", ms(time.Since(begin)))
	index := search.Open(home, store.Logs())
	defer func() { err = errors.Join(err, index.Close(), store.Close()) }()
	begin = time.Now()
	if err := index.CatchUp(ctx); err != nil {
		return fmt.Errorf("index the sessions: %w", err)
	}
	fmt.Printf("%-34s %8.1f ms\n", "index what is new", ms(time.Since(begin)))
	bench := workbench.New(workbench.Config{
		Folder: folder, Home: home, Version: "bench", Store: store, Keys: noKeys{}, Search: index, Getenv: func(string) string { return "" },
	})
	defer func() { err = errors.Join(err, bench.Close(ctx)) }()
	var slow []error
	for _, r := range rows {
		took, size, err := r.measure(ctx, bench, runs)
		if err != nil {
			return err
		}
		median := took[len(took)/2]
		fmt.Printf("%-34s %8.1f ms %8.1f ms at most %6d KB\n", r.name, ms(median), ms(took[len(took)-1]), size>>10)
		if median > r.most {
			slow = append(slow, fmt.Errorf("%s took %v, more than %v", r.name, median, r.most))
		}
	}
	return errors.Join(slow...)
}

// measure returns how long the calls took, in order, and the size of a reply.
func (r row) measure(ctx context.Context, bench *workbench.Workbench, runs int) (took []time.Duration, size int, err error) {
	args, err := json.Marshal(r.in)
	if err != nil {
		return nil, 0, fmt.Errorf("encode the arguments of %s: %w", r.name, err)
	}
	for range runs {
		begin := time.Now()
		reply := bench.Call(ctx, r.method, string(args))
		took = append(took, time.Since(begin))
		var failed struct{ Error *backend.Error }
		if err := json.Unmarshal([]byte(reply), &failed); err != nil || failed.Error != nil {
			return nil, 0, fmt.Errorf("%s: %.200s", r.name, reply)
		}
		size = len(reply)
	}
	slices.Sort(took)
	return took, size, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
