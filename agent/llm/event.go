package llm

import "encoding/json"

// EventType names a step of a streamed answer (LLM-30).
type EventType string

// The stream's vocabulary. A block (text, reasoning, tool call) starts, grows
// by deltas and ends; its Index is stable within one answer.
const (
	EventStart          EventType = "start"
	EventTextStart      EventType = "text_start"
	EventTextDelta      EventType = "text_delta"
	EventTextEnd        EventType = "text_end"
	EventReasoningStart EventType = "reasoning_start"
	EventReasoningDelta EventType = "reasoning_delta"
	EventReasoningEnd   EventType = "reasoning_end"
	EventToolCallStart  EventType = "tool_call_start"
	EventToolCallDelta  EventType = "tool_call_delta"
	EventToolCallEnd    EventType = "tool_call_end"
	EventFinish         EventType = "finish"
	// EventProvider carries data without a neutral equivalent.
	EventProvider EventType = "provider"
)

// Event is one step of a streamed answer.
type Event struct {
	Type  EventType
	Index int
	// Delta is the new text of a *_delta event.
	Delta string
	// Part is set on tool_call_start (its identity) and on every *_end
	// (complete).
	Part *Part
	// Answer is set on finish.
	Answer *Answer
	// Raw is set on provider events.
	Raw json.RawMessage
}

// Answer is a whole response. Stream's finish event carries it, and a fold over
// the other events gives the same (LLM-26, LLM-31).
type Answer struct {
	Message Message `json:"message"`
	Usage   Usage   `json:"usage"`
	Finish  Finish  `json:"finish"`
	// LeftOut is how many calls the answer held beyond those in the message,
	// which ends before them.
	LeftOut int `json:"left_out,omitempty"`
	// RateLimit is nil if the provider reported none.
	RateLimit *RateLimit `json:"rate_limit,omitempty"`
}

// RateLimit is what a provider reported about its rate limits with an answer.
// It is only information (LLM-32).
type RateLimit struct {
	Requests *Allowance `json:"requests,omitempty"`
	Tokens   *Allowance `json:"tokens,omitempty"`
}

// Allowance is a number of requests or tokens that a provider grants at
// intervals.
type Allowance struct {
	Limit     int64 `json:"limit"`
	Remaining int64 `json:"remaining"`
	// ResetAt is when all of it is available again, in Unix milliseconds; 0
	// means unknown.
	ResetAt int64 `json:"reset_at,omitempty"`
}

// Finish says why an answer ended.
type Finish struct {
	Reason FinishReason `json:"reason"`
	// Raw is the provider's own term.
	Raw string `json:"raw,omitempty"`
	// Detail explains a refusal or a filter, if the provider does.
	Detail string `json:"detail,omitempty"`
}

// FinishReason is the neutral reason for the end of an answer (LLM-27).
type FinishReason string

// The reasons for which an answer can end.
const (
	FinishStop            FinishReason = "stop"
	FinishLength          FinishReason = "length"
	FinishToolCalls       FinishReason = "tool_calls"
	FinishContentFilter   FinishReason = "content_filter"
	FinishRefusal         FinishReason = "refusal"
	FinishContextOverflow FinishReason = "context_overflow"
	// FinishPause means that the provider paused: the same conversation, with
	// this answer at its end, continues where it stopped.
	FinishPause FinishReason = "pause"
	// FinishBadToolCall means that the model tried to call a tool and could
	// not write the call.
	FinishBadToolCall FinishReason = "bad_tool_call"
	FinishError       FinishReason = "error"
	// FinishInterrupted marks an answer that the user or a broken stream cut;
	// the message holds what had arrived.
	FinishInterrupted FinishReason = "interrupted"
	FinishOther       FinishReason = "other"
)

// Usage counts tokens. The counts are disjoint: the three input fields together
// are the size of the context, so nothing is billed twice (LLM-29).
type Usage struct {
	Input      int64 `json:"input"` // neither read from nor written to a cache
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"` // includes CacheWriteLong
	Output     int64 `json:"output"`      // includes Reasoning
	Reasoning  int64 `json:"reasoning"`
	// CacheWriteLong counts tokens written to the cache for an hour, which have
	// their own price.
	CacheWriteLong int64 `json:"cache_write_1h,omitzero"`
	// Charged is the provider's reported charge for the request; 0 if it
	// reports none.
	Charged Cost `json:"charged,omitzero"`
	// Known is false if the provider reported nothing: then the zeros mean
	// "unknown", not "none".
	Known bool `json:"known"`
}

// Context is the number of tokens the request held.
func (u Usage) Context() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Total returns the number of tokens of the conversation including the answer.
func (u Usage) Total() int64 { return u.Context() + u.Output }

// Add returns the field-wise sum. It is known only if both sides are.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite, CacheWriteLong: u.CacheWriteLong + v.CacheWriteLong, Output: u.Output + v.Output,
		Reasoning: u.Reasoning + v.Reasoning, Charged: u.Charged + v.Charged, Known: u.Known && v.Known,
	}
}
