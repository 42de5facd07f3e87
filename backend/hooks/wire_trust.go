package hooks

import "atelier.dev/atelier/agent"

// TrustReply answers trust.list: everything that the folder can make Atelier run.
type TrustReply struct {
	Items []TrustRow `json:"items,omitempty"`
}

// TrustRow is something that the folder can make Atelier run.
type TrustRow struct {
	ID      string      `json:"id"`
	Kind    string      `json:"kind"` // "hook"
	Title   string      `json:"title"`
	Scope   agent.Scope `json:"scope"`
	Origin  string      `json:"origin"` // the file where it stands
	Line    int         `json:"line,omitempty"`
	Command string      `json:"command"`
	State   TrustState  `json:"state"`
	Files   []string    `json:"files,omitempty"` // of the project, that the command names
}

// TrustState says what the user decided.
type TrustState string

// The states of trust.
const (
	TrustUnknown  TrustState = "unknown"
	TrustAccepted TrustState = "trusted"
	TrustChanged  TrustState = "changed"
	TrustRefused  TrustState = "refused"
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
	// Cut says why not everything is here; such an item cannot be accepted.
	Cut string `json:"cut,omitempty"`
}

// TrustText is the definition, or a file that a command names.
type TrustText struct {
	Path string `json:"path"` // empty for the definition
	Text string `json:"text"` // as it is now; empty if it is gone
	// Diff is the difference from what was trusted; empty if nothing was, or if
	// nothing changed.
	Diff string `json:"diff,omitempty"`
	// Omitted says why the text is not shown: it is binary, or too long.
	Omitted string `json:"omitted,omitempty"`
}

// TrustAcceptRequest is for trust.accept. The seal is that of trust.show; another
// one is refused.
type TrustAcceptRequest struct {
	ID   string `json:"id"`
	Seal string `json:"seal"`
}
