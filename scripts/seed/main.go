// Command seed fills a home folder with sessions for measurements: a long one, one
// with a large diff, an empty one, and as many short ones as are asked for. The
// empty one is the newest. The same flags make the same sessions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

func main() {
	home := flag.String("home", "", "the home folder to fill")
	folder := flag.String("folder", "", "the project folder of the sessions")
	messages := flag.Int("messages", 50_000, "the messages of the long session")
	lines := flag.Int("lines", 20_000, "the lines of the large diff")
	sessions := flag.Int("sessions", 0, "how many short sessions there are besides")
	flag.Parse()
	if err := seed(context.Background(), *home, *folder, size{*messages, *lines, *sessions}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The ids of the sessions, for the scripts that open them.
const (
	longID  = "seed-long"
	diffID  = "seed-diff"
	emptyID = "seed-empty"
)

// size is how much is made.
type size struct{ messages, lines, sessions int }

// seed creates the sessions. The folder must exist.
func seed(ctx context.Context, home, folder string, n size) (err error) {
	folder, err = filepath.EvalSymlinks(folder) // as the program names it
	if err != nil {
		return fmt.Errorf("find the project folder: %w", err)
	}
	store, err := storage.Open(ctx, home)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for i := range n.sessions {
		w := &writer{ctx: ctx, store: store, session: fmt.Sprintf("seed-short-%05d", i), at: firstDay - week + int64(i)*minute}
		if err := w.create(folder, fmt.Sprintf("Short session %d", i)); err != nil {
			return fmt.Errorf("seed a short session: %w", err)
		}
		shortSession(w, uint64(i))
		if err := w.flush(); err != nil {
			return fmt.Errorf("seed a short session: %w", err)
		}
	}
	for i, s := range []struct {
		id, title string
		write     func(*writer)
	}{
		{longID, "A long session", func(w *writer) { longSession(w, n.messages) }},
		{diffID, "A large diff", func(w *writer) { largeDiff(w, n.lines) }},
		{emptyID, "An empty session", func(*writer) {}},
	} {
		w := &writer{ctx: ctx, store: store, session: s.id, at: firstDay + int64(i)*week}
		if err := w.create(folder, s.title); err != nil {
			return fmt.Errorf("seed %s: %w", s.id, err)
		}
		s.write(w)
		if err := w.flush(); err != nil {
			return fmt.Errorf("seed %s: %w", s.id, err)
		}
	}
	return nil
}

const (
	firstDay = 1_767_600_000_000 // 5 January 2026, in Unix milliseconds
	week     = 7 * 24 * 3600 * 1000
	minute   = 60 * 1000
	// batch is how many events are stored in one transaction.
	batch = 2000
)

// settings are those of the scripted model that the bench starts.
var settings = agent.Settings{Provider: "compat", Model: "scripted-1", Mode: agent.ModeDefault}

// writer appends events to one session. It keeps the first error, which flush
// returns.
type writer struct {
	ctx     context.Context
	store   backend.Store
	session string
	at      int64
	turn    int
	// messages counts prompts, answers and results of tools.
	messages int
	waiting  []agent.Event
	err      error
}

func (w *writer) create(folder, title string) error {
	info := backend.SessionInfo{
		ID: w.session, Folder: folder, State: agent.StateIdle, Settings: settings,
		CreatedAt: w.at, UpdatedAt: w.at, Usage: llm.Usage{Known: true},
	}
	if err := w.store.CreateSession(w.ctx, info); err != nil {
		return err
	}
	w.add(agent.SessionStart{Folder: folder, Version: "seed"})
	w.add(agent.SettingsChange{Settings: settings})
	w.add(agent.Title{Text: title})
	return nil
}

func (w *writer) add(p agent.Payload) {
	w.at += 700
	switch p.(type) {
	case agent.UserInput:
		w.turn++
		w.messages++
	case agent.TextEnd, agent.ToolCallEnd:
		w.messages++
	}
	w.waiting = append(w.waiting, agent.Event{Session: w.session, Turn: w.turn, At: w.at, Data: p})
	if len(w.waiting) >= batch {
		w.err = w.flush()
	}
}

func (w *writer) flush() error {
	if w.err != nil || len(w.waiting) == 0 {
		return w.err
	}
	_, err := w.store.Append(w.ctx, w.waiting...)
	w.waiting = w.waiting[:0]
	return err
}
