package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
	"atelier.dev/atelier/backend"
)

// Boards keeps the boards of tasks that sessions share with their agents, of all sessions in one
// process. It is safe for concurrent use.
type Boards struct {
	store    backend.Settings
	changing sync.Mutex // held while a board is read, changed and stored, so that a claim is one step
}

// NewBoards returns the boards in a store.
func NewBoards(store backend.Settings) *Boards { return &Boards{store: store} }

// Of returns the board of a session, which its agents share.
func (b *Boards) Of(session string) board.Store { return one{b, "board." + session} }

// Tools adds the tools of a session's board to those of a session or, with a name, of one of its
// agents.
func (b *Boards) Tools(session, by string, tools []agent.Tool) []agent.Tool {
	return board.Tools(b.Of(session), by, tools)
}

// Remove removes the board of a session.
func (b *Boards) Remove(ctx context.Context, session string) error {
	return b.store.SetSetting(ctx, "board."+session, "")
}

// one is the board of one session.
type one struct {
	all *Boards
	key string
}

// Read implements [board.Store].
func (o one) Read(ctx context.Context) (found board.Board, err error) {
	text, err := o.all.store.Setting(ctx, o.key)
	if err != nil || text == "" {
		return found, err
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return found, fmt.Errorf("read the board of tasks: %w", err)
	}
	return found, nil
}

// Change implements [board.Store].
func (o one) Change(ctx context.Context, change func(*board.Board) error) error {
	o.all.changing.Lock()
	defer o.all.changing.Unlock()
	now, err := o.Read(ctx)
	if err == nil {
		err = change(&now)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(now)
	if err != nil {
		return fmt.Errorf("keep the board of tasks: %w", err)
	}
	return o.all.store.SetSetting(ctx, o.key, string(text))
}
