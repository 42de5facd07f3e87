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
	// Run executes the call with input that has passed the tool's schema. Only a
	// tool that is [Spec.Concurrent] has to be safe for concurrent use. Run
	// returns soon after ctx ends, with what it has.
	Run(ctx context.Context, call Invocation) Result
}

// Accessor is implemented by tools that touch files or run commands: the gate
// asks it what a call would do. Input has passed the schema.
type Accessor interface {
	Access(input json.RawMessage) Access
}

// Previewer is implemented by tools that can show their changes before they
// make them. An error means that the call would fail; the preview is then left out.
type Previewer interface {
	Preview(ctx context.Context, input json.RawMessage) ([]FileChange, error)
}

// Validator is implemented by tools whose schema cannot say what is wrong with
// an input. A call that fails is refused before anybody is asked about it.
type Validator interface {
	Validate(input json.RawMessage) error
}

// Redirector is implemented by tools that models call for another tool's work.
// A call for which ok is true becomes one of the tool with that name, if there
// is such a tool: it is checked, asked about, run and shown as that. Input need
// not have passed the schema.
type Redirector interface {
	Redirect(input json.RawMessage) (tool string, instead json.RawMessage, ok bool)
}

// Drafter is implemented by tools that can tell what a call does to files while
// the model still writes it. The function that Draft returns takes the
// arguments piece by piece, cut anywhere, as plain text if freeform says so;
// its time does not grow with what came before.
type Drafter interface {
	Draft(freeform bool) func(piece string) Outline
}

// Outline is what a call does to files, as far as it is written.
type Outline struct {
	// Changes are the newest files, without diffs. The last one may grow.
	Changes []FileChange `json:"changes,omitempty"`
	// Earlier counts the files before those.
	Earlier int `json:"earlier,omitempty"`
}

// Spec describes a tool. Name is the canonical one (K-04).
type Spec struct {
	Name        string
	Description string
	// Schema is a JSON Schema with an object at its root.
	Schema json.RawMessage
	// Freeform is set where a model may give plain text; see [llm.ToolSpec].
	// The tool is run with an object all the same.
	Freeform *llm.Freeform
	// ReadOnly says that a call changes nothing that outlives the session, so that
	// a gate need not ask about it.
	ReadOnly bool
	// Concurrent says that calls may run beside others that may: neither their
	// effects nor their results depend on which of them comes first. Any other
	// call runs alone, after those before it and before those behind it.
	Concurrent bool
	// Idempotent says that a call may be run again where its result was lost: it
	// does no more the second time, and the first took nothing away.
	Idempotent bool
}

// shown is the tool as it describes itself.
func (s Spec) shown() llm.ToolSpec {
	return llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema, Freeform: s.Freeform}
}

// Access is what a call would touch. Paths are absolute.
type Access struct {
	Reads   []string `json:"reads,omitempty"`
	Writes  []string `json:"writes,omitempty"`
	Command string   `json:"command,omitempty"`
	// Dir is where Command runs; empty means the working directory. The same
	// command elsewhere is another one.
	Dir string `json:"dir,omitempty"`
	// Task is the session's own command that Command is typed to; empty for a
	// command line of the shell.
	Task string `json:"task,omitempty"`
	// OnlyReads says that Command has been read and found to do nothing but read
	// Reads, which are then all that it reads.
	OnlyReads bool `json:"only_reads,omitempty"`
	// Own says that the call concerns nothing but commands and agents that the
	// session itself has started, or starts.
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
	// Wanted is how many characters of the output the call asks for, where that
	// may be more than the tool's share; 0 for what is usual.
	Wanted int
	// Data is what Output says, for a [Binding] that says it in another form;
	// nil where there is no more to it.
	Data any
}

// Fail is the result of a call that failed. Its message reads best as plain
// sentences: what was wrong, what to do instead.
func Fail(message string) Result { return Result{Output: message, IsError: true} }

// Details is what the window can show better than text. At most one field is
// set.
type Details struct {
	Changes []FileChange   `json:"changes,omitempty"`
	Command *CommandResult `json:"command,omitempty"`
	Listing *Listing       `json:"listing,omitempty"`
	Agent   *AgentRef      `json:"agent,omitempty"`
}

// AgentRef points at the session of an agent that a call was about.
type AgentRef struct {
	Session string `json:"session"`
}

// FileChange is what becomes of one file, as a unified diff.
type FileChange struct {
	Path    string `json:"path"` // relative to the project where it lies inside
	MovedTo string `json:"moved_to,omitempty"`
	Created bool   `json:"created,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff has three lines of context and no file headers. It is empty for
	// files too large to compare, and in an [Outline].
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
