package hooks

import (
	"encoding/json"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// HooksRequest is for hooks.list. The last runs are those of the session, if it is
// named, else those of all sessions of the folder.
type HooksRequest struct {
	Session string `json:"session,omitempty"`
}

// HooksReply lists the hooks of all settings files, in the order in which they
// run, and the files that there are.
type HooksReply struct {
	Files []HookFile `json:"files,omitempty"`
	Hooks []HookRow  `json:"hooks,omitempty"`
}

// HookFile is a settings file.
type HookFile struct {
	Path  string      `json:"path"`
	Scope agent.Scope `json:"scope"`
	Form  HookForm    `json:"form"`
	// Problem says why the file cannot be read; nil if it can.
	Problem *backend.Error `json:"problem,omitempty"`
	// Missing are hooks that guarded calls and cannot be found in the file any more.
	// The calls that they are about are asked about.
	Missing []HookMissing `json:"missing,omitempty"`
	// Findings are about the file rather than one hook: an unknown event, a
	// malformed list.
	Findings []HookFinding `json:"findings,omitempty"`
}

// HookMissing is a hook that cannot be found any more.
type HookMissing struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Gone says that it was taken out while Atelier ran. Revoking the trust in it
	// ends the questions.
	Gone bool `json:"gone,omitempty"`
}

// HookForm is the form in which a file's hooks are written.
type HookForm string

// The forms of hooks.
const (
	FormAgent  HookForm = "agent"  // files in .agent
	FormClaude HookForm = "claude" // files in .claude
)

// HookFinding says what is odd about a hook or a file.
type HookFinding struct {
	// Line is where in the file; 0 if that is unknown.
	Line int    `json:"line,omitempty"`
	ID   string `json:"id"`
	// Args fill the sentence of the id, whose English is Message.
	Args    []string `json:"args,omitempty"`
	Message string   `json:"message"`
	// Harmless says that the hook runs all the same.
	Harmless bool `json:"harmless,omitempty"`
}

// HookRow is a hook where it stands.
type HookRow struct {
	ID     string     `json:"id"`
	Draft  HookDraft  `json:"draft"`
	Origin HookOrigin `json:"origin"`
	State  HookState  `json:"state"`
	// Trust is the id for trust.show; empty for a hook that needs no trust.
	Trust    string        `json:"trust,omitempty"`
	Findings []HookFinding `json:"findings,omitempty"`
	// Last is its newest run; nil if the log has none.
	Last *HookLast `json:"last,omitempty"`
}

// HookDraft is what a hook does, and when. The page sends one to test or save it.
type HookDraft struct {
	Name    string          `json:"name,omitempty"`
	Point   agent.HookPoint `json:"point"`
	Matcher string          `json:"matcher,omitempty"` // empty matches all
	// If is a permission rule, which narrows what the matcher matches.
	If     string     `json:"if,omitempty"`
	Action HookAction `json:"action"`
	// Timeout is in seconds; 0 means the usual one of the file's form.
	Timeout float64 `json:"timeout,omitempty"`
	Async   bool    `json:"async,omitempty"`
	Once    bool    `json:"once,omitempty"`
	Status  string  `json:"status_message,omitempty"`
}

// HookAction is what a hook does.
type HookAction struct {
	Kind HookKind `json:"kind"`
	// Command is a command line, or a program if there are Args.
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Shell   string            `json:"shell,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	// EnvVars are the variables that the headers may name.
	EnvVars []string `json:"allowed_env_vars,omitempty"`
}

// HookKind is a kind of action.
type HookKind string

// The kinds of action.
const (
	KindCommand HookKind = "command"
	KindHTTP    HookKind = "http"
	// KindUnknown stands for every other kind in a file. Such a hook cannot run.
	KindUnknown HookKind = "unknown"
)

// HookOrigin is where a hook stands.
type HookOrigin struct {
	Scope agent.Scope `json:"scope"`
	File  string      `json:"file,omitempty"`
	Line  int         `json:"line,omitempty"`
	Form  HookForm    `json:"form,omitempty"`
}

// HookState says whether a hook runs.
type HookState string

// The states of a hook.
const (
	StateRuns      HookState = "runs"
	StateOff       HookState = "off"       // the user switched it off
	StateForeign   HookState = "foreign"   // it was written for another program, and the user has not switched it on
	StateUntrusted HookState = "untrusted" // it waits for the user's trust
	StateChanged   HookState = "changed"   // it was trusted, and changed since; what it guards is asked about
	StateRefused   HookState = "refused"   // the user does not trust it
	StateBroken    HookState = "broken"    // it cannot run as it is written; its findings say why
)

// HookLast is the newest run of a hook.
type HookLast struct {
	Entry   int64       `json:"entry"`
	At      int64       `json:"at"`
	Outcome HookOutcome `json:"outcome"`
	Session string      `json:"session"`
}

// HookOutcome says what became of a hook that was considered. The values are those
// of package hook.
type HookOutcome string

// The outcomes of a hook.
const (
	OutcomeRan         HookOutcome = "ran"
	OutcomeNotMatched  HookOutcome = "not_matched"
	OutcomeOff         HookOutcome = "off"
	OutcomeUntrusted   HookOutcome = "untrusted"
	OutcomeChanged     HookOutcome = "changed" // it is no longer what was trusted
	OutcomeOnce        HookOutcome = "once"    // it has run in this session, and runs once
	OutcomeDuplicate   HookOutcome = "duplicate"
	OutcomeFailed      HookOutcome = "failed"
	OutcomeTimedOut    HookOutcome = "timed_out"
	OutcomeInterrupted HookOutcome = "interrupted" // the user stopped the turn
	OutcomeStarted     HookOutcome = "started"     // it runs beside the session
)

// HookCause says why a hook was not matched, or why it failed. The detail is in
// the same entry. The values are those of package hook.
type HookCause string

// The causes, and behind each what its detail is.
const (
	CauseMatcher    HookCause = "matcher"     // what the matcher looked at
	CauseRule       HookCause = "rule"        // the rule in "if", which does not match
	CauseBadMatcher HookCause = "bad_matcher" // why it cannot be read
	CauseManyFiles  HookCause = "many_files"  // how many files the call is about
	CauseKind       HookCause = "kind"        // the kind, which cannot run
	CauseStart      HookCause = "start"       // why it did not start
	CauseSignal     HookCause = "signal"      // the number of the signal that ended it
	CauseMissing    HookCause = "missing"     // the shell did not find the program, or may not run it
	CauseExit       HookCause = "exit"        // the exit code, and what the program printed
	CauseOutput     HookCause = "output"      // it printed more than is kept
	CauseJSON       HookCause = "json"        // what is wrong with its answer
	CauseStatus     HookCause = "status"      // the status of the server's answer
	CauseRequest    HookCause = "request"     // why the server could not be asked
	CausePanic      HookCause = "panic"       // what the function said
	CauseFunction   HookCause = "function"    // what the function said
	CauseBusy       HookCause = "busy"        // how many of its kind still run
	CauseUpdate     HookCause = "update"      // why its change of the rules was refused
	CauseView       HookCause = "view"        // it changed an input that is not the call's own
	CauseNotAllowed HookCause = "not_allowed" // the variable that it needs and does not get
)

// HookSwitchRequest is for hooks.switch.
type HookSwitchRequest struct {
	ID string `json:"id"`
	On bool   `json:"on"`
}

// HookLogRequest is for hooks.log: the newest entries before one, 0 for the newest
// of all. The other fields select, where they are not empty.
type HookLogRequest struct {
	Session string          `json:"session,omitempty"`
	Hook    string          `json:"hook,omitempty"`
	Point   agent.HookPoint `json:"point,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Outcome HookOutcome     `json:"outcome,omitempty"`
	CallID  string          `json:"call_id,omitempty"`
	Before  int64           `json:"before,omitempty"`
	Limit   int             `json:"limit,omitempty"` // at most 200, which is also what 0 means
}

// HookLogReply has entries, the newest first.
type HookLogReply struct {
	Entries []HookLogRow `json:"entries,omitempty"`
	More    bool         `json:"more,omitempty"`
	// Kept and KeptInAll are how many entries the log keeps of a session and of
	// all; Lost counts those that could not be kept since the program started.
	Kept      int `json:"kept"`
	KeptInAll int `json:"kept_in_all"`
	Lost      int `json:"lost,omitempty"`
}

// HookLogRow is one hook that was considered.
type HookLogRow struct {
	ID         int64       `json:"id"` // 0 if it was not kept: a test or a replay
	At         int64       `json:"at"`
	Place      HookPlace   `json:"place"`
	Hook       HookRef     `json:"hook"`
	Outcome    HookOutcome `json:"outcome"`
	Cause      HookCause   `json:"cause,omitempty"`
	Detail     string      `json:"detail,omitempty"`
	ExitCode   *int        `json:"exit_code,omitempty"`
	DurationMs int64       `json:"duration_ms"`
	Effect     HookEffect  `json:"effect"`
}

// HookPlace is where in a session a hook was considered.
type HookPlace struct {
	Session string          `json:"session"`
	Point   agent.HookPoint `json:"point"`
	Tool    string          `json:"tool,omitempty"`
	CallID  string          `json:"call_id,omitempty"`
	// File is the file that the run was about, if the call is about several.
	File string `json:"file,omitempty"`
}

// HookRef names a hook as it was then.
type HookRef struct {
	ID      string     `json:"id"`
	Name    string     `json:"name"`
	Matcher string     `json:"matcher,omitempty"`
	Origin  HookOrigin `json:"origin"`
}

// HookEffect is what a hook answered, as far as it counts.
type HookEffect struct {
	Decision agent.Decision `json:"decision,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	// Input is the call's input as the hook changed it.
	Input   string `json:"input,omitempty"`
	Context string `json:"context,omitempty"` // told to the model
	Output  string `json:"output,omitempty"`  // told to the model instead of the result
	// Stopped says that the turn ends, for the reason in Stop.
	Stopped bool              `json:"stopped,omitempty"`
	Stop    string            `json:"stop,omitempty"`
	Said    string            `json:"said,omitempty"`    // to the person and the model
	Message string            `json:"message,omitempty"` // to the person
	Title   string            `json:"title,omitempty"`
	Notice  *agent.HookNotice `json:"notice,omitempty"`
	Rule    *HookRule         `json:"rule,omitempty"`
}

// HookRule is a rule that a hook asked for. It does not hold if the cause of the
// entry is that the change was refused.
type HookRule struct {
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
}

// HookEntryRequest is for hooks.entry.
type HookEntryRequest struct {
	ID int64 `json:"id"`
}

// HookLogEntry is an entry with everything that was said. Cut names the texts of
// which only the beginning was kept: "input", "stdout" or "stderr".
type HookLogEntry struct {
	HookLogRow
	Input  string   `json:"input,omitempty"` // the JSON that the hook was told; empty if it did not run
	Stdout string   `json:"stdout,omitempty"`
	Stderr string   `json:"stderr,omitempty"`
	Cut    []string `json:"cut,omitempty"`
}

// HookReplayRequest is for hooks.replay: the hook of an entry runs again with the
// input of then. If Draft is set, it runs instead. Nothing follows from its answer.
type HookReplayRequest struct {
	Entry int64      `json:"entry"`
	Draft *HookDraft `json:"draft,omitempty"`
}

// HookTestRequest is for hooks.test. Without an input, the hook is told the example
// of its point. Replaces is the hook whose draft it is. Matching leaves it out, as
// OutcomeNotMatched, if it is not about what the input tells of. Nothing follows from
// its answer.
type HookTestRequest struct {
	Draft    HookDraft       `json:"draft"`
	Replaces string          `json:"replaces,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Matching bool            `json:"matching,omitempty"`
}

// HookDryRunRequest is for hooks.dry_run: which past calls of the folder's newest
// sessions the draft would have matched. Run lets it run on the newest of them;
// nothing follows from its answers.
type HookDryRunRequest struct {
	Draft HookDraft `json:"draft"`
	// Replaces is the hook whose draft it is.
	Replaces string `json:"replaces,omitempty"`
	Run      bool   `json:"run,omitempty"`
}

// HookDryRunReply says which calls a draft would have matched.
type HookDryRunReply struct {
	Calls   int `json:"calls"` // that were looked at
	Matched int `json:"matched"`
	// Tools are those of Atelier's tools that the matcher selects.
	Tools []string `json:"tools,omitempty"`
	// Examples are the newest of them, at most 20.
	Examples []HookTriedCall `json:"examples,omitempty"`
	Findings []HookFinding   `json:"findings,omitempty"`
}

// HookTriedCall is a past call that a draft matches.
type HookTriedCall struct {
	Session string `json:"session"`
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Text    string `json:"text"` // the command or the first file, shortened
	At      int64  `json:"at"`
	// Run is what the hook would have answered; nil if it was not run.
	Run *HookLogEntry `json:"run,omitempty"`
}

// HookSaveRequest is for hooks.save and hooks.preview: a draft is added to the file of a scope, or
// takes the place of a hook.
type HookSaveRequest struct {
	Scope    agent.Scope `json:"scope,omitempty"` // not needed if it replaces one
	Draft    HookDraft   `json:"draft"`
	Replaces string      `json:"replaces,omitempty"`
}

// HookPreviewReply answers hooks.preview.
type HookPreviewReply struct {
	JSON string `json:"json"`
}

// HookRemoveRequest is for hooks.remove.
type HookRemoveRequest struct {
	ID string `json:"id"`
}

// HookPointsReply answers hooks.points.
type HookPointsReply struct {
	Points []HookPointInfo `json:"points,omitempty"`
}

// HookPointInfo says what hooks of a point are told and may answer.
type HookPointInfo struct {
	Point agent.HookPoint `json:"point"`
	Event string          `json:"event"` // its name in settings files
	// Matches is the member of the input that a matcher is compared with; empty if
	// the point has no matcher.
	Matches string          `json:"matches,omitempty"`
	Example json.RawMessage `json:"example"`
	Answers []HookPower     `json:"answers,omitempty"`
	// Blocks says that exit code 2 prevents what is about to happen.
	Blocks bool `json:"blocks,omitempty"`
}

// HookPower is something that hooks of a point can do. The values are those of
// package hook.
type HookPower string

// The powers.
const (
	PowerDeny    HookPower = "deny"
	PowerAsk     HookPower = "ask"
	PowerAllow   HookPower = "allow"
	PowerInput   HookPower = "input"   // change the call's input
	PowerOutput  HookPower = "output"  // replace what the model is told of a result
	PowerContext HookPower = "context" // tell the model something
	PowerEnd     HookPower = "end"     // end the turn
)

// HookTemplatesReply answers hooks.templates.
type HookTemplatesReply struct {
	Templates []HookTemplate `json:"templates,omitempty"`
}

// HookTemplate is a hook to begin with. The page has a name for each id. Example is an
// input for which it does something.
type HookTemplate struct {
	ID      HookTemplateID  `json:"id"`
	Draft   HookDraft       `json:"draft"`
	Example json.RawMessage `json:"example"`
}

// HookTemplateID names a template.
type HookTemplateID string

// The templates.
const (
	TemplateFormat  HookTemplateID = "format"  // format a file after an edit
	TemplateSecrets HookTemplateID = "secrets" // keep tools away from .env
	TemplateNotify  HookTemplateID = "notify"  // show a notice when a turn ends
	TemplateTests   HookTemplateID = "tests"   // run the tests before a turn ends
)
