package gemini

import (
	"encoding/json"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// lower lowers a request. Equal prefixes of two conversations give equal bytes
// (LLM-17).
func lower(req llm.Request, origin llm.Origin) map[string]any {
	instructions, history := wire.Instructions(req)
	c := settings(req, instructions)
	body := map[string]any{"contents": contents(req, history, origin), "generationConfig": c.Generation}
	if c.System != nil {
		body["systemInstruction"] = c.System
	}
	if c.Tools != (toolConfig{}) {
		body["toolConfig"] = c.Tools
	}
	if len(req.Tools)+len(req.Options.Tools) > 0 {
		body["tools"] = tools(req.Tools, req.Options.Tools)
	}
	for name, value := range req.Body {
		body[name] = value
	}
	return body
}

// settings lowers everything but the conversation and the tools.
func settings(req llm.Request, instructions []string) config {
	var c config
	c.Generation.MaxOutput, c.Generation.Thinking = max(0, req.MaxOutput), thinking(req)
	if len(instructions) > 0 {
		c.System = &system{Role: roleUser}
		for _, text := range instructions {
			c.System.Parts = append(c.System.Parts, textPart{text})
		}
	}
	options(&c, req.Options)
	// Google's own tools can be combined with ours only if the answer includes
	// their calls and results, which are sent back unchanged.
	c.Tools.ShowOwn = len(req.Tools) > 0 && len(req.Options.Tools) > 0
	return c
}

// contents lowers a conversation.
func contents(req llm.Request, history []llm.Message, origin llm.Origin) []content {
	// Models up to 2.5 have a thinking budget; later ones sign calls and accept
	// media in a result.
	l := lowerer{origin: origin, later: !req.Reasoning.Has(llm.ReasoningBudget)}
	out := []content{}
	for _, turn := range wire.Turns(origin, history, l.parts) {
		role := roleUser
		if turn.Assistant {
			role = roleModel
		}
		out = append(out, content{role, turn.Items()})
	}
	return out
}

// tools sends the schemas' own bytes, then Google's own tools.
func tools(specs []llm.ToolSpec, own []json.RawMessage) []any {
	type declaration struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"parametersJsonSchema"`
	}
	var list struct {
		Declarations []declaration `json:"functionDeclarations"`
	}
	for _, s := range specs {
		list.Declarations = append(list.Declarations, declaration{s.Name, s.Description, s.Schema})
	}
	var all []any
	if len(specs) > 0 {
		all = append(all, list)
	}
	for _, tool := range own {
		all = append(all, tool)
	}
	return all
}

// thinking requests as much thinking as the effort demands, in the form that
// the model accepts. For an unknown model it requests it only if the user chose
// an effort.
func thinking(req llm.Request) *thinkingConfig {
	c, effort := req.Reasoning, req.Effort
	config := &thinkingConfig{Include: true}
	switch {
	case c.Has(llm.ReasoningBudget) && effort == llm.EffortNone:
		least := c.MinBudget
		if c.Has(llm.ReasoningToggle) {
			least = 0
		}
		config.Include, config.Budget = least > 0, &least
	case c.Has(llm.ReasoningBudget):
		if budget := req.ThinkingBudget(req.MaxOutput); budget > 0 {
			config.Budget = &budget
		}
	case c.Has(llm.ReasoningEffort), c.Has(llm.ReasoningAdaptive), !c.Known() && effort != llm.EffortDefault && effort != llm.EffortNone:
		config.Level = level(c.Level(effort))
	default:
		return nil
	}
	return config
}

func level(e llm.Effort) string {
	switch e {
	case llm.EffortDefault:
		return ""
	case llm.EffortNone, llm.EffortMinimal:
		return "MINIMAL"
	case llm.EffortLow:
		return "LOW"
	case llm.EffortMedium:
		return "MEDIUM"
	default:
		return "HIGH"
	}
}

// unsigned replaces the signature of a call that this model did not make,
// because a call without one would be refused.
const unsigned = "skip_thought_signature_validator"

// lowerer lowers the messages of one conversation to parts.
type lowerer struct {
	origin llm.Origin
	later  bool
}

// parts lowers one message. Results come before other parts (LLM-40).
func (l lowerer) parts(m llm.Message, ids *wire.IDs) (results, others []any) {
	if m.Role == llm.RoleAssistant {
		return nil, l.answered(m, ids)
	}
	return l.said(m, ids)
}

// answered lowers an answer. Signed parts are sent back verbatim to their
// origin; reasoning of another origin is dropped (LLM-28). Of parallel calls
// only the first one is signed.
func (l lowerer) answered(m llm.Message, ids *wire.IDs) []any {
	var parts []any
	same, called := m.Origin.Same(l.origin), false
	for _, p := range m.Parts {
		isCall := p.Kind == llm.PartToolCall && p.Call != nil
		switch {
		case same && len(p.Native) > 0 && (!isCall || ids.Verbatim(p.Call)):
			parts = append(parts, p.Native)
		case p.Kind == llm.PartText && p.Text != "":
			parts = append(parts, textPart{p.Text})
		case isCall:
			c := callPart{Call: functionCall{ID: ownID(ids, p.Call.ID), Name: wire.CallName(p.Call.Name), Args: wire.Arguments(p.Call)}}
			if l.later && !called {
				c.Signature = unsigned
			}
			parts = append(parts, c)
		}
		called = called || isCall
	}
	return parts
}

// ownID returns the provider's own id of a call, the only one that it accepts.
func ownID(ids *wire.IDs, call string) string {
	if id := ids.Call(call); id != call {
		return id
	}
	return ""
}

// said lowers a user's text and attachments, and tool results.
func (l lowerer) said(m llm.Message, ids *wire.IDs) (results, others []any) {
	results, others = l.results(m, ids)
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			others = append(others, textPart{p.Text})
		case p.Kind == llm.PartMedia && p.Media != nil:
			others = append(others, media(p.Media))
		}
	}
	return results, others
}

// results lowers the results of tool calls, and parts that cannot be inside one
// of them (LLM-52).
func (l lowerer) results(m llm.Message, ids *wire.IDs) (results, shown []any) {
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult || p.Result == nil {
			continue
		}
		r := functionResponse{ID: ownID(ids, p.Result.CallID), Name: wire.CallName(p.Result.Name)}
		key, text := "output", llm.Message{Parts: p.Result.Parts}.Text()
		if p.Result.IsError {
			key = "error"
		}
		if text == "" {
			text = "(no output)"
		}
		r.Response = map[string]string{key: text}
		for _, m := range wire.ResultMedia(p.Result) {
			if l.later && carried(m) && len(m.Data) > 0 {
				r.Parts = append(r.Parts, inline(m))
				continue
			}
			shown = append(shown, textPart{"Returned by the tool " + p.Result.Name + ":"}, media(m))
		}
		results = append(results, resultPart{r})
	}
	return results, shown
}

// carried reports whether the API accepts m, which must be an image, a sound or
// a PDF.
func carried(m *llm.Media) bool {
	return wire.IsImage(m) || strings.HasPrefix(m.MIME, "audio/") || m.MIME == "application/pdf"
}

func media(m *llm.Media) any {
	switch {
	case !carried(m):
		return textPart{wire.Omitted(m)}
	case m.URL != "":
		return mediaPart{File: &file{m.URL, m.MIME}}
	default:
		return inline(m)
	}
}

func inline(m *llm.Media) mediaPart { return mediaPart{Inline: &blob{m.Data, m.MIME}} }
