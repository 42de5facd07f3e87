package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// SkillUse says that a skill or a command from a file was begun. While it is in use,
// only its tools may be called, and its model answers.
type SkillUse struct {
	Name string `json:"name"`
	// File is where it stands, as it is shown; empty for a built-in one.
	File string `json:"file,omitempty"`
	Args string `json:"args,omitempty"`
	// Limited says that only Tools may be called, none if the list is empty. They are
	// names and patterns as permission rules have them, such as Bash(git *).
	Limited bool     `json:"limited,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	// Approved are calls, written like Tools, about which a person is not asked.
	Approved []string `json:"approved,omitempty"`
	// Denied may not be called.
	Denied []string `json:"denied,omitempty"`
	// Provider and Model answer instead of the session's while the skill is in use,
	// with Effort; empty leaves each to the session.
	Provider string     `json:"provider,omitempty"`
	Model    string     `json:"model,omitempty"`
	Effort   llm.Effort `json:"effort,omitempty"`
	// ByUser says that a person began it. It is in use until their next input, and no
	// model ends it.
	ByUser bool `json:"by_user,omitempty"`
	// Agent says that these are the limits of an agent's definition, and no skill. They hold
	// whatever skill is in use.
	Agent bool `json:"agent,omitempty"`
	// Ended says that the skill, which a model had begun, ends here.
	Ended bool `json:"ended,omitempty"`
}

// MaxSkillDepth limits how many skills may be in use inside each other.
const MaxSkillDepth = 4

// SkillEnder is implemented by the tool with which a model ends a skill. Such a call is
// never refused for a skill's limits, because it widens nothing: the skill around it
// holds again, or what held before.
type SkillEnder interface {
	EndsSkill(input json.RawMessage) bool
}

// Matcher is implemented by gates that know whether a permission rule's pattern, such as
// "Bash(git *)", is about a call. A pattern that allows has to match all of the call.
// Without a Matcher a pattern is the name of a tool, and matches nothing else.
type Matcher interface {
	Matches(pattern string, decision Decision, call GateCall) bool
}

// After returns the skills in use, the outermost first, once one of them began or
// ended. It does not change those before.
func (u SkillUse) After(skills []SkillUse) []SkillUse {
	n := len(skills)
	switch {
	case !u.Ended && n < MaxSkillDepth:
		return append(slices.Clip(skills), u)
	case u.Ended && n > 0 && !skills[n-1].ByUser:
		return skills[:n-1]
	}
	return skills
}

// Skills returns the skills in use, the outermost first. Callers must not change it.
func (t *Transcript) Skills() []SkillUse { return t.past.skills }

// Limits reports whether the skill keeps any tool from being called.
func (u SkillUse) Limits() bool { return u.Limited || len(u.Denied) > 0 }

// effective returns the settings that hold for the next request: the session's, with the
// model of the innermost skill that names one.
func (t *Transcript) effective() Settings {
	set := t.Settings
	for _, use := range t.past.skills {
		if use.Model != "" {
			set.Provider, set.Model = use.Provider, use.Model
		}
		if use.Effort != "" {
			set.Effort = use.Effort
		}
	}
	return set
}

// outsideSkill returns the verdict about a call that the skills in use do not allow: the innermost skill decides about what only reads, and every one of them
// about anything else. The limits of an agent's definition hold for all calls.
func (t *turn) outsideSkill(c *ready, call GateCall) (Verdict, bool) {
	used := &t.session.transcript.past.used
	skills := slices.Concat(used.within, used.skills)
	if e, ok := c.tool.(SkillEnder); ok {
		ends := false
		if broken := protect(c.spec.Name, func() { ends = e.EndsSkill(call.Input) }); broken == "" && ends {
			return Verdict{}, false
		}
	}
	for i, use := range slices.Backward(skills) {
		if i < len(skills)-1 && !use.Agent && (call.ReadOnly || call.Access.OnlyReads) {
			continue
		}
		if !t.allowedBy(use, call) {
			v := Because(Deny, ReasonSkill, use.Name, use.allowed())
			if use.Agent {
				v = Because(Deny, ReasonAgent, use.Name, use.allowed())
			}
			v.By, v.Final = BySkill, true
			return v, true
		}
	}
	return Verdict{}, false
}

// allowedBy reports whether a skill allows a call. Denied outweighs Tools.
func (t *turn) allowedBy(use SkillUse, call GateCall) bool {
	return !t.matches(use.Denied, Deny, call) && (!use.Limited || t.matches(use.Tools, Allow, call))
}

// matches reports whether one of a skill's patterns is about a call.
func (t *turn) matches(patterns []string, d Decision, call GateCall) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if m, ok := t.session.cfg.Gate.(Matcher); ok {
			return m.Matches(pattern, d, call)
		}
		return pattern == call.Tool
	})
}

// approvedBySkill answers a question of the mode for which a skill in use has an approval
// in advance (K-46). A rule's question, and one that a person answers each time, stays; in
// plan mode nothing is approved.
func (t *turn) approvedBySkill(call GateCall, v Verdict) Verdict {
	if v.Decision != Ask || v.Final || v.EachTime || v.Rule != nil || call.Mode == ModePlan {
		return v
	}
	for _, use := range slices.Backward(t.session.transcript.past.used.skills) {
		if t.matches(use.Approved, Allow, call) {
			approved := Because(Allow, ReasonSkillApproved, use.Name)
			approved.By = BySkill
			return approved
		}
	}
	return v
}

// allowed writes the tools of a skill into a sentence.
func (u SkillUse) allowed() string {
	const most = 20
	switch {
	case !u.Limited:
		return "all but " + strings.Join(u.Denied[:min(len(u.Denied), most)], ", ")
	case len(u.Tools) == 0:
		return "none"
	}
	return strings.Join(u.Tools[:min(len(u.Tools), most)], ", ")
}
