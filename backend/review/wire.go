package review

import "atelier.dev/atelier/agent"

// TrustReply answers trust.list: everything that the folder can make Atelier run.
type TrustReply struct {
	Items []TrustRow `json:"items,omitempty"`
	// More says that a file has more hooks or servers than are read, which do not run.
	More bool `json:"more,omitempty"`
}

// TrustRow is something that the folder can make Atelier run.
type TrustRow struct {
	ID      string      `json:"id"`
	Kind    string      `json:"kind"` // "hook" or "server"
	Title   string      `json:"title"`
	Scope   agent.Scope `json:"scope"`
	Origin  string      `json:"origin"` // the file where it stands
	Line    int         `json:"line,omitempty"`
	Command string      `json:"command"` // or what else it does, on one line
	State   TrustState  `json:"state"`
	Files   []string    `json:"files,omitempty"` // of the project, that are checked with it
	Notes   []TrustNote `json:"notes,omitempty"`
	// Blocked says that it cannot be accepted, for a reason in the notes.
	Blocked bool `json:"blocked,omitempty"`
}

// TrustNote is something that a person who decides should know. Args fill the
// sentence of the id, whose English is Message.
type TrustNote struct {
	ID      string   `json:"id"`
	Args    []string `json:"args,omitempty"`
	Message string   `json:"message"`
}

// TrustState says what the user decided.
type TrustState string

// The states of trust.
const (
	TrustUnknown  TrustState = "unknown"
	TrustAccepted TrustState = "trusted"
	TrustChanged  TrustState = "changed"
	TrustRefused  TrustState = "refused"
	TrustGone     TrustState = "gone" // it was trusted, and no longer exists
)

// TrustRequest is for trust.show, trust.refuse and trust.revoke.
type TrustRequest struct {
	ID string `json:"id"`
}

// TrustShown is what would run, as it stands now. The seal stands for exactly that.
type TrustShown struct {
	TrustRow
	Seal  string      `json:"seal"`
	Texts []TrustText `json:"texts,omitempty"`
}

// TrustText is the definition, or a file that a command names.
type TrustText struct {
	Path string `json:"path"` // empty for the definition
	Text string `json:"text"` // as it is now; empty if it is gone
	// Diff is the difference from what was trusted; empty if nothing was, or if
	// nothing changed.
	Diff string `json:"diff,omitempty"`
	// Omitted says why the text is not shown.
	Omitted TrustOmission `json:"omitted,omitempty"`
}

// TrustOmission says why a text is not shown.
type TrustOmission string

// The omissions.
const (
	OmittedBinary  TrustOmission = "binary"
	OmittedLong    TrustOmission = "long"
	OmittedMissing TrustOmission = "missing" // there is no such file
	OmittedOutside TrustOmission = "outside" // a link leads out of the project
	OmittedSpecial TrustOmission = "special" // it is not a file that can be read
)

// TrustAcceptRequest is for trust.accept. The seal is that of trust.show; another
// one is refused.
type TrustAcceptRequest struct {
	ID   string `json:"id"`
	Seal string `json:"seal"`
}
