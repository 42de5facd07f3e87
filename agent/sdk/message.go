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

// Message is one message about a session. In JSON the members of Data stand
// beside its own.
type Message struct {
	Session string
	// Seq, Turn and At are those of the message's event; see [agent.Event].
	// Messages of one event share them.
	Seq  int64
	Turn int
	At   int64
	Data Payload
}

// Payload is what a message of one type carries. The set is closed: [Payloads]
// lists it.
type Payload interface{ Type() Type }

// Assistant is one whole answer of a model. Its calls follow, each as a
// [ToolUse] when it starts; a call that never ran may have only a [ToolResult].
type Assistant struct {
	Provider   string           `json:"provider"`
	Model      string           `json:"model"`
	Text       string           `json:"text"`
	Thinking   string           `json:"thinking,omitempty"`
	StopReason llm.FinishReason `json:"stop_reason"`
	Usage      llm.Usage        `json:"usage"`
	// Cost is absent if it is unknown.
	Cost *llm.Cost `json:"cost_usd,omitempty"`
}

// PartialMessage is newly streamed text or thinking, never both. Streamed text
// that is not in the next [Assistant] is void.
type PartialMessage struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// UserMessage is an input, or a message that entered a running turn.
type UserMessage struct {
	Text     string `json:"text"`
	Steering bool   `json:"steering,omitempty"`
	// ByLoop says that the loop wrote the message.
	ByLoop bool `json:"by_loop,omitempty"`
	// QueueID is the id of the queued message; empty if it was not queued.
	QueueID string `json:"queue_id,omitempty"`
}

// ToolUse says that a call entered the pipeline. Tool is the canonical name.
type ToolUse struct {
	CallID string `json:"call_id"`
	Tool   string `json:"tool"`
	// Input is the model's arguments: their JSON, or a string if they were not
	// JSON.
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
	// Output is what the tool printed, if that differs from Content.
	Output     string               `json:"output,omitempty"`
	IsError    bool                 `json:"is_error"`
	Outcome    agent.Outcome        `json:"outcome"`
	DurationMs int64                `json:"duration_ms"`
	Media      []llm.Media          `json:"media,omitempty"`
	Command    *agent.CommandResult `json:"command,omitempty"`
	Listing    *agent.Listing       `json:"listing,omitempty"`
}

// LocalCommandOutput is the output of a user's own command, once it has ended.
type LocalCommandOutput agent.LocalCommandEnd

// FilesPersisted lists the changes of a call to files.
type FilesPersisted struct {
	CallID string             `json:"call_id"`
	Files  []agent.FileChange `json:"files"`
}

// Task is work beside the conversation, with the call that mentioned it.
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

// TaskProgress says that a later call was about a task. The call's [ToolResult]
// has the details.
type TaskProgress struct{ Task }

// ToolUseSummary counts the calls of a turn, before its [Result]. A turn
// without calls has none.
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

// HookProgress is new output of a running hook.
type HookProgress agent.HookOutput

// HookResponse reports the result of a hook.
type HookResponse agent.HookEnd

// AuthStatus says that a provider refused the key, which ends the turn and the
// session.
type AuthStatus agent.Failure

// PromptSuggestion is a guess at the user's next message. It is void with the
// next [UserMessage].
type PromptSuggestion agent.PromptSuggestion

// System is anything else. Subtype is the kind of the event in Data.
type System struct {
	Subtype agent.Kind    `json:"subtype"`
	Data    agent.Payload `json:"data"`
}

// Result ends a turn (OAS-117). It counts what was in the stream.
type Result struct {
	Status agent.Status `json:"status"`
	// Text is that of the newest answer, even if it broke off.
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
