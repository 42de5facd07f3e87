package backend

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// FileHistory finds which steps of sessions changed a file, and what they were part
// of.
type FileHistory interface {
	// FileSteps lists the steps that changed a file, the newest first. A step that
	// forks have a copy of is listed once, as that of the oldest session.
	FileSteps(context.Context, FileRange) ([]FileStep, error)
	// TurnOf tells of the turn that an event belongs to.
	TurnOf(context.Context, agent.Event) (TurnFacts, error)
}

// FileRange selects steps that changed a file of a folder: those before a place; the
// zero place is after all of them. Sessions that work in a worktree of their own are
// left out.
type FileRange struct {
	Folder string
	// Worktree is the one below Folder that the file is in, with slashes; empty if it is
	// in none.
	Worktree string
	Path     string // as in [agent.FileRecord]
	Before   CallPlace
	Limit    int
}

// FileStep is a step that changed a file.
type FileStep struct {
	Session string
	Seq     int64 // of the event
	Kind    agent.Kind
	At      int64
	// Call is the id of the call, of the user's command or of the restoration.
	Call string
}

// TurnFacts are what a log says of a turn.
type TurnFacts struct {
	// Prompt is the input that began the turn; empty if there is none, or if it is
	// damaged.
	Prompt string `json:"prompt,omitempty"`
	// Provider and Model wrote the last answer before the event; empty if none did.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// Cost is that of the whole turn, with its side requests; nil if no request was made.
	Cost *llm.Spending `json:"cost,omitempty"`
}
