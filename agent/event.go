package agent

import (
	"cmp"
	"encoding/json"

	"atelier.dev/atelier/agent/llm"
)

// Event is one thing that happened in a session. The durable events in order
// are the session: history, costs and the window's content are folds of them.
type Event struct {
	Session string `json:"session_id"`
	// Seq is the event's place in the session's log, from 1, assigned by the
	// store. 0 marks an event that is not stored.
	Seq int64 `json:"seq,omitempty"`
	// Turn counts user inputs, from 1. 0 means outside any turn.
	Turn int `json:"turn,omitempty"`
	// At is Unix time in milliseconds. Seq defines the order, not At.
	At   int64   `json:"at"`
	Data Payload `json:"data"`
	// More says that another durable event follows at once. A host may wait for
	// it and store both together. More is not part of the event.
	More bool `json:"-"`
}

// Kind returns the kind of the event's payload.
func (e Event) Kind() Kind { return e.Data.Kind() }

// Durable reports whether the event belongs to the log.
func (e Event) Durable() bool { return kinds[e.Kind()].durable }

// Payload is what an event of one kind carries. The set is closed: [Payloads]
// lists it.
type Payload interface{ Kind() Kind }

// SessionStart opens a session or marks that it was opened again (K-07).
type SessionStart struct {
	Folder  string `json:"folder"`
	Version string `json:"version"` // of Atelier
	Resumed bool   `json:"resumed,omitempty"`
	// Helper is set on the first start of a session that another one started.
	Helper *Helper `json:"helper,omitempty"`
}

// Helper names the parent of an agent's session, and the agent's limits.
type Helper struct {
	Parent string `json:"parent"`          // the session of a person, at the top
	By     string `json:"by,omitempty"`    // the agent that started it; empty if Parent did
	Depth  int    `json:"depth,omitempty"` // of agents from the top; 0 means 1
	// Folder is the agent's working folder, inside the project.
	Folder string `json:"folder"`
	Rounds int    `json:"rounds"`         // of tools, for each input
	Task   string `json:"task,omitempty"` // the beginning of what it was started for
	Call   string `json:"call,omitempty"` // the parent's, that started it
	// Label says in a few words what that is, if the parent did.
	Label string `json:"label,omitempty"`
	// Type is the agent's definition; empty for a general one of older logs. Name is how the
	// parent calls it, if it has a name.
	Type string `json:"type,omitempty"`
	Name string `json:"name,omitempty"`
	// Defined is what its definition brought along.
	Defined Defined `json:"defined,omitzero"`
	// Worktree names the git worktree that was made for the agent; empty if it
	// works in the project itself.
	Worktree string `json:"worktree,omitempty"`
	// Skills are those that were in use where it was started, the outermost first.
	// Their limits hold for everything that the agent does.
	Skills []SkillUse `json:"skills,omitempty"`
}

// Defined is what an agent got from its definition when it was started, and keeps.
type Defined struct {
	// Scope and File are where the definition stands; empty for a built-in one.
	Scope Scope  `json:"scope,omitempty"`
	File  string `json:"file,omitempty"`
	// Hooks are its own hooks, as the member "hooks" of a settings file.
	Hooks json.RawMessage `json:"hooks,omitempty"`
	// Color is the name of a colour; empty means none.
	Color string `json:"color,omitempty"`
}

// SessionEnd closes a session. State is what it was doing.
type SessionEnd struct {
	State State `json:"state"`
}

// SettingsChange records the settings that hold from here on.
type SettingsChange struct {
	Settings Settings `json:"settings"`
}

// Title names the session for its list.
type Title struct {
	Text string `json:"text"`
	// ByUser protects a title that a person chose, ByHook one that a hook did: a
	// person may change it, no model does.
	ByUser bool `json:"by_user,omitempty"`
	ByHook bool `json:"by_hook,omitempty"`
}

// UserInput begins a turn.
type UserInput struct {
	Text string `json:"text"`
	// QueueID is the id of the [Queued] message that became this input; empty if none did.
	QueueID string `json:"queue_id,omitempty"`
	// Size is the full length of Text in bytes if it was cut for display; 0
	// means that Text is complete.
	Size int64 `json:"size,omitempty"`
	// Typed is what the user typed, such as "/review main", if Text was made from it.
	Typed string `json:"typed,omitempty"`
	// Skill is what the user began with it; nil for an ordinary input.
	Skill *SkillUse `json:"skill,omitempty"`
	// From is the agent that wrote the message; empty if a person, or the parent, did.
	From string `json:"from,omitempty"`
	// Media are the pictures that the message mentions. The data is left out for display.
	Media []llm.Media `json:"media,omitempty"`
}

// Wrote returns what the user wrote: Typed, or Text if nothing else was made of it.
func (u UserInput) Wrote() string { return cmp.Or(u.Typed, u.Text) }

// TurnContinued says that a turn that did not end by itself continues, with
// fresh limits (K-06).
type TurnContinued struct{}

// ReasoningDelta is newly streamed thinking. Offset is its place in the
// reasoning of the answer, in UTF-16 code units.
type ReasoningDelta struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// TextStart says that the model began to answer. Anything streamed earlier in
// this round without a [TextEnd] is void.
type TextStart struct{}

// TextDelta is newly streamed text. Offset is its place in the text of the
// answer, in UTF-16 code units, as JavaScript counts.
type TextDelta struct {
	Text   string `json:"text"`
	Offset int    `json:"offset"`
}

// TextEnd is the whole assistant message: text, reasoning and tool calls in
// the model's order (LOOP-06, LOOP-07).
type TextEnd struct {
	Message llm.Message `json:"message"`
	// Size is the full length of its text and reasoning in bytes where they were
	// cut for display; 0 means that they are whole.
	Size   int64      `json:"size,omitempty"`
	Usage  llm.Usage  `json:"usage"`
	Finish llm.Finish `json:"finish"`
	// ThinkingMs is how long reasoning was streamed.
	ThinkingMs int64 `json:"thinking_ms,omitempty"`
	// Provider and Model say who answered.
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Cost is the cost of the request at the time it was made; it is never
	// priced again (OAS-114). Absent means unknown.
	Cost *llm.Cost `json:"cost,omitempty"`
}

// CallDraft says that the model is writing the arguments of a call.
type CallDraft struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	Bytes  int    `json:"bytes"` // of arguments so far
	// Outline is set if the tool is a [Drafter].
	Outline DraftedChanges `json:"outline,omitzero"`
}

// ToolCallStart says that a call entered the pipeline. Tool is the canonical
// name (K-04), or the unknown name as the model wrote it.
type ToolCallStart struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Input is the call's arguments as JSON, or the raw text if they are not
	// JSON.
	Input string `json:"input"`
}

// ToolCallOutput is newly printed output of a running tool.
type ToolCallOutput struct {
	CallID string `json:"call_id"`
	Text   string `json:"text"`
	// Offset is where Text belongs in the call's output so far, in UTF-16
	// code units.
	Offset int `json:"offset"`
}

// ToolCallEnd carries the full output for people and the model's share of it
// (LOOP-19).
type ToolCallEnd struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Output is everything the tool printed, up to the capture cap.
	Output string `json:"output"`
	// ModelOutput is what the model was told instead of Output, and may be
	// empty; nil means that it was told Output.
	ModelOutput *string `json:"model_output,omitempty"`
	IsError     bool    `json:"is_error,omitempty"`
	// Outcome says how the call ended.
	Outcome    Outcome `json:"outcome"`
	DurationMs int64   `json:"duration_ms"`
	// Size is the full length of Output in bytes if it was cut for display; 0
	// means that Output is complete.
	Size int64 `json:"size,omitempty"`
	// Media is what else the model was shown. The data is left out for display.
	Media []llm.Media `json:"media,omitempty"`
	// Withheld says that a hook replaced what the model is told, so that it is
	// not shown the media either.
	Withheld bool     `json:"withheld,omitempty"`
	Details  *Details `json:"details,omitempty"`
	// Authority says what allowed or denied the call; nil if it never came to a
	// decision, and in older logs.
	Authority *Authority `json:"authority,omitempty"`
	// Files are what the call changed on disk; nil if it changed nothing, and
	// where nothing records it.
	Files *FilesChanged `json:"files,omitempty"`
}

// ForModel returns the text that the model was told.
func (e ToolCallEnd) ForModel() string {
	return forModel(e.Output, e.ModelOutput)
}

// forModel returns the model's share of an output.
func forModel(output string, share *string) string {
	if share != nil {
		return *share
	}
	return output
}

// share returns the share for which forModel returns told.
func share(output, told string) *string {
	if told == output {
		return nil
	}
	return &told
}

// Outcome says how a tool call ended.
type Outcome string

// The ways a tool call can end.
const (
	OutcomeDone        Outcome = "done"
	OutcomeFailed      Outcome = "failed"
	OutcomeDenied      Outcome = "denied"
	OutcomeInterrupted Outcome = "interrupted"
)

// ApprovalRequest asks a person whether a call may run. An [ApprovalAnswer]
// with the same ID answers it, however long that takes.
type ApprovalRequest struct {
	ID     string `json:"id"`
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	Input  string `json:"input"`
	AskReasons
	// Renewed says that the person was asked about this call before and that
	// its effect has changed since; Reason says so too.
	Renewed bool `json:"renewed,omitempty"`
	// Claim is what the model says that the call does, which need not be true;
	// empty if it says nothing.
	Claim string `json:"claim,omitempty"`
	// Origin says whose tool it is; nil if it is the program's own, and in older logs.
	Origin *ToolOrigin `json:"origin,omitempty"`
	// Outlook is what the call would do; nil if the gate cannot tell, and in
	// older logs.
	Outlook *Forecast `json:"outlook,omitempty"`
	// Access is what the call would touch.
	Access Access `json:"access"`
	// Changes previews the changes to files; nil if there is nothing to show.
	Changes []FileChange `json:"changes,omitempty"`
}

// AskReasons are why a call is not simply allowed.
type AskReasons struct {
	// Reason is one sentence. ReasonCode and ReasonArgs, if set, say the same
	// for translation.
	Reason     string     `json:"reason"`
	ReasonCode ReasonCode `json:"reason_code,omitempty"`
	ReasonArgs []string   `json:"reason_args,omitempty"`
	// Rule is the rule that asks; nil if another reason does.
	Rule *RuleRef `json:"rule,omitempty"`
	// By is what asks, and Mode the permission mode at the time; both are empty in
	// older logs.
	By   Authoriser `json:"by,omitempty"`
	Mode Mode       `json:"mode,omitempty"`
	// Final says that no rule can spare the next question, and EachTime that no
	// answer for the session can either.
	Final    bool `json:"final,omitempty"`
	EachTime bool `json:"each_time,omitempty"`
}

// ApprovalAnswer is a person's answer.
type ApprovalAnswer struct {
	ID     string `json:"id"`
	CallID string `json:"call_id"`
	Answer Answer `json:"answer"`
	// Rule is the rule that answered while the request waited; nil if a person did.
	Rule *RuleRef `json:"rule,omitempty"`
}

// SteeringInjected is a message that entered a running turn. It comes from the
// user or from the loop (LOOP-14).
type SteeringInjected struct {
	Text string `json:"text"`
	// QueueID is the id of the [Queued] message; empty if the loop wrote it.
	QueueID string `json:"queue_id,omitempty"`
	// ByLoop says that the loop wrote the message.
	ByLoop bool `json:"by_loop,omitempty"`
	// Refused says that a hook refused the user's message: the model is not told
	// of it.
	Refused bool `json:"refused,omitempty"`
	// Size, Typed, From and Media are as in [UserInput].
	Size  int64       `json:"size,omitempty"`
	Typed string      `json:"typed,omitempty"`
	From  string      `json:"from,omitempty"`
	Media []llm.Media `json:"media,omitempty"`
}

// Wrote returns what the user, or the loop, wrote: Typed, or Text if nothing else was made of it.
func (s SteeringInjected) Wrote() string { return cmp.Or(s.Typed, s.Text) }

// Retrying says that a request failed and is sent again after a wait.
// Everything that the failed answer streamed is void.
type Retrying struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Attempt  int    `json:"attempt"` // the one that failed, from 1
	Of       int    `json:"of"`      // how often it will be asked again at most
	DelayMs  int64  `json:"delay_ms"`
	// Message says why, as [Explain] does; Code is an llm.Class.
	ID      FailureID `json:"id,omitempty"`
	Args    []string  `json:"args,omitempty"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
	// Sent says that part of an answer arrived, which the provider may charge
	// for.
	Sent bool `json:"sent,omitempty"`
	// Usage is what the provider counted, and Cost its price; nil means
	// unknown.
	Usage llm.Usage `json:"usage,omitzero"`
	Cost  *llm.Cost `json:"cost,omitempty"`
}

// Counts reports whether the failed request has to be accounted for.
func (r Retrying) Counts() bool { return r.Sent || r.Usage.Known }

// SideRequest is a request for the session outside its conversation.
type SideRequest struct {
	Purpose  Purpose   `json:"purpose"`
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	Usage    llm.Usage `json:"usage"`
	Cost     *llm.Cost `json:"cost,omitempty"` // nil is unknown
}

// Purpose says what a request was made for; those of the conversation have [PurposeTurn].
type Purpose string

// The purposes of requests.
const (
	PurposeTurn       Purpose = "turn"
	PurposeTitle      Purpose = "title"
	PurposeSuggestion Purpose = "suggestion"
	PurposeSubagent   Purpose = "subagent"
	PurposeSummary    Purpose = "summary"
	PurposeCommit     Purpose = "commit"   // a commit's message
	PurposeSampling   Purpose = "sampling" // asked for by a server, during a call
	PurposeFetch      Purpose = "fetch"    // a question about a page, during a call
	PurposeSearch     Purpose = "search"   // a search of the web by a provider, during a call
	PurposeShorten    Purpose = "shorten"  // of a long result, at the end of its call
)

// PromptSuggestion is a model's guess at the user's next message. It is not
// part of the conversation, and the next input makes it void.
type PromptSuggestion struct {
	Text string `json:"text"`
}

// TaskChange says that there is news about a command that runs in the
// background. The news itself is read separately.
type TaskChange struct {
	// Task is its id; empty if all tasks ended with the session.
	Task string `json:"task,omitempty"`
	// Printed says that there is new output to read; otherwise the task began
	// or ended.
	Printed bool `json:"printed,omitempty"`
}

// QueueChange says that messages were added to the queue, edited, moved or
// removed. The queue itself is read separately. A delivery is told by the event
// of the delivered message instead.
type QueueChange struct{}

// HooksChange says that the list of hooks, or what they are trusted with, changed;
// or else that the log of hooks has new entries of the session. Both are read
// separately. News about the list belongs to no session.
type HooksChange struct {
	Logged bool `json:"logged,omitempty"`
}

// SessionsChange says that a session was removed for good, with its agents.
type SessionsChange struct {
	Removed string `json:"removed"`
}

// ServersChange says that something about the MCP servers changed: their list, a
// connection, what they offer or what they ask a person. It is read again.
type ServersChange struct{}

// SkillsChange says that the skills and commands changed: what stands in their folders,
// or what it is trusted with. They are read again.
type SkillsChange struct{}

// RulesChange says that the permission rules or the settings of the sandbox changed, or
// what the user has accepted of them. They are read again.
type RulesChange struct{}

// RateLimitReport is what a provider reported about the key's rate limits with
// its newest answer (LLM-32).
type RateLimitReport struct {
	Provider string        `json:"provider"`
	Limit    llm.RateLimit `json:"limit"`
}

// LoopDetection says that the model repeats itself (LOOP-20).
type LoopDetection struct {
	Cycle int `json:"cycle"` // how many calls come again and again
	Calls int `json:"calls"` // how many were looked at
}

// TurnLimit says that a limit ended the turn (LOOP-104, LOOP-105, OAS-115).
type TurnLimit struct {
	Limit string `json:"limit"` // "rounds", "turns" or "budget"; "tree_rounds" or "tree_tokens" with agents
	Count int    `json:"count"` // of rounds, turns or tokens
	// Spent is the cost of the session so far, Budget its limit. Next is the
	// estimate for the request that was not made; 0 if the last request
	// exceeded the budget.
	Budget llm.Cost `json:"budget,omitempty"`
	Spent  llm.Cost `json:"spent,omitempty"`
	Next   llm.Cost `json:"next,omitempty"`
}

// Warning tells the user something that did not stop the turn.
// [Warn] returns one. ID and Args say the same in the form that can be worded in
// another language; older logs have neither.
type Warning struct {
	ID      WarningID `json:"id,omitempty"`
	Args    []string  `json:"args,omitempty"`
	Code    string    `json:"code"`
	Message string    `json:"message"`
}

// Failure ends a turn. Message says what happened, Kept what was kept, and Next
// what to do about it. [Failed] and [Explain] return one. ID and Args say the
// same in the form that can be worded in another language; older logs have
// neither.
type Failure struct {
	ID      FailureID `json:"id,omitempty"`
	Args    []string  `json:"args,omitempty"`
	Code    string    `json:"code"` // an llm.Class, a host's own code, or "internal"
	Message string    `json:"message"`
	Kept    string    `json:"kept,omitempty"`
	Next    string    `json:"next,omitempty"`
	Details string    `json:"details,omitempty"`
}

// ProcessingEnd ends a turn (K-07).
type ProcessingEnd struct {
	Reason EndReason    `json:"reason"`
	Next   bool         `json:"next,omitempty"` // a queued input follows at once
	Rounds int          `json:"rounds"`
	Usage  llm.Usage    `json:"usage"`
	Cost   llm.Spending `json:"cost,omitzero"` // of the turn
}

// EndReason says why a turn ended.
type EndReason string

// The reasons a turn can end for.
const (
	EndDone        EndReason = "done"
	EndInterrupted EndReason = "interrupted" // by the user
	EndCrashed     EndReason = "crashed"     // found open when the session was loaded
	EndLimit       EndReason = "limit"
	EndBudget      EndReason = "budget" // the session's budget is spent
	EndFailed      EndReason = "failed"
	EndStopped     EndReason = "stopped" // by a hook
	// EndRefused means that a hook refused the input: the model is never told of
	// it, and there is nothing to continue.
	EndRefused EndReason = "refused"
)

// Kind implements [Payload].
