// Package symbols finds definitions of a project's code by name, while a person types one.
package symbols

import (
	"context"
	"time"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

const (
	maxQuery = 100 // bytes
	patience = 3 * time.Second
)

// SymbolQuery is for symbols.find. A session with a worktree has its files there.
type SymbolQuery struct {
	Session string `json:"session,omitempty"`
	Query   string `json:"query"`
}

// SymbolList answers symbols.find.
type SymbolList struct {
	Symbols []CodeSymbol `json:"symbols,omitempty"`
}

// CodeSymbol is a definition. Kind is empty if it was found by a search.
type CodeSymbol struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitempty"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// Config is what Symbols need.
type Config struct {
	Servers func() *lsp.Servers
	// FolderOf returns where a session works; that of the project for no session.
	FolderOf func(ctx context.Context, session string) (string, error)
}

// Symbols finds definitions. It is safe for concurrent use.
type Symbols struct{ cfg Config }

// New returns a Symbols.
func New(cfg Config) *Symbols { return &Symbols{cfg} }

// Register registers the method of the page.
func (s *Symbols) Register(d *dispatch.Dispatcher) { dispatch.Handle(d, "symbols.find", s.Find) }

// Find finds some definitions. A search that takes too long finds none.
func (s *Symbols) Find(ctx context.Context, in SymbolQuery) (SymbolList, error) {
	folder, err := s.cfg.FolderOf(ctx, in.Session)
	if err != nil {
		return SymbolList{}, err
	}
	local, err := env.NewLocal(folder)
	if err != nil {
		return SymbolList{}, err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := lsp.Find(limited, s.cfg.Servers(), local, text.Head(in.Query, maxQuery))
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = nil
	}
	var list SymbolList
	for _, one := range found {
		list.Symbols = append(list.Symbols, CodeSymbol(one))
	}
	return list, err
}
