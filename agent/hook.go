package agent

import (
	"context"
	"encoding/json"
)

// Hooks runs code that users and programs attach to a session (OAS-118, K-10).
type Hooks interface {
	// Fire runs the hooks of a point one after the other and returns their
	// combined advice: a deny overrides an ask, an ask overrides an allow, and
	// the last input wins. It reports each hook by a [HookStart], its output by
	// [HookOutput] as it comes, and its end by a [HookEnd], from its caller's
	// goroutine. It is called from the session's goroutine, and for the ends of
	// parallel calls from theirs. It returns soon after ctx ends. A hook that
	// fails is reported and has no influence.
	Fire(ctx context.Context, call HookCall, report func(Payload)) HookAdvice
}

// SelectiveHook is implemented by hooks that know at which points they have nothing to
// run. Nothing is prepared for such a point, and Fire is not called. It is safe for
// concurrent use.
type SelectiveHook interface {
	Has(HookPoint) bool
}

// HookPoint is a point at which hooks run.
type HookPoint string

// The points. The loop itself fires most of them; those of background commands,
// files, settings, worktrees and agents are fired by the host.
const (
	HookSetup            HookPoint = "setup"
	HookSessionStart     HookPoint = "sessionStart"
	HookUserPromptSubmit HookPoint = "userPromptSubmit"
	// Hooks of HookPreToolUse may deny the call, require a person's approval, make
	// one unnecessary, or change the input.
	HookPreToolUse        HookPoint = "preToolUse"
	HookPermissionRequest HookPoint = "permissionRequest"
	HookPermissionDenied  HookPoint = "permissionDenied"
	// Hooks after a call do not run for one that was interrupted. Their messages
	// are told to the model with the result.
	HookPostToolUse        HookPoint = "postToolUse"
	HookPostToolUseFailure HookPoint = "postToolUseFailure"
	HookPostSampling       HookPoint = "postSampling"
	// If a turn that is about to end succeeded, a deny of HookStop continues it
	// with the reason as the next instruction.
	HookStop           HookPoint = "stop"
	HookSubagentStart  HookPoint = "subagentStart"
	HookSubagentStop   HookPoint = "subagentStop"
	HookTeammateIdle   HookPoint = "teammateIdle"
	HookTaskCreated    HookPoint = "taskCreated"
	HookTaskCompleted  HookPoint = "taskCompleted"
	HookNotification   HookPoint = "notification"
	HookConfigChange   HookPoint = "configChange"
	HookCwdChanged     HookPoint = "cwdChanged"
	HookFileChanged    HookPoint = "fileChanged"
	HookWorktreeCreate HookPoint = "worktreeCreate"
	HookWorktreeRemove HookPoint = "worktreeRemove"
	// Hooks of HookPreCompact may deny the compaction, or name what to keep in
	// particular. The messages of those after it are told to the model.
	HookPreCompact  HookPoint = "preCompact"
	HookPostCompact HookPoint = "postCompact"
	HookSessionEnd  HookPoint = "sessionEnd"
)

// HookCall is what hooks are told.
type HookCall struct {
	Session string
	Mode    Mode
	// Data is the input of the point.
	Data HookInput
	// Beside is told that a hook begins to run beside the session, and ended that it has
	// ended, so that what it changes is known as its. It is never nil where a session fires.
	Beside func(name string) (ended func())
}

// Point returns the point that the call is about.
func (c HookCall) Point() HookPoint { return c.Data.Point() }

// Tool returns the tool call that the hooks are told about; it is empty at points
// that are not about one.
func (c HookCall) Tool() HookTool {
	if about, ok := c.Data.(interface{ tool() HookTool }); ok {
		return about.tool()
	}
	return HookTool{}
}

// HookAdvice is the combined advice of the hooks of a point. A point ignores
// what it cannot use.
type HookAdvice struct {
	// Decision is empty if no hook decides.
	Decision Decision
	Reason   string
	// By is the first hook that decided so; nil if it is not known.
	By *HookSource
	// Final says that only a person may answer what this advice asks about.
	Final bool
	// Input replaces the call's input; nil leaves it.
	Input json.RawMessage
	// Output replaces what the model is told of a call's result; nil leaves it.
	// The log and the person keep the result itself.
	Output *string
	// Context is told to the model.
	Context string
	// Stopped ends the turn after this point, and Stop says why. A call that is
	// about to run does not run then.
	Stopped bool
	Stop    string
	// StoppedBy is the first hook that ended the turn; nil if it is not known.
	StoppedBy *HookSource
	// Title names the session, unless its user has.
	Title string
	// Changed is what hooks after a call did to files. The session sets it.
	Changed *FilesChanged
}

// HookStart says that a hook runs.
type HookStart struct {
	Point  HookPoint `json:"point"`
	Name   string    `json:"name"`
	CallID string    `json:"call_id,omitempty"`
	// Status is what its author wants the user to read while it runs.
	Status string `json:"status,omitempty"`
}

// HookOutput is what a running hook has just printed. Not all that it prints need
// be told.
type HookOutput struct {
	Point  HookPoint `json:"point"`
	Name   string    `json:"name"`
	CallID string    `json:"call_id,omitempty"`
	Text   string    `json:"text"`
}

// HookEnd reports the result of a hook.
type HookEnd struct {
	Point      HookPoint `json:"point"`
	Name       string    `json:"name"`
	CallID     string    `json:"call_id,omitempty"`
	Failed     bool      `json:"failed,omitempty"`
	DurationMs int64     `json:"duration_ms"`
	Decision   Decision  `json:"decision,omitempty"`
	// Stopped says that the hook ended the turn.
	Stopped bool `json:"stopped,omitempty"`
	// Message is the hook's reason, its message to the model, or why it failed.
	Message string `json:"message,omitempty"`
	// Input is the call's input as the hook changed it; empty if it did not.
	Input string `json:"input,omitempty"`
	// Said is the hook's message to the user. The advice's context repeats it, so
	// that the model is told too.
	Said string `json:"said,omitempty"`
	// Notice is what the hook wants the user to notice; nil if nothing.
	Notice *HookNotice `json:"notice,omitempty"`
	HookFiles
}

// HookFiles is what a hook changed on disk, which ID names as a step. It is empty if that
// is nothing, and after a call, whose step has the hook's changes.
type HookFiles struct {
	ID    string        `json:"id,omitempty"`
	Files *FilesChanged `json:"files,omitempty"`
}

// HookNotice is a notification by a hook.
type HookNotice struct {
	Title string      `json:"title"`
	Body  string      `json:"body"`
	Level NoticeLevel `json:"level"`
}

// NoticeLevel says how much a notice matters.
type NoticeLevel string

// The levels of notices.
const (
	NoticeDebug   NoticeLevel = "debug"
	NoticeInfo    NoticeLevel = "info"
	NoticeWarning NoticeLevel = "warning"
	NoticeError   NoticeLevel = "error"
)
