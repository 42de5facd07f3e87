package hook

import (
	"encoding/json"

	"atelier.dev/atelier/agent"
)

// Answer is what a hook says (OAS-668, COM-80). A point ignores what it cannot
// use.
type Answer struct {
	Decision agent.Decision `json:"decision,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	// Input replaces the call's input.
	Input json.RawMessage `json:"input,omitempty"`
	// Output replaces what the model is told of a result.
	Output *string `json:"output,omitempty"`
	// Context is told to the model, Message shown to the user, and Said both.
	Context string            `json:"context,omitempty"`
	Message string            `json:"message,omitempty"`
	Said    string            `json:"said,omitempty"`
	Notice  *agent.HookNotice `json:"notice,omitempty"`
	Update  *PermissionUpdate `json:"update,omitempty"`
	// Stopped ends the turn, and Stop says why.
	Stopped bool   `json:"stopped,omitempty"`
	Stop    string `json:"stop,omitempty"`
	// Title names the session.
	Title string `json:"title,omitempty"`
}
