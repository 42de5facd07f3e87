package agent

import (
	"context"
	"encoding/json"
	"iter"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// Model is the part of an [llm.Client] that the loop needs.
type Model interface {
	Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error]
}

// Gate decides whether a call may run. Decide is called from the session's
// goroutine, for one call at a time, just before the call would run. It must
// not block on a person. The context is the turn's: a gate that takes time returns soon after
// it ends, and what it returns then does not matter.
type Gate interface {
	Decide(context.Context, GateCall) Verdict
}

// AllowAll is a gate that allows every call.
var AllowAll Gate = GateFunc(func(context.Context, GateCall) Verdict { return Verdict{Decision: Allow} })

// GateFunc is a gate of one function. A verdict without a decision asks.
type GateFunc func(context.Context, GateCall) Verdict

// Decide implements [Gate].
func (f GateFunc) Decide(ctx context.Context, call GateCall) Verdict { return f(ctx, call) }

// Granter is implemented by gates that remember an allow for the rest of the
// session. Grant is called from the session's goroutine, also for answers that
// were given before the session was reopened.
type Granter interface {
	Grant(GateCall)
}

// Approver asks a person and waits, for hours if need be. An error means that
// nobody could be asked: the call is then denied with the error's text. An
// answer that decides [Ask] says that rules may have changed: if one decides
// about the call now, it answers the request, else Approve is called again.
type Approver interface {
	Approve(context.Context, ApprovalRequest) (Answer, error)
}

// ApproverFunc is an approver of one function. It must return once the context
// is done. An answer without a decision denies.
type ApproverFunc func(context.Context, ApprovalRequest) (Answer, error)

// Approve implements [Approver].
func (f ApproverFunc) Approve(ctx context.Context, r ApprovalRequest) (Answer, error) {
	return f(ctx, r)
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
	// Code and Args say the same as the sentence, for hosts with their own
	// wording; both are empty if there is only the sentence.
	Code ReasonCode
	Args []string
	// By is what decided; empty means the mode. Rule is the rule that did, if one
	// did.
	By   Authoriser
	Rule *RuleRef
	// Hook is the hook that decided, if one did and is known.
	Hook *HookSource
	// Final says that no hook can allow what this verdict denies or asks about.
	Final bool
	// EachTime says that no rule and no earlier answer can allow it either: a
	// person is asked about each such call.
	EachTime bool
}

// Decision is the outcome of a gate.
type Decision string

// The decisions, strictest last. The strictest of several decisions wins.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// Answer is a person's decision about a call.
type Answer struct {
	Decision Decision `json:"decision"` // allow or deny
	// Scope is where the answer is remembered, and so how long it holds. A session
	// itself remembers only [ScopeSession]; wider scopes are for the host to store.
	Scope Scope `json:"scope,omitempty"`
	// Rule is the rule that is remembered, such as "Bash(git push *)", or several,
	// one a line, that allow the parts of a command together. If it is empty, equal
	// calls are.
	Rule string `json:"rule,omitempty"`
	// Mode is the mode that the host switches the session to before the answer
	// counts; empty leaves it.
	Mode Mode `json:"mode,omitempty"`
	// Expires is when the rule ends, in milliseconds since 1970; 0 means that it
	// does not end before its scope.
	Expires int64 `json:"expires,omitempty"`
	// Feedback is passed to the model with a denial.
	Feedback string `json:"feedback,omitempty"`
	// Reply is what the person answers to a [Question], as its tool reads it.
	Reply string `json:"reply,omitempty"`
}

// Scope is where a rule or an answer stands. Empty means once.
type Scope string

// The scopes, narrowest first.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeLocal   Scope = "local"   // this project, for this user alone
	ScopeProject Scope = "project" // this project, shared with its repository
	ScopeUser    Scope = "user"    // every project of this user
)

// Mode is a permission mode (K-12); package permission has the table.
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

// Modes lists the permission modes in the order in which a picker shows them.
func Modes() []Mode {
	return []Mode{ModeDefault, ModePlan, ModeAcceptEdits, ModeAuto, ModeDontAsk, ModeBypass}
}

// Settings can change between any two rounds (LOOP-01).
type Settings struct {
	// Provider names the provider that requests go to. If it is empty, the [Model]
	// decides: an [llm.Client] asks its first provider. Prices and limits are
	// unknown then.
	Provider string `json:"provider"`
	Model    string `json:"model"` // required
	// Effort is the provider's default if it is empty.
	Effort llm.Effort `json:"effort,omitempty"`
	Mode   Mode       `json:"mode"` // [ModeDefault] if it is empty
	// ThinkingTokens limits the thinking of models that take a number; 0 leaves
	// it to Effort (OAS-721).
	ThinkingTokens int `json:"thinking_tokens,omitempty"`
	// FallbackModel, of FallbackProvider, is asked if the model still does not
	// answer after all retries. Empty means none: nothing is sent to a provider
	// that the user did not choose (OAS-113).
	FallbackProvider string `json:"fallback_provider,omitempty"`
	FallbackModel    string `json:"fallback_model,omitempty"`
	// Budget limits the cost of the session; 0 leaves it to [Limits].
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

// Compactor decides when a conversation is too long, and writes the summary
// that replaces its older part (K-08). It is called from the session's
// goroutine.
type Compactor interface {
	// Threshold returns the size, in tokens, from which a conversation is
	// compacted automatically for a model with the given window, which is 0 if it
	// is unknown; a size of 0 means never.
	Threshold(window int64) int64
	// Summarise writes the summary. If it fails, the result still says which
	// model was asked and what it used.
	Summarise(context.Context, SummaryRequest) (Summary, error)
}

// Selector is implemented by compactors that have rules for each type of item, which make
// room before a summary is asked for (COM-13, COM-14).
type Selector interface {
	Rules() contextir.Rules
}

// SummaryRequest is what to summarise.
type SummaryRequest struct {
	Settings Settings // of the session
	Window   int64    // of its model, in tokens; 0 means unknown
	// Before is the previous summary, which the messages follow; empty if there
	// is none.
	Before   string
	Messages []llm.Message
	// Focus names what the summary should keep in particular; it may be empty.
	Focus string
}

// Summary is the result of a summary request.
type Summary struct {
	Text string
	By   llm.Origin
	// Requests lists requests that may have been charged for. The usage of a
	// request without an answer is unknown.
	Requests []llm.Usage
	// Earlier are attempts of other models that failed before.
	Earlier []Summary
}

// SideRequests returns the requests of all attempts, at their price.
func (s Summary) SideRequests(price func(llm.Origin, llm.Usage) *llm.Cost) (all []SideRequest) {
	for _, before := range s.Earlier {
		all = append(all, before.SideRequests(price)...)
	}
	for _, usage := range s.Requests {
		all = append(all, SideRequest{Purpose: PurposeSummary, Provider: s.By.Provider, Model: s.By.Model, Usage: usage, Cost: price(s.By, usage)})
	}
	return all
}
