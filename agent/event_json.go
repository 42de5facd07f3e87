package agent

import (
	"encoding/json"
	"fmt"
)

// decoders holds one decode function for every kind.
var decoders = map[Kind]func([]byte) (Payload, error){
	KindSessionStart:       decode[SessionStart],
	KindSessionEnd:         decode[SessionEnd],
	KindSettings:           decode[SettingsChange],
	KindBriefing:           decode[Briefing],
	KindBriefingUpdate:     decode[BriefingUpdate],
	KindTitle:              decode[Title],
	KindUserInput:          decode[UserInput],
	KindTurnContinued:      decode[TurnContinued],
	KindReasoningDelta:     decode[ReasoningDelta],
	KindTextStart:          decode[TextStart],
	KindTextDelta:          decode[TextDelta],
	KindTextEnd:            decode[TextEnd],
	KindCallDraft:          decode[CallDraft],
	KindToolCallStart:      decode[ToolCallStart],
	KindToolCallOutput:     decode[ToolCallOutput],
	KindToolCallEnd:        decode[ToolCallEnd],
	KindApprovalRequest:    decode[ApprovalRequest],
	KindApprovalAnswer:     decode[ApprovalAnswer],
	KindHookStart:          decode[HookStart],
	KindHookOutput:         decode[HookOutput],
	KindHookEnd:            decode[HookEnd],
	KindSteeringInjected:   decode[SteeringInjected],
	KindLocalCommandStart:  decode[LocalCommandStart],
	KindLocalCommandOutput: decode[LocalCommandOutput],
	KindLocalCommandEnd:    decode[LocalCommandEnd],
	KindRetrying:           decode[Retrying],
	KindSideRequest:        decode[SideRequest],
	KindPromptSuggestion:   decode[PromptSuggestion],
	KindRateLimit:          decode[RateLimitReport],
	KindTaskChange:         decode[TaskChange],
	KindHistoryRepaired:    decode[HistoryRepaired],
	KindCompactionStart:    decode[CompactionStart],
	KindCompactionPhase:    decode[CompactionPhase],
	KindCompactionEnd:      decode[CompactionEnd],
	KindLoopDetection:      decode[LoopDetection],
	KindTurnLimit:          decode[TurnLimit],
	KindWarning:            decode[Warning],
	KindError:              decode[Failure],
	KindProcessingEnd:      decode[ProcessingEnd],
}

func decode[P Payload](b []byte) (Payload, error) {
	var p P
	err := json.Unmarshal(b, &p)
	return p, err
}

// DecodePayload reads the data of an event of the given kind. An unknown kind
// is an error: the log was written by a newer Atelier.
func DecodePayload(kind Kind, data []byte) (Payload, error) {
	d := decoders[kind]
	if d == nil {
		return nil, fmt.Errorf("decode event: unknown kind %q", kind)
	}
	p, err := d(data)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return p, nil
}

type eventHeader struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq,omitempty"`
	Turn    int    `json:"turn,omitempty"`
	Kind    Kind   `json:"kind"`
	At      int64  `json:"at"`
}

// MarshalJSON writes the event with its kind beside its data.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		eventHeader
		Data Payload `json:"data"`
	}{eventHeader{e.Session, e.Seq, e.Turn, e.Kind(), e.At}, e.Data})
}

// UnmarshalJSON reads what MarshalJSON wrote. An unknown kind is an error:
// the log is from a newer Atelier.
func (e *Event) UnmarshalJSON(b []byte) error {
	var w struct {
		eventHeader
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	data, err := DecodePayload(w.Kind, w.Data)
	if err != nil {
		return err
	}
	*e = Event{Session: w.Session, Seq: w.Seq, Turn: w.Turn, At: w.At, Data: data}
	return nil
}
