package agentdef

import (
	"atelier.dev/atelier/agent"

	"atelier.dev/atelier/internal/text"
)

// FindingID names what is wrong with a definition.
type FindingID string

// The findings.
const (
	FindingUnread      FindingID = "agent_unread"
	FindingFront       FindingID = "agent_front"
	FindingYAML        FindingID = "agent_yaml"
	FindingNoFront     FindingID = "agent_no_front"
	FindingName        FindingID = "agent_name"
	FindingDescription FindingID = "agent_description"
	FindingTool        FindingID = "agent_tool"
	FindingNoTools     FindingID = "agent_no_tools"
	FindingTools       FindingID = "agent_tools"
	FindingMode        FindingID = "agent_mode"
	FindingValue       FindingID = "agent_value"
	FindingNoEffect    FindingID = "agent_no_effect"
	FindingHooks       FindingID = "agent_hooks"
	FindingNameTwice   FindingID = "agent_name_twice"
)

// sentences says what each finding means.
var sentences = map[FindingID]string{
	FindingUnread:      "The file cannot be read: {0}.",
	FindingFront:       "The frontmatter is longer than 64 KB or 1000 lines, and the file was not read.",
	FindingYAML:        "The frontmatter is not valid YAML: {0}. It was read line by line instead.",
	FindingNoFront:     "The file does not begin with frontmatter, so it is no agent.",
	FindingName:        "The name {0} cannot be an agent's: it is empty, begins with - or has a colon or characters that cannot be seen.",
	FindingDescription: "There is no description, so no model can tell when to use the agent.",
	FindingTool:        "{0} is not the name of a tool, so no call matches it.",
	FindingNoTools:     "{0} names no tool that is known, so the agent could call none and is not offered.",
	FindingTools:       "The list of tools is too long; its last {0} entries do not count.",
	FindingMode:        "{0} is not a permission mode. The agent works in the mode plan.",
	FindingValue:       "The value of {0} cannot be used: {1}.",
	FindingNoEffect:    "The key {0} has no effect here.",
	FindingHooks:       "The hooks cannot be read, so the agent is not offered: it would run without what they guard.",
	FindingNameTwice:   "The name {0} is used again by {1}, which is used instead.",
}

// Sentences returns what each finding means, for those who word it in other languages.
func Sentences() map[FindingID]string { return sentences }

// Finding is something wrong with a definition.
type Finding struct {
	ID   FindingID `json:"id"`
	Line int       `json:"line,omitempty"` // 0 for all of the file
	// Message says it in English. Args fill the page's own words.
	Message string   `json:"message"`
	Args    []string `json:"args,omitempty"`
	// Breaks says that the definition is not used.
	Breaks bool `json:"breaks,omitempty"`
}

// maxFindings limits the findings of one file, and maxArg their arguments, in bytes.
const maxFindings, maxArg = 100, 200

func (d *Definition) find(id FindingID, line int, args ...string) { d.add(id, line, false, args) }

// fail adds a finding after which the definition is not used.
func (d *Definition) fail(id FindingID, line int, args ...string) { d.add(id, line, true, args) }

func (d *Definition) add(id FindingID, line int, breaks bool, args []string) {
	if len(d.Findings) >= maxFindings && !breaks {
		return
	}
	for i, a := range args {
		args[i] = text.Clip(a, maxArg)
	}
	d.Findings = append(d.Findings, Finding{ID: id, Line: line, Message: agent.Fill(sentences[id], args), Args: args, Breaks: breaks})
}
