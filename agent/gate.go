package agent

import (
	"context"
	"encoding/json"
	"iter"

	"atelier.dev/atelier/agent/llm"
)

// Model is the part of an [llm.Client] that the loop needs.
type Model interface {
	Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error]
}

// Gate decides whether a call may run. Decide is called from the session's
// goroutine, one call at a time, just before the call would run; it must not
// block on a person.
type Gate interface {
	Decide(GateCall) Verdict
}

// AllowAll is a gate that lets every call pass.
var AllowAll Gate = allowAll{}

type allowAll struct{}

// Decide implements [Gate].
func (allowAll) Decide(GateCall) Verdict { return Verdict{Decision: Allow} }

// Granter is implemented by gates that remember an allow for the rest of the
// session. Grant is called from the session's goroutine, also for answers that
// were given before the session was reopened.
type Granter interface {
	Grant(GateCall)
}

// Approver asks a person and waits, for hours if need be. An error means that
// nobody could be asked: the call is then denied with the error's text.
type Approver interface {
	Approve(context.Context, ApprovalRequest) (Answer, error)
}

// GateCall is what a gate sees of a call.
type GateCall struct {
	Tool     string // canonical name
	ReadOnly bool
	Input    json.RawMessage
	Access   Access
	Mode     Mode
}

// Verdict is a gate's decision and the sentence that explains it; [Because]
// makes one.
type Verdict struct {
	Decision Decision
	Reason   string
	// Code and Args say the same to those who word it themselves; empty where
	// the sentence is all there is.
	Code ReasonCode
	Args []string
	// Final says that no hook can allow what this denies or asks about.
	Final bool
}

// Decision is the outcome of a gate.
type Decision string

// The decisions, strictest last: where several speak, the strictest wins.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Answer is what a person decided about a call.
type Answer struct {
	Decision Decision `json:"decision"` // allow or deny
	// Scope is how long an allow holds: once, or for the session for calls
	// that are equal to this one.
	Scope Scope `json:"scope,omitempty"`
	// Feedback is told to the model with a deny.
	Feedback string `json:"feedback,omitempty"`
}

// Scope is how long an allow holds. Empty means once.
type Scope string

// The scopes of an allow.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
)

// Mode is a permission mode; requirements K-12 has the table.
type Mode string

// The six permission modes.
const (
	ModeDefault     Mode = "default"
	ModePlan        Mode = "plan"
	ModeAuto        Mode = "auto"
	ModeAcceptEdits Mode = "acceptEdits"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Modes lists the permission modes in the order a picker shows them.
func Modes() []Mode {
	return []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeAuto, ModeDontAsk, ModeBypass}
}

// Settings can be changed between any two rounds (LOOP-01).
type Settings struct {
	Provider string     `json:"provider"`
	Model    string     `json:"model"`
	Effort   llm.Effort `json:"effort,omitempty"`
	Mode     Mode       `json:"mode"`
	// ThinkingTokens caps what models may think with that take a number; 0
	// leaves it to Effort (OAS-721).
	ThinkingTokens int `json:"thinking_tokens,omitempty"`
	// FallbackModel, of FallbackProvider, answers where the model still does
	// not after all retries. Empty means none: nothing is sent to a provider
	// that the user did not pick (OAS-113).
	FallbackProvider string `json:"fallback_provider,omitempty"`
	FallbackModel    string `json:"fallback_model,omitempty"`
	// Budget is what the session may cost; 0 leaves it to [Limits].
	Budget llm.Cost `json:"budget,omitempty"`
}

// State is what a session is doing (LOOP-05).
type State string

// The states of a session.
const (
	StateIdle          State = "idle"
	StateProcessing    State = "processing"
	StateAwaitingInput State = "awaiting_input"
	StateClosed        State = "closed"
)

// Compactor says when a conversation is too long, and writes what takes the
// place of its older part (K-08). It is called from the session's goroutine.
type Compactor interface {
	// Threshold is the size, in tokens, from which a conversation is made short
	// without being asked, for a model with such a window; 0 for never.
	Threshold(window int64) int64
	// Summarise writes the summary. With an error, the result still says what
	// was asked of whom.
	Summarise(context.Context, SummaryRequest) (Summary, error)
}

// SummaryRequest is what to summarise.
type SummaryRequest struct {
	Settings Settings // of the session
	Window   int64    // of its model, in tokens; 0 is unknown
	// Before is the summary that the messages follow; empty where there is none.
	Before   string
	Messages []llm.Message
	// Focus is what somebody wants kept in particular; empty for nothing.
	Focus string
}

// Summary is what a summary's request came to.
type Summary struct {
	Text string
	By   llm.Origin
	// Requests are those that may have been charged for; unknown usage is that
	// of one that gave no answer.
	Requests []llm.Usage
}
