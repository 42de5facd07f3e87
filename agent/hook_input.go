package agent

import (
	"encoding/json"

	"atelier.dev/atelier/agent/llm"
)

// HookInput is what the hooks of one point are told. Its JSON members are part of
// the documented input of a hook; package hook adds those that all points share.
// The set is closed: [HookInputs] lists it.
type HookInput interface{ Point() HookPoint }

// HookTool is the call that a hook is told about. Tool is the canonical name,
// Input the tool's own input.
type HookTool struct {
	Tool   string          `json:"tool_name"`
	Input  json.RawMessage `json:"tool_input"`
	CallID string          `json:"tool_call_id"`
	// Access is what the call would touch. Hooks match it; it is not part of
	// their input.
	Access Access `json:"-"`
}

func (t HookTool) tool() HookTool { return t }

// SetupInput comes before the first session of a folder begins in this process.
type SetupInput struct {
	Trigger string `json:"trigger"` // always "init"
}

// SessionStartInput comes with the first input after a session was opened.
type SessionStartInput struct {
	// Source is "startup" for a new session, "resume" for one with a history.
	Source string `json:"source"`
	Model  string `json:"model"`
}

// UserPromptSubmitInput comes before the model is asked about a user's input.
type UserPromptSubmitInput struct {
	Prompt string `json:"prompt"`
}

// PreToolUseInput comes before the decision about a call.
type PreToolUseInput struct{ HookTool }

// PermissionRequestInput comes before a person is asked about a call.
type PermissionRequestInput struct {
	HookTool
	Reason string `json:"reason"` // why the person is asked
}

// PermissionDeniedInput comes after a call was denied.
type PermissionDeniedInput struct {
	HookTool
	Reason string     `json:"reason"` // what the model is told
	By     Authoriser `json:"decided_by"`
}

// PostToolUseInput comes after a call that succeeded.
type PostToolUseInput struct {
	HookTool
	Output     string `json:"tool_response"` // in full
	DurationMs int64  `json:"duration_ms"`
}

// PostToolUseFailureInput comes after a call that failed.
type PostToolUseFailureInput struct {
	HookTool
	Error      string `json:"error"`
	DurationMs int64  `json:"duration_ms"`
}

// PostSamplingInput comes after each whole answer of the model.
type PostSamplingInput struct {
	Model   string    `json:"model"`
	Message string    `json:"last_assistant_message"` // its text
	Calls   int       `json:"tool_calls"`             // number of calls in it
	Usage   llm.Usage `json:"usage"`
}

// StopInput comes when a turn is about to end, also one whose input hooks refused;
// then nothing that is advised matters.
type StopInput struct {
	Reason EndReason `json:"reason"`
	// Again says that hooks have already continued this turn.
	Again   bool   `json:"stop_hook_active"`
	Message string `json:"last_assistant_message"`
}

// PreCompactInput comes before a compaction.
type PreCompactInput struct {
	Trigger CompactionTrigger `json:"trigger"`
	// Instructions are the user's own; empty if there are none.
	Instructions string `json:"custom_instructions"`
}

// PostCompactInput comes after a compaction that succeeded.
type PostCompactInput struct {
	Trigger CompactionTrigger `json:"trigger"`
	// Summary is empty if cutting old results was enough.
	Summary string `json:"compact_summary"`
}

// SessionEndInput comes before a session is closed.
type SessionEndInput struct {
	Reason string `json:"reason"` // "closed", or "aborted" if its turn was cut short
}

// SubagentStartInput comes instead of [SessionStartInput] in an agent's session.
type SubagentStartInput struct {
	AgentID string `json:"agent_id"`
	Parent  string `json:"parent_session_id"`
	Task    string `json:"task"`
}

// SubagentStopInput comes instead of [StopInput] in an agent's session, for each of its
// turns, however they end.
type SubagentStopInput struct {
	StopInput
	AgentID string `json:"agent_id"`
	Parent  string `json:"parent_session_id"`
}

// TeammateIdleInput comes when an agent is at rest and waits for its parent.
type TeammateIdleInput struct {
	AgentID string `json:"agent_id"`
	Parent  string `json:"parent_session_id"`
	Message string `json:"last_assistant_message"`
}

// TaskCreatedInput comes when a background command begins.
type TaskCreatedInput struct {
	TaskID  string `json:"task_id"`
	Command string `json:"command"`
}

// TaskCompletedInput comes when a background command has ended, unless it ended
// with its session.
type TaskCompletedInput struct {
	TaskID   string `json:"task_id"`
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	Stopped  bool   `json:"stopped"` // it was ended, so its exit code says nothing
}

// NotificationInput comes when the user is told something.
type NotificationInput struct {
	Type    string `json:"notification_type"` // one of the constants below
	Title   string `json:"title"`
	Message string `json:"message"`
}

// The types of notifications.
const (
	NotifyApproval   = "permission_prompt"
	NotifyTurnDone   = "turn_done"
	NotifyTurnFailed = "turn_failed"
)

// ConfigChangeInput comes after settings changed.
type ConfigChangeInput struct {
	// Source is "user_settings", "project_settings", "local_settings" or
	// [SessionSettings].
	Source string `json:"source"`
	Path   string `json:"file_path"` // empty for a session's settings
}

// SessionSettings is the source of a change of a session's own settings.
const SessionSettings = "session_settings"

// CwdChangedInput comes when a command runs in another folder than the one
// before it.
type CwdChangedInput struct {
	Old string `json:"old_cwd"`
	New string `json:"new_cwd"`
}

// FileChangedInput comes after a watched file changed.
type FileChangedInput struct {
	Path  string `json:"file_path"`
	Event string `json:"event"` // "add", "change" or "unlink"
}

// WorktreeCreateInput comes after a git worktree was made for an agent, a fork or a session
// that moves into it.
type WorktreeCreateInput struct {
	Name   string `json:"name"`
	Path   string `json:"worktree_path"`
	Branch string `json:"branch"`
}

// WorktreeRemoveInput comes after such a worktree was removed.
type WorktreeRemoveInput struct {
	Name string `json:"name"`
	Path string `json:"worktree_path"`
}

func (SetupInput) Point() HookPoint              { return HookSetup }
func (SessionStartInput) Point() HookPoint       { return HookSessionStart }
func (UserPromptSubmitInput) Point() HookPoint   { return HookUserPromptSubmit }
func (PreToolUseInput) Point() HookPoint         { return HookPreToolUse }
func (PermissionRequestInput) Point() HookPoint  { return HookPermissionRequest }
func (PermissionDeniedInput) Point() HookPoint   { return HookPermissionDenied }
func (PostToolUseInput) Point() HookPoint        { return HookPostToolUse }
func (PostToolUseFailureInput) Point() HookPoint { return HookPostToolUseFailure }
func (PostSamplingInput) Point() HookPoint       { return HookPostSampling }
func (StopInput) Point() HookPoint               { return HookStop }
func (PreCompactInput) Point() HookPoint         { return HookPreCompact }
func (PostCompactInput) Point() HookPoint        { return HookPostCompact }
func (SessionEndInput) Point() HookPoint         { return HookSessionEnd }
func (SubagentStartInput) Point() HookPoint      { return HookSubagentStart }
func (SubagentStopInput) Point() HookPoint       { return HookSubagentStop }
func (TeammateIdleInput) Point() HookPoint       { return HookTeammateIdle }
func (TaskCreatedInput) Point() HookPoint        { return HookTaskCreated }
func (TaskCompletedInput) Point() HookPoint      { return HookTaskCompleted }
func (NotificationInput) Point() HookPoint       { return HookNotification }
func (ConfigChangeInput) Point() HookPoint       { return HookConfigChange }
func (CwdChangedInput) Point() HookPoint         { return HookCwdChanged }
func (FileChangedInput) Point() HookPoint        { return HookFileChanged }
func (WorktreeCreateInput) Point() HookPoint     { return HookWorktreeCreate }
func (WorktreeRemoveInput) Point() HookPoint     { return HookWorktreeRemove }

// HookInputs returns one empty input of every point, in the order in which a
// session meets them: the set that settings, documentation and front ends know.
func HookInputs() []HookInput {
	return []HookInput{
		SetupInput{}, SessionStartInput{}, UserPromptSubmitInput{}, PreToolUseInput{}, PermissionRequestInput{},
		PermissionDeniedInput{}, PostToolUseInput{}, PostToolUseFailureInput{}, PostSamplingInput{}, StopInput{},
		SubagentStartInput{}, SubagentStopInput{}, TeammateIdleInput{}, TaskCreatedInput{}, TaskCompletedInput{},
		NotificationInput{}, ConfigChangeInput{}, CwdChangedInput{}, FileChangedInput{}, WorktreeCreateInput{},
		WorktreeRemoveInput{}, PreCompactInput{}, PostCompactInput{}, SessionEndInput{},
	}
}
