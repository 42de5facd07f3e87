package guard

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
)

// RulesRequest is for permissions.rules. The rules of a session are listed if it
// is named.
type RulesRequest struct {
	Session string `json:"session,omitempty"`
}

// RulesReply lists the rules of all scopes, and the files that there are.
type RulesReply struct {
	Rules []RuleEntry    `json:"rules,omitempty"`
	Files []SettingsFile `json:"files,omitempty"`
}

// RuleEntry is a rule where it stands.
type RuleEntry struct {
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
	Scope    agent.Scope    `json:"scope"`
	// Expires is when it ends, in milliseconds since 1970; 0 means never.
	Expires int64     `json:"expires,omitempty"`
	State   RuleState `json:"state"`
	Words   RuleWords `json:"words"`
	// File and Line say where it stands; the file is empty for a session's rule.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Problem says why it cannot be read; nil if it can.
	Problem *backend.Error `json:"problem,omitempty"`
}

// RuleWords say what a rule is about.
type RuleWords struct {
	Means rule.Meaning `json:"means"`
	// Of is what the meaning is about: a command, a pattern or a name.
	Of string `json:"of,omitempty"`
	// TooWide says that it allows nearly everything.
	TooWide bool `json:"too_wide,omitempty"`
}

// RuleState says whether a rule holds.
type RuleState string

// The states of a rule.
const (
	StateHolds      RuleState = "holds"
	StateExpired    RuleState = "expired"
	StateUnaccepted RuleState = "unaccepted" // it allows, in a file that the user has not accepted
	StateUnreadable RuleState = "unreadable" // if it denies or asks, commands are asked about instead
)

// SettingsFile is a file with rules.
type SettingsFile struct {
	Path  string      `json:"path"`
	Scope agent.Scope `json:"scope"`
	// Problem says why nothing of it holds; nil if it can be read.
	Problem *backend.Error `json:"problem,omitempty"`
	// Unknown names what its settings of the sandbox have that means nothing here.
	Unknown []string `json:"unknown,omitempty"`
	// Unaccepted counts the rules that allow something and wait until the user
	// accepts them. Sandbox is the text of its settings of the sandbox if they wait as well.
	Unaccepted int    `json:"unaccepted,omitempty"`
	Sandbox    string `json:"sandbox,omitempty"`
	// Seal stands for what would be accepted, for permissions.accept.
	Seal string `json:"seal,omitempty"`
}

// AddRequest is for permissions.add. Session is needed for its own scope.
type AddRequest struct {
	Session  string         `json:"session,omitempty"`
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
	Scope    agent.Scope    `json:"scope"`
	Expires  int64          `json:"expires,omitempty"`
	// Ended keeps the rule as one that has just ended, whatever Expires says.
	Ended bool `json:"ended,omitempty"`
}

// RemoveRequest is for permissions.remove, with what permissions.rules said of the
// rule.
type RemoveRequest struct {
	Session  string         `json:"session,omitempty"`
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
	Scope    agent.Scope    `json:"scope"`
	File     string         `json:"file,omitempty"`
}

// AcceptRequest is for permissions.accept. The seal is that of the file as it was
// shown; another one is refused.
type AcceptRequest struct {
	Path string `json:"path"`
	Seal string `json:"seal"`
}

// TryRequest is for permissions.try. Rule may be several rules, one a line. Session
// and Approval, if set, name a pending request that they are compared with as well.
type TryRequest struct {
	Rule     string         `json:"rule"`
	Decision agent.Decision `json:"decision"`
	Session  string         `json:"session,omitempty"`
	Approval string         `json:"approval,omitempty"`
}

// TryReply says which of the folder's newest calls a rule would have matched.
type TryReply struct {
	Words RuleWords `json:"words"`
	Calls int       `json:"calls"` // that were looked at
	// Matched counts those that the rule matches. Asked of them were asked about,
	// and Outside of them touch something outside the project.
	Matched int `json:"matched"`
	Asked   int `json:"asked"`
	Outside int `json:"outside"`
	// Misses says that the rules do not decide about the pending request.
	Misses bool `json:"misses,omitempty"`
	// Examples are a few of them, those outside the project first.
	Examples []TriedCall `json:"examples,omitempty"`
}

// TriedCall is a past call that a rule matches.
type TriedCall struct {
	Session string `json:"session"`
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	// Text is the command or the first file, shortened.
	Text    string `json:"text"`
	At      int64  `json:"at"`
	Asked   bool   `json:"asked,omitempty"`
	Outside bool   `json:"outside,omitempty"`
}

// SuggestRequest is for permissions.suggest.
type SuggestRequest struct {
	Session  string `json:"session"`
	Approval string `json:"approval"`
}

// SuggestReply has rules that would allow the pending call, narrowest first. Each of
// Rules does so alone; Parts do so together, one for each part of a command line.
type SuggestReply struct {
	Rules []SuggestedRule `json:"rules,omitempty"`
	Parts []SuggestedRule `json:"parts,omitempty"`
}

// SuggestedRule is a rule and what it is about.
type SuggestedRule struct {
	Rule  string    `json:"rule"`
	Words RuleWords `json:"words"`
}
