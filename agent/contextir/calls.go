package contextir

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// plainID matches the call ids that every provider accepts, up to maxID.
var plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]*$`)

const maxID = 64

// wellFormed reports whether every provider accepts a call's name and
// arguments.
func wellFormed(c *llm.ToolCall) bool {
	var object map[string]json.RawMessage
	return llm.ValidToolName(c.Name) && (c.Custom || json.Unmarshal(c.Arguments, &object) == nil && object != nil)
}

func malformed(p llm.Part) bool {
	return p.Kind == llm.PartToolCall && p.Call != nil && !(wellFormed(p.Call) && len(p.Call.WireID) <= maxID && plainID.MatchString(p.Call.WireID))
}

// Malformed reports whether any call has a form that a provider may refuse.
func (c *Conversation) Malformed() bool {
	return slices.ContainsFunc(c.items, func(it Item) bool { return slices.ContainsFunc(it.Message.Parts, malformed) })
}

// CleanCalls replaces calls that a provider may refuse, and their results, by
// text. A call whose id alone is malformed only loses that id.
func (c *Conversation) CleanCalls() {
	asText := map[string]bool{}
	for i := range c.items {
		m := &c.items[i].Message
		if !slices.ContainsFunc(m.Parts, malformed) {
			continue
		}
		m.Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			switch {
			case !malformed(p):
			case wellFormed(p.Call):
				call := *p.Call
				call.WireID = ""
				m.Parts[j] = llm.Part{Kind: llm.PartToolCall, Call: &call}
			default:
				asText[p.Call.ID] = true
				m.Parts[j] = llm.Part{Kind: llm.PartText, Text: fmt.Sprintf("[A call of the tool %q with %s]", p.Call.Name, p.Call.Arguments)}
			}
		}
	}
	for i := range c.items {
		it := &c.items[i]
		if it.Type != ToolResult || !asText[it.Message.Parts[0].Result.CallID] {
			continue
		}
		r := it.Message.Parts[0].Result
		said := llm.Part{Kind: llm.PartText, Text: fmt.Sprintf("[What the call of the tool %q gave back]\n", r.Name)}
		*it = Item{Type: SystemReminder, Message: llm.Message{Role: llm.RoleUser, Parts: append([]llm.Part{said}, r.Parts...)}}
	}
	c.unsettle()
}
