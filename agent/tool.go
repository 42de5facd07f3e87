package agent

import (
	"context"
	"encoding/json"

	"atelier.dev/atelier/agent/llm"
)

// Tool is something a model can ask for. A failed run is a [Result] with
// IsError set, never a Go error; a panic is caught by the dispatcher and
// becomes one.
type Tool interface {
	Spec() Spec
	// Run executes the call with input that has passed the tool's schema.
	// Read-only tools may be run concurrently with each other. Run returns
	// soon after ctx ends, with what it has.
	Run(ctx context.Context, call Invocation) Result
}

// Accessor is implemented by tools that touch files or run commands: the gate
// asks it what a call would do. Input has passed the schema.
type Accessor interface {
	Access(input json.RawMessage) Access
}

// Previewer is implemented by tools that can show a change before they make
// it. An error means that the call would fail; the preview is then left out.
type Previewer interface {
	Preview(ctx context.Context, input json.RawMessage) (*FileChange, error)
}

// Spec describes a tool. Name is the canonical one (K-04).
type Spec struct {
	Name        string
	Description string
	// Schema is a JSON Schema with an object at its root.
	Schema json.RawMessage
	// ReadOnly tools change nothing and may run side by side.
	ReadOnly bool
}

// Access is what a call would touch. Paths are absolute.
type Access struct {
	Reads   []string `json:"reads,omitempty"`
	Writes  []string `json:"writes,omitempty"`
	Command string   `json:"command,omitempty"`
	// Own says that the call concerns nothing but commands that the session
	// itself has started.
	Own bool `json:"own,omitempty"`
}

// Invocation is one call to run.
type Invocation struct {
	CallID string
	Input  json.RawMessage
	// Output receives output as it appears, for the window. It is safe for
	// concurrent use and never blocks for long. It is never nil.
	Output func(text string)
}

// Result is what a tool gives back.
type Result struct {
	// Output is the full text, before truncation.
	Output  string
	IsError bool
	// Media are shown to the model after the text.
	Media []llm.Media
	// Details are for the window; nil where the text says it all.
	Details *Details
	// Data is what Output says, for a [Binding] that says it in another form;
	// nil where there is no more to it.
	Data any
}

// Errorf-style failures read best as plain sentences: what was wrong, what to
// do instead.
func Fail(message string) Result { return Result{Output: message, IsError: true} }

// Details is what the window can show better than text. At most one field is
// set.
type Details struct {
	Change  *FileChange    `json:"change,omitempty"`
	Command *CommandResult `json:"command,omitempty"`
	Listing *Listing       `json:"listing,omitempty"`
	Agent   *AgentRef      `json:"agent,omitempty"`
}

// AgentRef points at the session of an agent that a call was about.
type AgentRef struct {
	Session string `json:"session"`
}

// FileChange is an edit of one file as a unified diff.
type FileChange struct {
	Path    string `json:"path"` // relative to the project where it lies inside
	Created bool   `json:"created,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff has three lines of context and no file headers. It is empty for
	// files too large to compare.
	Diff string `json:"diff"`
}

// CommandResult is the end of a command, or where it stands.
type CommandResult struct {
	ExitCode int  `json:"exit_code"`
	TimedOut bool `json:"timed_out,omitempty"`
	// Dropped counts the bytes of output beyond the capture cap.
	Dropped int64 `json:"dropped,omitempty"`
	// Task is the id of a command that runs on; empty for one that has ended.
	Task string `json:"task,omitempty"`
}

// Listing counts what a read or a search found.
type Listing struct {
	Count int    `json:"count"`
	Unit  string `json:"unit"` // "lines", "files" or "matches"
}
