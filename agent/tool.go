package agent

import (
	"cmp"
	"context"
	"encoding/json"

	"atelier.dev/atelier/agent/llm"
)

// Tool is something that a model can call. A failed run is a [Result] with
// IsError set, never a Go error. The dispatcher turns a panic into such a
// result.
type Tool interface {
	Spec() Spec
	// Run executes the call with input that has passed the tool's schema. Only
	// a [Spec.Concurrent] tool has to be safe for concurrent use. Run returns
	// what it has soon after ctx ends.
	Run(ctx context.Context, call Invocation) Result
}

// Accessor is implemented by tools that touch files or run commands, so that
// the gate can ask what a call would do. Input has passed the schema. Access returns soon
// after the context ends; what it returns then does not matter.
type Accessor interface {
	Access(ctx context.Context, input json.RawMessage) Access
}

// Previewer is implemented by tools that can show their changes in advance. An
// error means that the call would fail, in words for the model: nobody is asked
// about such a call.
type Previewer interface {
	Preview(ctx context.Context, input json.RawMessage) ([]FileChange, error)
}

// Validator is implemented by tools whose schema cannot express every
// constraint. A call that fails validation is refused before anybody is asked
// about it.
type Validator interface {
	Validate(input json.RawMessage) error
}

// Redirector is implemented by tools that models call for another tool's work.
// If ok is true and the named tool exists, the call becomes one of that tool:
// it is checked, approved, run and shown as such. Input need not have passed
// the schema.
type Redirector interface {
	Redirect(input json.RawMessage) (tool string, instead json.RawMessage, ok bool)
}

// Drafter is implemented by tools that can tell which files a call changes
// while the model still writes it. The function that Draft returns takes the
// arguments in arbitrary pieces, as plain text if freeform is set. Its time for
// a piece does not depend on earlier pieces.
type Drafter interface {
	Draft(freeform bool) func(piece string) DraftedChanges
}

// DraftedChanges lists a call's changes to files, as far as the call is written.
type DraftedChanges struct {
	// Changes has the newest files, without diffs. The last one may still grow.
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
	// Freeform is set if a model may give plain text; see [llm.ToolSpec]. Run
	// still gets an object.
	Freeform *llm.Freeform
	// ReadOnly says that a call changes nothing that outlives the session, so
	// that a gate need not ask about it.
	ReadOnly bool
	// Concurrent says that calls may run in parallel with other concurrent
	// calls: their order influences neither effects nor results. Every other
	// call runs alone and in its place.
	Concurrent bool
	// Idempotent says that a call may run again if its result was lost: the
	// second run has no further effect, and the first run consumed nothing.
	Idempotent bool
	// Additive says of a tool that is not ReadOnly that it deletes and overwrites
	// nothing, and OpenWorld that it reaches beyond this machine. Both inform people
	// and clients; no decision depends on them (OAS-202).
	Additive, OpenWorld bool
	// Hidden tools are understood, but not shown until something tells the model
	// of them.
	Hidden bool
	// Origin says whose tool it is, for people; nil if it is the program's own.
	Origin *ToolOrigin
	// Checked says that Schema is known to be valid. It is then prepared when a call
	// needs it, and not when the tool is registered.
	Checked bool
	// Question is set if each call is itself a question to a person.
	Question *Question
	// Bindings say how the models of a profile know the tool, by the profile's id:
	// "openai", "anthropic", "gemini" or "spec". The first one is shown, and every
	// profile understands all of them. A profile without one shows the tool's own form.
	Bindings map[string][]Binding
}

// ToolOrigin is what a server says of a tool that it offers. None of it need be true.
type ToolOrigin struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // the server's own name for it
	// Title and Description are in words; empty if the server gives none.
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// ReadOnly says that it changes nothing, and Destructive that it may delete or
	// overwrite something.
	ReadOnly    bool `json:"read_only,omitempty"`
	Destructive bool `json:"destructive,omitempty"`
}

// named returns the tool's name for people.
func (s Spec) named() string {
	if s.Origin == nil {
		return s.Name
	}
	return cmp.Or(s.Origin.Title, s.Origin.Tool) + " (" + s.Origin.Server + ")"
}

// shown returns the tool under its own name and schema.
func (s Spec) shown() llm.ToolSpec {
	return llm.ToolSpec{Name: s.Name, Description: s.Description, Schema: s.Schema, Freeform: s.Freeform}
}

// Access is what a call would touch. Paths are absolute.
type Access struct {
	Reads   []string `json:"reads,omitempty"`
	Writes  []string `json:"writes,omitempty"`
	Command string   `json:"command,omitempty"`
	// Dir is where Command runs; empty means the working directory. The same
	// command in another directory counts as another command.
	Dir string `json:"dir,omitempty"`
	// Task is the background command of the session that receives Command as
	// input; empty if Command is a shell command line.
	Task string `json:"task,omitempty"`
	// OnlyReads says that Command was analysed and does nothing but read the
	// files in Reads.
	OnlyReads bool `json:"only_reads,omitempty"`
	// Web is the host on the network to which the call itself sends a request, and
	// WebChosen says that the user has set it up for such calls.
	Web       string `json:"web,omitempty"`
	WebChosen bool   `json:"web_chosen,omitempty"`
	// Own says that the call concerns only commands and agents that the session
	// itself has started or starts.
	Own bool `json:"own,omitempty"`
	// Confinement says how the system confines Command, and InAuto how in the mode
	// auto, if that differs.
	Confinement Confinement `json:"confinement,omitempty"`
	InAuto      Confinement `json:"-"`
	// Hosts are those that Command needs and cannot reach where it is confined. If it
	// runs, it may reach them.
	Hosts []string `json:"hosts,omitempty"`
}

// In returns the access as it is in a mode.
func (a Access) In(mode Mode) Access {
	if mode == ModeAuto && a.InAuto != "" {
		a.Confinement = a.InAuto
	}
	if a.InAuto = ""; a.Confinement == "" || a.Confinement == Unconfined {
		a.Hosts = nil
	}
	return a
}

// outside reports whether a call with a verdict runs without confinement. A command
// that only reads is not confined if somebody allowed it what is hidden inside.
func (a Access) outside(judged Verdict) bool {
	return a.Confinement == "" || a.Confinement == Unconfined || a.OnlyReads && judged.Decision != Allow
}

// Confinement is how a command would run.
type Confinement string

// The ways to run a command. Empty means that commands are not confined here.
const (
	Confined Confinement = "confined"
	// ConfinedFree is confined, and the user lets such commands run without
	// asking.
	ConfinedFree Confinement = "confined_free"
	// Unconfined asks to run without the confinement that commands have here.
	Unconfined Confinement = "unconfined"
)

// Invocation is one call to run.
type Invocation struct {
	CallID string
	Input  json.RawMessage
	// Output receives output as it appears, for display. It is safe for
	// concurrent use, never blocks for long, and is never nil.
	Output func(text string)
	// Spent enters a request to a model that the call made into the session's log,
	// and so into its costs. It reports false if the call has ended. It is safe for
	// concurrent use, and nil outside a session.
	Spent func(SideRequest) bool
	// Unconfined says that a command runs without the confinement that the
	// environment may have for it: it was judged so.
	Unconfined bool
	// Skills are in use, the outermost first. They must not be changed.
	Skills []SkillUse
	// Hosts are those of its [Access] that it was allowed to reach.
	Hosts []string
	// Reply is what a person answered, if the call is a [Question]: JSON that only the
	// tool and its form on the page know. It is empty if they answered with the buttons
	// alone, and need not be valid.
	Reply string
	// Kept is the state that the tool's newest call in the conversation kept; nil if
	// none did.
	Kept json.RawMessage
}

// Result is a tool's result.
type Result struct {
	// Output is the full text, before truncation.
	Output  string
	IsError bool
	// Media are shown to the model after the text.
	Media []llm.Media
	// Details are for the window; nil if the text is enough.
	Details *Details
	// Wanted is the number of characters of output that the call asks for,
	// which may exceed the tool's limit; 0 means the default.
	Wanted int
	// Data is the structured form of Output, for a [Binding] that formats it
	// differently; nil if there is none.
	Data any
}

// Fail returns the result of a failed call. The message should say in plain
// sentences what was wrong and what to do instead.
func Fail(message string) Result { return Result{Output: message, IsError: true} }

// Details is what the window shows better than text. At most one field is set.
type Details struct {
	Changes []FileChange   `json:"changes,omitempty"`
	Command *CommandResult `json:"command,omitempty"`
	Listing *Listing       `json:"listing,omitempty"`
	Agent   *AgentRef      `json:"agent,omitempty"`
	Server  *ServerResult  `json:"server,omitempty"`
	// Skill is what the call began or ended.
	Skill *SkillUse `json:"skill,omitempty"`
	// Loaded are tools that the call made available.
	Loaded []string `json:"loaded,omitempty"`
	// Worktree is where the session works from here on: a folder in the project, or the
	// project itself if it is empty; nil if it stays where it is. See [Session.Proceed].
	Worktree *string `json:"worktree,omitempty"`
	// Kept is what the tool keeps in the session.
	Kept *KeptState `json:"kept,omitempty"`
	// Card is what the tool's card shows; only the tool and its card know it.
	Card json.RawMessage `json:"card,omitempty"`
}

// KeptState is what a tool keeps from call to call. It is a part of the log, so it is the
// same after the session was opened again, forked or rewound.
type KeptState struct {
	// State is for the tool's next call and for the page.
	State json.RawMessage `json:"state"`
	// Text is what a model is reminded of when the conversation was summarised; empty
	// means nothing.
	Text string `json:"text,omitempty"`
	// Line is what the list of sessions says of it; empty means nothing.
	Line string `json:"line,omitempty"`
}

// ServerResult is what a tool of an MCP server returned beside text and pictures.
// Everything in it is the server's, and bounded.
type ServerResult struct {
	Server string `json:"server"`
	Tool   string `json:"tool"` // the server's own name for it
	// Structured is what the tool returned as data, and Fault what is wrong with
	// it by the tool's own schema.
	Structured json.RawMessage  `json:"structured,omitempty"`
	Fault      string           `json:"fault,omitempty"`
	Resources  []ResultResource `json:"resources,omitempty"`
	// Unshown are the kinds of what models cannot be shown, such as audio/wav.
	Unshown []string `json:"unshown,omitempty"`
	// Sounds are for the person alone. The data is left out for display.
	Sounds []llm.Media `json:"sounds,omitempty"`
}

// ResultResource is a resource that a result has in it, or links to.
type ResultResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
	// Text is the beginning of what it has; empty for a link, and for what is not
	// text.
	Text string `json:"text,omitempty"`
	Link bool   `json:"link,omitempty"`
}

// AgentRef points to the session of an agent that a call was about.
type AgentRef struct {
	Session string `json:"session"`
}

// FileChange is the change of one file, as a unified diff.
type FileChange struct {
	Path    string `json:"path"` // relative to the project where it lies inside
	MovedTo string `json:"moved_to,omitempty"`
	Created bool   `json:"created,omitempty"`
	Deleted bool   `json:"deleted,omitempty"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Diff has three lines of context and no file headers. It is empty for
	// files too large to compare, and in [DraftedChanges].
	Diff string `json:"diff"`
}

// CommandResult is the end of a command, or its current state.
type CommandResult struct {
	ExitCode int `json:"exit_code"`
	// TimedOut says that its time limit was over: then it was ended, or became a Task.
	TimedOut bool `json:"timed_out,omitempty"`
	// Dropped counts the bytes of output beyond the capture cap.
	Dropped int64 `json:"dropped,omitempty"`
	// Task is the id of a command that is still running; empty if it has ended.
	Task string `json:"task,omitempty"`
	// Confined says that the command ran confined by the system.
	Confined bool `json:"confined,omitempty"`
}

// Listing counts the results of a read or a search.
type Listing struct {
	Count int    `json:"count"`
	Unit  string `json:"unit"` // "lines", "files", "matches", "cells", "entries" or "pages"
}
