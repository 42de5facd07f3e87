package agents

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/board"
)

// Boards keeps the boards of tasks that sessions share with their agents, of all sessions. It is
// safe for concurrent use.
type Boards struct{ tables board.Tables }

// NewBoards returns the boards in a store.
func NewBoards(tables board.Tables) *Boards { return &Boards{tables} }

// Of returns the board of a session, which its agents share.
func (b *Boards) Of(session string) board.Store { return board.Of(b.tables, session) }

// Tools adds the tools of a session's board to those of a session or, with a name, of one of its
// agents.
func (b *Boards) Tools(session, by string, tools []agent.Tool) []agent.Tool {
	return board.Tools(b.Of(session), by, tools)
}
