package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Kind names an event. The loop specification's kinds are in lower case; ours
// follow its style (LOOP-18).
type Kind string

// The kinds of event. [kinds] says which of them are stored.
const (
	KindSessionStart       Kind = "session_start"
	KindSessionEnd         Kind = "session_end"
	KindSettings           Kind = "settings"
	KindBriefing           Kind = "briefing"
	KindBriefingUpdate     Kind = "briefing_update"
	KindTitle              Kind = "title"
	KindUserInput          Kind = "user_input"
	KindTurnContinued      Kind = "turn_continued"
	KindReasoningDelta     Kind = "reasoning_delta"
	KindTextStart          Kind = "assistant_text_start"
	KindTextDelta          Kind = "assistant_text_delta"
	KindTextEnd            Kind = "assistant_text_end" // the whole assistant message
	KindCallDraft          Kind = "tool_call_draft"    // the model is writing a call
	KindToolCallStart      Kind = "tool_call_start"
	KindToolCallOutput     Kind = "tool_call_output_delta"
	KindToolCallEnd        Kind = "tool_call_end"
	KindApprovalRequest    Kind = "approval_request"
	KindApprovalAnswer     Kind = "approval_answer"
	KindHookStart          Kind = "hook_start"
	KindHookOutput         Kind = "hook_output_delta"
	KindHookEnd            Kind = "hook_end"
	KindSteeringInjected   Kind = "steering_injected"
	KindLocalCommandStart  Kind = "local_command_start"
	KindLocalCommandOutput Kind = "local_command_output_delta"
	KindLocalCommandEnd    Kind = "local_command_end"
	KindRetrying           Kind = "retrying"
	KindSideRequest        Kind = "side_request"
	KindPromptSuggestion   Kind = "prompt_suggestion"
	KindRateLimit          Kind = "rate_limit"      // what the provider reports as left
	KindTaskChange         Kind = "task_change"     // a background command began, printed or ended
	KindQueueChange        Kind = "queue_change"    // the user changed the messages that wait
	KindHooksChange        Kind = "hooks_change"    // the list of hooks or their log changed
	KindSessionsChange     Kind = "sessions_change" // a session was removed for good
	KindServersChange      Kind = "servers_change"  // the MCP servers changed
	KindSkillsChange       Kind = "skills_change"   // skills or commands changed
	KindRulesChange        Kind = "rules_change"    // permission rules or the sandbox's settings changed
	KindHistoryRepaired    Kind = "history_repaired"
	KindCompactionStart    Kind = "compaction_start"
	KindCompactionPhase    Kind = "compaction_phase"
	KindCompactionEnd      Kind = "compaction_end"
	KindLoopDetection      Kind = "loop_detection"
	KindTurnLimit          Kind = "turn_limit"
	KindWarning            Kind = "warning"
	KindError              Kind = "error"
	KindProcessingEnd      Kind = "processing_end"
	KindFilesRestored      Kind = "files_restored"
	KindRewound            Kind = "conversation_rewound"
	KindRewindUndone       Kind = "conversation_rewind_undone"
	KindForked             Kind = "session_forked"
	KindMarks              Kind = "session_marks"
	KindImported           Kind = "session_imported"
	KindMoved              Kind = "session_moved"
	KindContextMarked      Kind = "context_marked"
	KindCompactionUndone   Kind = "compaction_undone"
)

func (SessionStart) Kind() Kind       { return KindSessionStart }
func (SessionEnd) Kind() Kind         { return KindSessionEnd }
func (SettingsChange) Kind() Kind     { return KindSettings }
func (Title) Kind() Kind              { return KindTitle }
func (UserInput) Kind() Kind          { return KindUserInput }
func (TurnContinued) Kind() Kind      { return KindTurnContinued }
func (ReasoningDelta) Kind() Kind     { return KindReasoningDelta }
func (TextStart) Kind() Kind          { return KindTextStart }
func (TextDelta) Kind() Kind          { return KindTextDelta }
func (TextEnd) Kind() Kind            { return KindTextEnd }
func (CallDraft) Kind() Kind          { return KindCallDraft }
func (ToolCallStart) Kind() Kind      { return KindToolCallStart }
func (ToolCallOutput) Kind() Kind     { return KindToolCallOutput }
func (ToolCallEnd) Kind() Kind        { return KindToolCallEnd }
func (ApprovalRequest) Kind() Kind    { return KindApprovalRequest }
func (ApprovalAnswer) Kind() Kind     { return KindApprovalAnswer }
func (HookStart) Kind() Kind          { return KindHookStart }
func (HookOutput) Kind() Kind         { return KindHookOutput }
func (HookEnd) Kind() Kind            { return KindHookEnd }
func (SteeringInjected) Kind() Kind   { return KindSteeringInjected }
func (LocalCommandStart) Kind() Kind  { return KindLocalCommandStart }
func (LocalCommandOutput) Kind() Kind { return KindLocalCommandOutput }
func (LocalCommandEnd) Kind() Kind    { return KindLocalCommandEnd }
func (Retrying) Kind() Kind           { return KindRetrying }
func (SideRequest) Kind() Kind        { return KindSideRequest }
func (PromptSuggestion) Kind() Kind   { return KindPromptSuggestion }
func (RateLimitReport) Kind() Kind    { return KindRateLimit }
func (TaskChange) Kind() Kind         { return KindTaskChange }
func (QueueChange) Kind() Kind        { return KindQueueChange }
func (HooksChange) Kind() Kind        { return KindHooksChange }
func (SessionsChange) Kind() Kind     { return KindSessionsChange }
func (ServersChange) Kind() Kind      { return KindServersChange }
func (SkillsChange) Kind() Kind       { return KindSkillsChange }
func (RulesChange) Kind() Kind        { return KindRulesChange }
func (HistoryRepaired) Kind() Kind    { return KindHistoryRepaired }
func (CompactionStart) Kind() Kind    { return KindCompactionStart }
func (CompactionPhase) Kind() Kind    { return KindCompactionPhase }
func (CompactionEnd) Kind() Kind      { return KindCompactionEnd }
func (LoopDetection) Kind() Kind      { return KindLoopDetection }
func (TurnLimit) Kind() Kind          { return KindTurnLimit }
func (Warning) Kind() Kind            { return KindWarning }
func (Failure) Kind() Kind            { return KindError }
func (ProcessingEnd) Kind() Kind      { return KindProcessingEnd }
func (FilesRestored) Kind() Kind      { return KindFilesRestored }
func (Rewound) Kind() Kind            { return KindRewound }
func (RewindUndone) Kind() Kind       { return KindRewindUndone }
func (Forked) Kind() Kind             { return KindForked }
func (SessionMarks) Kind() Kind       { return KindMarks }
func (Imported) Kind() Kind           { return KindImported }
func (Moved) Kind() Kind              { return KindMoved }

// kinds defines the payload of each kind and whether it is stored. A delta is
// not stored: it is disposable, and the durable event that follows implies it.
// A new kind needs its constant, its payload with a Kind method, and its line
// here.
var kinds = define(
	durable[SessionStart](),
	durable[SessionEnd](),
	durable[SettingsChange](),
	durable[Briefing](),
	durable[BriefingUpdate](),
	durable[Title](),
	durable[UserInput](),
	durable[TurnContinued](),
	delta[ReasoningDelta](),
	delta[TextStart](),
	delta[TextDelta](),
	durable[TextEnd](),
	delta[CallDraft](),
	durable[ToolCallStart](),
	delta[ToolCallOutput](),
	durable[ToolCallEnd](),
	durable[ApprovalRequest](),
	durable[ApprovalAnswer](),
	delta[HookStart](),
	delta[HookOutput](),
	durable[HookEnd](),
	durable[SteeringInjected](),
	durable[LocalCommandStart](),
	delta[LocalCommandOutput](),
	durable[LocalCommandEnd](),
	durable[Retrying](),
	durable[SideRequest](),
	durable[PromptSuggestion](),
	delta[RateLimitReport](),
	delta[TaskChange](),
	delta[QueueChange](),
	delta[HooksChange](),
	delta[SessionsChange](),
	delta[ServersChange](),
	delta[SkillsChange](),
	delta[RulesChange](),
	durable[HistoryRepaired](),
	durable[CompactionStart](),
	delta[CompactionPhase](),
	durable[CompactionEnd](),
	durable[LoopDetection](),
	durable[TurnLimit](),
	durable[Warning](),
	durable[Failure](),
	durable[ProcessingEnd](),
	durable[FilesRestored](),
	durable[Rewound](),
	durable[RewindUndone](),
	durable[Forked](),
	durable[SessionMarks](),
	durable[Imported](),
	durable[Moved](),
	durable[ContextMarked](),
	durable[CompactionUndone](),
)

// row is a line of [kinds].
type row struct {
	empty   Payload
	durable bool
	decode  func([]byte) (Payload, error)
}

func durable[P Payload]() row {
	r := delta[P]()
	r.durable = true
	return r
}

func delta[P Payload]() row {
	var empty P
	return row{empty: empty, decode: func(b []byte) (Payload, error) {
		var p P
		err := json.Unmarshal(b, &p)
		return p, err
	}}
}

func define(rows ...row) map[Kind]row {
	t := make(map[Kind]row, len(rows))
	for _, r := range rows {
		t[r.empty.Kind()] = r
	}
	return t
}

// Payloads returns one empty payload of every kind, ordered by kind: the closed
// set that front ends are generated from.
func Payloads() []Payload {
	out := make([]Payload, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		out = append(out, kinds[kind].empty)
	}
	return out
}

// DecodePayload reads the data of an event of the given kind. An unknown kind
// is an error: the log was written by a newer Atelier.
func DecodePayload(kind Kind, data []byte) (Payload, error) {
	r, ok := kinds[kind]
	if !ok {
		return nil, fmt.Errorf("decode event: unknown kind %q", kind)
	}
	p, err := r.decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return p, nil
}
