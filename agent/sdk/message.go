package sdk

import (
	"encoding/json"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Type names a message. The names are the SDK's.
type Type string

// The types of message.
const (
	TypeAssistant          Type = "assistant"
	TypePartialMessage     Type = "partialMessage"
	TypeUserMessage        Type = "userMessage"
	TypeToolUse            Type = "toolUse"
	TypeToolProgress       Type = "toolProgress"
	TypeToolResult         Type = "toolResult"
	TypeToolUseSummary     Type = "toolUseSummary"
	TypeFilesPersisted     Type = "filesPersisted"
	TypeLocalCommandOutput Type = "localCommandOutput"
	TypeTaskStarted        Type = "taskStarted"
	TypeTaskProgress       Type = "taskProgress"
	TypeHookStarted        Type = "hookStarted"
	TypeHookProgress       Type = "hookProgress"
	TypeHookResponse       Type = "hookResponse"
	TypeAuthStatus         Type = "authStatus"
	TypePromptSuggestion   Type = "promptSuggestion"
	TypeSystem             Type = "system"
	TypeResult             Type = "result"
)

// Message is one thing that is told of a session. In JSON the members of Data
// stand beside its own.
type Message struct {
	Session string
	// Seq, Turn and At are those of the event that the message was made of; see
	// [agent.Event]. Messages of one event share them.
	Seq  int64
	Turn int
	At   int64
	Data Payload
}

// Payload is what a message of one type carries. The set is closed: [Payloads]
// lists it.
type Payload interface{ Type() Type }

// Assistant is one whole answer of a model. The calls in it follow, each as a
// [ToolUse] once its turn has come; one that never ran may have only a
// [ToolResult].
type Assistant struct {
	Provider   string           `json:"provider"`
	Model      string           `json:"model"`
	Text       string           `json:"text"`
	Thinking   string           `json:"thinking,omitempty"`
	StopReason llm.FinishReason `json:"stop_reason"`
	Usage      llm.Usage        `json:"usage"`
	// Cost is absent where it is unknown.
	Cost *llm.Cost `json:"cost_usd,omitempty"`
}

// PartialMessage is newly streamed text or thinking, never both. What was
// streamed and is not in the next [Assistant] is void.
type PartialMessage struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// UserMessage is an input, or a message that came into a running turn.
type UserMessage struct {
	Text     string `json:"text"`
	Steering bool   `json:"steering,omitempty"`
	// ByLoop says that nobody wrote it.
	ByLoop bool `json:"by_loop,omitempty"`
	// QueueID is that of the queued message it was; empty where it was none.
	QueueID string `json:"queue_id,omitempty"`
}

// ToolUse says that a call entered the pipeline. Tool is the canonical name.
type ToolUse struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Input is JSON; where the model's arguments were none, it is a string of
	// what they were.
	Input json.RawMessage `json:"input"`
}

// ToolProgress is newly printed output of a running call.
type ToolProgress agent.ToolCallOutput

// ToolResult is the end of a call.
type ToolResult struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Content is what the model was told.
	Content string `json:"content"`
	// Output is what the tool printed, where that differs from Content.
	Output     string               `json:"output,omitempty"`
	IsError    bool                 `json:"is_error"`
	Outcome    agent.Outcome        `json:"outcome"`
	DurationMs int64                `json:"duration_ms"`
	Media      []llm.Media          `json:"media,omitempty"`
	Command    *agent.CommandResult `json:"command,omitempty"`
	Listing    *agent.Listing       `json:"listing,omitempty"`
}

// LocalCommandOutput is what a command that the user ran themselves has printed,
// once it has ended.
type LocalCommandOutput agent.LocalCommandEnd

// FilesPersisted says what a call did to files.
type FilesPersisted struct {
	CallID string             `json:"call_id"`
	Files  []agent.FileChange `json:"files"`
}

// Task is work that goes on beside the conversation, and the call that it
// was seen in.
type Task struct {
	// ID is the number of a command in the session, or the session of an agent.
	ID     string   `json:"task_id"`
	Kind   TaskKind `json:"kind"`
	CallID string   `json:"call_id"`
	Tool   string   `json:"tool"`
}

// TaskKind says what kind of work a [Task] is.
type TaskKind string

// The kinds of task.
const (
	TaskCommand TaskKind = "command"
	TaskAgent   TaskKind = "agent"
)

// TaskStarted says that a task was seen for the first time in the stream.
type TaskStarted struct{ Task }

// TaskProgress says that a later call was about a task. What it found is in
// that call's [ToolResult].
type TaskProgress struct{ Task }

// ToolUseSummary counts the calls of a turn, before its [Result]. There is none
// for a turn without calls.
type ToolUseSummary struct {
	Tools []ToolCount `json:"tools"` // in the order of their first end
}

// ToolCount counts the calls of one tool.
type ToolCount struct {
	Tool   string `json:"tool"`
	Calls  int    `json:"calls"`
	Errors int    `json:"errors,omitempty"`
}

// HookStarted says that a hook runs.
type HookStarted agent.HookStart

// HookProgress is what a running hook has just printed.
type HookProgress agent.HookOutput

// HookResponse says what a hook came to.
type HookResponse agent.HookEnd

// AuthStatus says that a provider did not take the key, which ends the turn
// and the session.
type AuthStatus agent.Failure

// PromptSuggestion is what the user may want to write next. It is void with the
// next [UserMessage] that begins a turn.
type PromptSuggestion agent.PromptSuggestion

// System is anything else. Subtype is the kind of the event in Data.
type System struct {
	Subtype agent.Kind    `json:"subtype"`
	Data    agent.Payload `json:"data"`
}

// Result ends a turn (OAS-117). It counts what was in the stream.
type Result struct {
	Status agent.Status `json:"status"`
	// Text is the newest answer's, also where it broke off.
	Text string `json:"text"`
	// Rounds are those of tools, Turns the answers: the SDK's numTurns.
	Rounds int       `json:"rounds"`
	Turns  int       `json:"turns"`
	Usage  llm.Usage `json:"usage"`
	// TotalCost is what was spent at least where CostUnknown counts requests
	// whose cost is not known.
	TotalCost   llm.Cost          `json:"total_cost_usd"`
	CostUnknown int               `json:"cost_unknown,omitempty"`
	CostByModel []agent.ModelCost `json:"cost_by_model,omitempty"`
	Cancelled   bool              `json:"is_cancelled"`
	// Next says that a queued input follows at once.
	Next bool `json:"next,omitempty"`
	// Failure says why, where Status is [agent.StatusFailed] and it is known.
	Failure *agent.Failure `json:"failure,omitempty"`
}

// Type implements [Payload].
func (Assistant) Type() Type          { return TypeAssistant }
func (PartialMessage) Type() Type     { return TypePartialMessage }
func (UserMessage) Type() Type        { return TypeUserMessage }
func (ToolUse) Type() Type            { return TypeToolUse }
func (ToolProgress) Type() Type       { return TypeToolProgress }
func (ToolResult) Type() Type         { return TypeToolResult }
func (ToolUseSummary) Type() Type     { return TypeToolUseSummary }
func (FilesPersisted) Type() Type     { return TypeFilesPersisted }
func (LocalCommandOutput) Type() Type { return TypeLocalCommandOutput }
func (TaskStarted) Type() Type        { return TypeTaskStarted }
func (TaskProgress) Type() Type       { return TypeTaskProgress }
func (HookStarted) Type() Type        { return TypeHookStarted }
func (HookProgress) Type() Type       { return TypeHookProgress }
func (HookResponse) Type() Type       { return TypeHookResponse }
func (AuthStatus) Type() Type         { return TypeAuthStatus }
func (PromptSuggestion) Type() Type   { return TypePromptSuggestion }
func (System) Type() Type             { return TypeSystem }
func (Result) Type() Type             { return TypeResult }

// Payloads returns one empty payload of every type.
func Payloads() []Payload {
	return []Payload{
		Assistant{}, PartialMessage{}, UserMessage{}, ToolUse{}, ToolProgress{}, ToolResult{}, ToolUseSummary{}, FilesPersisted{}, LocalCommandOutput{},
		TaskStarted{}, TaskProgress{}, HookStarted{}, HookProgress{}, HookResponse{}, AuthStatus{}, PromptSuggestion{}, System{}, Result{},
	}
}

// MarshalJSON writes one flat object: what every message has, then its data.
func (m Message) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		Type    Type   `json:"type"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq,omitempty"`
		Turn    int    `json:"turn,omitempty"`
		At      int64  `json:"at"`
	}{m.Data.Type(), m.Session, m.Seq, m.Turn, m.At})
	if err != nil {
		return nil, fmt.Errorf("encode a message's head: %w", err)
	}
	data, err := json.Marshal(m.Data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.Data.Type(), err)
	}
	if len(data) <= len("{}") {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), data[1:]...), nil
}
