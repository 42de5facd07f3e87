package hook

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/sandbox"
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
	// Input is what the hook was given, without its last InputCut bytes; empty if it
	// did not run.
	Input    string        `json:"input,omitempty"`
	InputCut int64         `json:"input_cut,omitempty"`
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
	// Cut counts the bytes of Stdout and Stderr that the entry leaves out, CutOf says
	// of which: "stdout", "stderr" or both.
	Cut   int64    `json:"cut,omitempty"`
	CutOf []string `json:"cut_of,omitempty"`
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
	// Missed says that the user counts on the hook: a person is asked about the calls
	// that it would guard, as about those of a hook that was changed.
	Missed bool `json:"missed,omitempty"`
}

// maxText limits each text of an entry, in bytes.
const maxText = 64 << 10

// cleaner returns a function that replaces secrets: those given, and what
// [sandbox.Redact] knows.
func cleaner(secrets []string) func(string) string {
	return func(text string) string { return sandbox.Redact(without(secrets, text)) }
}

// without replaces the secrets in a text.
func without(secrets []string, text string) string {
	for _, secret := range secrets {
		if len(secret) >= shortestSecret {
			text = strings.ReplaceAll(text, secret, sandbox.Redacted)
		}
	}
	return text
}

// shortestSecret is the length from which a value is replaced where it occurs.
// Shorter ones occur by chance.
const shortestSecret = 6

// entry describes a run for the log.
func (e *Engine) entry(r run) Entry {
	clean := cleaner(r.secrets)
	entry := Entry{
		At: r.begin, Session: r.session, Hook: r.handler.Ref(), About: r.about, Outcome: r.outcome, Cause: r.cause,
		Detail: clean(r.detail), Duration: r.took, Effect: cleanAnswer(r.answer, clean),
	}
	if r.input != nil {
		entry.Input, entry.InputCut = cleanInput(r.input, clean)
	}
	if p := r.printed; p != nil {
		out, cutOut := shortened(p.Stdout, clean)
		diagnostics, cutErr := shortened(p.Stderr, clean)
		entry.Exit = &Printed{Code: p.Code, Stdout: out, Stderr: diagnostics, Cut: p.Cut + cutOut + cutErr}
		if cutOut > 0 {
			entry.Exit.CutOf = append(entry.Exit.CutOf, "stdout")
		}
		if cutErr > 0 {
			entry.Exit.CutOf = append(entry.Exit.CutOf, "stderr")
		}
	}
	return entry
}

// margin is the length of a secret that is still recognised at the end of a text
// that is cut.
const margin = 4 << 10

// shortened cleans a text, limits it and counts what it leaves out.
func shortened(text string, clean func(string) string) (string, int64) {
	if len(text) <= maxText {
		return clean(text), 0
	}
	kept := clean(text[:min(len(text), maxText+margin)]) // half a secret is secret, too
	kept = strings.ToValidUTF8(kept[:min(len(kept), maxText)], "")
	return kept, int64(len(text) - len(kept))
}

// cleanInput returns valid JSON if nothing has to be left out.
func cleanInput(raw json.RawMessage, clean func(string) string) (string, int64) {
	if len(raw) > maxText {
		return shortened(string(raw), clean)
	}
	return string(cleanJSON(raw, clean, 0)), 0
}

// cleanWords cleans what an answer says to the user and the model.
func cleanWords(a Answer, clean func(string) string) Answer {
	for _, text := range []*string{&a.Reason, &a.Context, &a.Message, &a.Said, &a.Stop, &a.Title} {
		*text = clean(*text)
	}
	if a.Notice != nil {
		a.Notice = &agent.HookNotice{Title: clean(a.Notice.Title), Body: clean(a.Notice.Body), Level: a.Notice.Level}
	}
	return a
}

func cleanAnswer(a Answer, clean func(string) string) Answer {
	a = cleanWords(a, clean)
	if a.Output != nil {
		output, _ := shortened(*a.Output, clean)
		a.Output = &output
	}
	if a.Input != nil {
		kept, cut := cleanInput(a.Input, clean)
		if a.Input = json.RawMessage(kept); cut > 0 {
			a.Input = encode(kept)
		}
	}
	return a
}

// deepestClean is how deep a value is cleaned text by text. Deeper values
// become texts, because each level is read again.
const deepestClean = 20

// cleanJSON cleans the texts in a JSON value, which stays valid.
func cleanJSON(raw json.RawMessage, clean func(string) string, depth int) json.RawMessage {
	v := value{raw: bytes.TrimSpace(raw)}
	if depth > deepestClean {
		return encode(clean(string(v.raw)))
	}
	if members, ok := v.members(); ok {
		f := make(fields, len(members))
		for i, m := range members {
			f[i] = member{m.name, value{raw: cleanJSON(m.raw, clean, depth+1)}}
		}
		return f.encode()
	}
	if items, ok := v.items(); ok {
		all := make([]json.RawMessage, len(items))
		for i, item := range items {
			all[i] = cleanJSON(item.raw, clean, depth+1)
		}
		return encode(all)
	}
	var text string
	if v.kind() != '"' || json.Unmarshal(v.raw, &text) != nil {
		return v.raw
	}
	return encode(clean(text))
}
