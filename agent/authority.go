package agent

// Authority says what decided about a call, so that the decision can be
// explained and made stricter afterwards (OAS-630).
type Authority struct {
	Decision Decision   `json:"decision"` // allow or deny
	By       Authoriser `json:"by"`
	// Mode is the permission mode at the time.
	Mode Mode `json:"mode"`
	// Reason is the verdict's sentence; Code and Args say the same for
	// translation, if they are set.
	Reason string     `json:"reason,omitempty"`
	Code   ReasonCode `json:"code,omitempty"`
	Args   []string   `json:"args,omitempty"`
	// Rule is the rule that decided, or that led to the question.
	Rule *RuleRef `json:"rule,omitempty"`
	// Hook is the hook that decided, or that led to the question.
	Hook *HookSource `json:"hook,omitempty"`
	// Approval is the id of the request that a person answered.
	Approval string `json:"approval,omitempty"`
}

// Authoriser is what decided about a call.
type Authoriser string

// The authorisers.
const (
	ByMode     Authoriser = "mode"     // the permission mode and the checks that hold in every mode
	ByRule     Authoriser = "rule"     // a rule of the user, the project or the session
	ByHook     Authoriser = "hook"     // a hook
	BySkill    Authoriser = "skill"    // a skill in use, which allows only some tools
	ByCallback Authoriser = "callback" // a function of the program that uses the library
	ByPerson   Authoriser = "person"   // a person's answer
)

// RuleRef names a rule as it stood when it decided.
type RuleRef struct {
	// Text is the rule as it is written, such as "Bash(git status)".
	Text string `json:"text"`
	// Decision is what the rule wants.
	Decision Decision `json:"decision"`
	// Scope says where the rule stands.
	Scope Scope `json:"scope"`
}

// HookSource names a hook and the settings file where it stands.
type HookSource struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"` // empty for a function of the program
}

// authority returns the record of a verdict that was not left to a person.
func (v Verdict) authority(mode Mode) *Authority {
	a := &Authority{Decision: v.Decision, By: v.By, Mode: mode, Reason: v.Reason, Code: v.Code, Args: v.Args, Rule: v.Rule, Hook: v.Hook}
	if a.By == "" {
		a.By = ByMode
	}
	return a
}
