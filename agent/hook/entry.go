package hook

import (
	"time"

	"atelier.dev/atelier/agent"
)

// Outcome says what became of a hook that was considered.
type Outcome string

// The outcomes.
const (
	OutcomeRan         Outcome = "ran"
	OutcomeNotMatched  Outcome = "not_matched"
	OutcomeOff         Outcome = "off"
	OutcomeUntrusted   Outcome = "untrusted"
	OutcomeChanged     Outcome = "changed"   // it is no longer what was trusted
	OutcomeOnce        Outcome = "once"      // it has run in this session
	OutcomeDuplicate   Outcome = "duplicate" // an equal hook of another file runs
	OutcomeFailed      Outcome = "failed"
	OutcomeTimedOut    Outcome = "timed_out"
	OutcomeInterrupted Outcome = "interrupted" // the user stopped the turn
	OutcomeStarted     Outcome = "started"     // it runs beside the session
)

// Cause says why a hook failed, or why it was not matched. Pages have words for
// each; what is particular follows in [Entry.Detail].
type Cause string

// The causes.
const (
	CauseMatcher    Cause = "matcher"     // the matcher does not match: what it looked at
	CauseRule       Cause = "rule"        // the rule in "if" does not match: the rule
	CauseBadMatcher Cause = "bad_matcher" // the matcher cannot be read: why
	CauseManyFiles  Cause = "many_files"  // the call is about more files than a hook is run for: how many
	CauseKind       Cause = "kind"        // nothing could run: the kind
	CauseStart      Cause = "start"       // it did not start: why
	CauseSignal     Cause = "signal"      // a signal ended it: its number
	CauseMissing    Cause = "missing"     // the shell did not find the program, or may not run it
	CauseExit       Cause = "exit"        // it ended with another code than 0 and 2
	CauseOutput     Cause = "output"      // it printed more than is kept
	CauseJSON       Cause = "json"        // its answer is not whole or not right: why
	CauseStatus     Cause = "status"      // the server's answer does not count: its status
	CauseRequest    Cause = "request"     // the server could not be asked: why
	CausePanic      Cause = "panic"       // the function panicked: what it said
	CauseFunction   Cause = "function"    // the function returned an error: what it said
	CauseBusy       Cause = "busy"        // too many of its kind still run: how many
	CauseUpdate     Cause = "update"      // its change of the permissions was refused: why
	CauseView       Cause = "view"        // it changed an input that is not the call's own
	CauseNotAllowed Cause = "not_allowed" // it needs a variable that it does not get: its name
)

// Entry is one hook that was considered, for the log. Secrets are replaced in
// its texts.
type Entry struct {
	At      time.Time `json:"at"`
	Session string    `json:"session,omitempty"`
	Hook    Ref       `json:"hook"`
	About   About     `json:"about"`
	Outcome Outcome   `json:"outcome"`
	Cause   Cause     `json:"cause,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	// Input is what the hook was given; empty if it did not run.
	Input    string        `json:"input,omitempty"`
	Exit     *Printed      `json:"exit,omitempty"`
	Duration time.Duration `json:"duration"`
	// Effect is what it answered. Whether it came about depends on the point and on
	// the other hooks.
	Effect Answer `json:"effect"`
}

// Ref names a hook in the log, also once its file has changed.
type Ref struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Kind    Kind   `json:"kind"`
	Matcher string `json:"matcher,omitempty"`
	Origin  Origin `json:"origin"`
}

// Ref returns the handler's name in the log.
func (h Handler) Ref() Ref {
	return Ref{ID: h.ID(), Name: h.Name, Kind: h.Kind, Matcher: h.Matcher, Origin: h.Origin}
}

// About is what a hook was asked about.
type About struct {
	Point agent.HookPoint `json:"point"`
	// Tool is the name that the hook knows the tool by.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// File is the file of the call that this run was about; empty if it was
	// about the whole call.
	File string `json:"file,omitempty"`
}

// Printed is how a program ended, or what a server answered.
type Printed struct {
	// Code is the exit code, or the status of an answer.
	Code   int    `json:"code"`
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	// Cut counts the bytes of Stdout and Stderr that the entry leaves out.
	Cut int64 `json:"cut,omitempty"`
}

// PermissionUpdate is a change of the session's rules (OAS-668).
type PermissionUpdate struct {
	// Tool is a rule, such as "Bash" or "Bash(git push *)".
	Tool     string         `json:"tool"`
	Behavior agent.Decision `json:"behavior"`
}

// State says whether a hook may run.
type State string

// The states.
const (
	StateReady     State = "ready"
	StateOff       State = "off"
	StateUntrusted State = "untrusted"
	StateChanged   State = "changed"
)

// Readiness is a [State], and for people what stands in the way.
type Readiness struct {
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
}
