// Package desk assembles what a person has at hand while writing to an agent: unsent texts, what
// was sent before, notes for all sessions, keys and terminals. None of it belongs to one session.
package desk

import (
	"context"

	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/keymap"
	"atelier.dev/atelier/backend/languages"
	"atelier.dev/atelier/backend/memo"
	"atelier.dev/atelier/backend/preview"
	"atelier.dev/atelier/backend/prompts"
	"atelier.dev/atelier/backend/symbols"
	"atelier.dev/atelier/backend/terminal"
	"atelier.dev/atelier/backend/unsent"
)

// Config is what a desk needs of the application.
type Config struct {
	Folder string // the project
	Home   string // where Atelier keeps its data
	Store  backend.Store
	Search backend.Searcher // nil if nothing searches
	Getenv func(string) string
	// FolderOf returns where a session works; that of the project for no session.
	FolderOf func(ctx context.Context, session string) (string, error)
	// Servers answers questions about code.
	Servers  func() *lsp.Servers
	ReadOnly bool // nothing of the project may be changed
}

// Desk has the parts. It is safe for concurrent use.
type Desk struct {
	unsent    *unsent.Texts
	prompts   *prompts.Prompts
	memo      *memo.Memo
	keymap    *keymap.Keymap
	symbols   *symbols.Symbols
	languages *languages.Servers
	preview   *preview.Preview
	terminals *terminal.Terminals
}

// New returns a desk. Close ends its terminals.
func New(cfg Config) *Desk {
	return &Desk{
		unsent:    unsent.New(cfg.Store, cfg.Folder),
		prompts:   prompts.New(prompts.Config{Folder: cfg.Folder, Store: cfg.Store, Search: cfg.Search}),
		memo:      memo.New(memo.Config{Folder: cfg.Folder, Home: cfg.Home, ReadOnly: cfg.ReadOnly}),
		keymap:    keymap.New(cfg.Home),
		preview:   preview.New(cfg.FolderOf),
		languages: languages.NewServers(languages.ServersConfig{Servers: cfg.Servers, Store: cfg.Store, FolderOf: cfg.FolderOf}),
		symbols:   symbols.New(symbols.Config{Servers: cfg.Servers, FolderOf: cfg.FolderOf}),
		terminals: terminal.New(terminal.Config{Getenv: cfg.Getenv, Folder: cfg.FolderOf}),
	}
}

// Register registers the methods of the parts. Their types need no desk.
func (k *Desk) Register(d *dispatch.Dispatcher) {
	if k == nil {
		k = &Desk{}
	}
	k.unsent.Register(d)
	k.prompts.Register(d)
	k.memo.Register(d)
	k.keymap.Register(d)
	k.symbols.Register(d)
	k.languages.Register(d)
	k.preview.Register(d)
	k.terminals.Register(d)
}

// Forget deletes the unsent texts of sessions that no longer exist.
func (k *Desk) Forget(ctx context.Context, sessions ...string) error {
	return k.unsent.Forget(ctx, sessions...)
}

// Close ends the terminals with what runs in them.
func (k *Desk) Close() { k.terminals.Close() }
