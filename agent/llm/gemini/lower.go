package gemini

import (
	"encoding/json"
	"strings"

	"google.golang.org/genai"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// config lowers a request. It belongs to one request: the SDK changes it.
// Equal prefixes of two requests give equal bytes (LLM-17).
func config(req llm.Request, origin llm.Origin) (*genai.GenerateContentConfig, []member) {
	instructions, rest := wire.Instructions(req)
	c := &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(max(0, req.MaxOutput), 1<<30)),
		ThinkingConfig:  thinking(req),
		// The SDK would go on by itself, unseen, where an answer pauses.
		AutomaticContinuation: new(false),
	}
	if len(instructions) > 0 {
		c.SystemInstruction = &genai.Content{}
		for _, text := range instructions {
			c.SystemInstruction.Parts = append(c.SystemInstruction.Parts, &genai.Part{Text: text})
		}
	}
	options(c, req.Options)
	all := merge(members(req, rest, origin), req.Body)
	c.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
		delete(body, "contents") // the placeholder
		for _, m := range all {
			delete(body, m.name)
		}
		return body
	}}
	return c, all
}

// members are what goes past the SDK: the conversation and the tools.
func members(req llm.Request, rest []llm.Message, origin llm.Origin) []member {
	// Models up to 2.5 have a budget for thinking; later ones sign calls and
	// take media inside a result.
	l := lowerer{origin: origin, later: !req.Reasoning.Has(llm.ReasoningBudget), sent: map[string]string{}}
	out := []member{{"contents", wire.JSON(l.contents(rest))}}
	if len(req.Tools) > 0 {
		out = append(out, member{"tools", tools(req.Tools)})
	}
	return out
}

// tools sends the schemas' own bytes.
func tools(specs []llm.ToolSpec) json.RawMessage {
	type declaration struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"parametersJsonSchema"`
	}
	var list struct {
		Declarations []declaration `json:"functionDeclarations"`
	}
	for _, s := range specs {
		list.Declarations = append(list.Declarations, declaration(s))
	}
	return wire.JSON([]any{list})
}

// thinking asks for as much of it as the request's effort wants, in the way
// that the model takes. Of a model that nothing is known of, it is asked for
// only where the user chose an effort.
func thinking(req llm.Request) *genai.ThinkingConfig {
	c, effort := req.Reasoning, req.Effort
	config := &genai.ThinkingConfig{IncludeThoughts: true}
	switch {
	case c.Has(llm.ReasoningBudget) && effort == llm.EffortNone:
		least := int32(c.MinBudget)
		if c.Has(llm.ReasoningToggle) {
			least = 0
		}
		config.IncludeThoughts, config.ThinkingBudget = least > 0, &least
	case c.Has(llm.ReasoningBudget):
		if budget := int32(req.ThinkingBudget(req.MaxOutput)); budget > 0 {
			config.ThinkingBudget = &budget
		}
	case c.Has(llm.ReasoningEffort), c.Has(llm.ReasoningAdaptive), !c.Known() && effort != llm.EffortDefault && effort != llm.EffortNone:
		config.ThinkingLevel = level(c.Level(effort))
	default:
		return nil
	}
	return config
}

func level(e llm.Effort) genai.ThinkingLevel {
	switch e {
	case llm.EffortDefault:
		return ""
	case llm.EffortNone, llm.EffortMinimal:
		return genai.ThinkingLevelMinimal
	case llm.EffortLow:
		return genai.ThinkingLevelLow
	case llm.EffortMedium:
		return genai.ThinkingLevelMedium
	default:
		return genai.ThinkingLevelHigh
	}
}

// turn is a content of the API. A part is one of the SDK's or JSON.
type turn struct {
	Role  genai.Role `json:"role"`
	Parts []any      `json:"parts"`
}

// unsigned stands for the signature of a call that this model did not make.
// Without one, a call would be refused.
const unsigned = "skip_thought_signature_validator"

type callPart struct {
	Call      functionCall `json:"functionCall"`
	Signature string       `json:"thoughtSignature,omitempty"`
}

// lowerer lowers one conversation.
type lowerer struct {
	origin llm.Origin
	later  bool
	sent   map[string]string // the provider's ids of its own calls
}

// contents lowers a conversation to turns that alternate.
func (l *lowerer) contents(history []llm.Message) []turn {
	var turns []turn
	for _, m := range history {
		role, parts := genai.Role(genai.RoleUser), l.said(m)
		if m.Role == llm.RoleAssistant {
			role, parts = genai.RoleModel, l.answered(m)
		}
		if len(parts) == 0 {
			continue
		}
		if last := len(turns) - 1; last >= 0 && turns[last].Role == role {
			turns[last].Parts = append(turns[last].Parts, parts...)
			continue
		}
		turns = append(turns, turn{Role: role, Parts: parts})
	}
	return turns
}

// answered lowers an answer. What was signed goes back to where it came from,
// verbatim; of another's answer, reasoning is dropped (LLM-28). Of calls that
// were made side by side only the first is signed.
func (l *lowerer) answered(m llm.Message) []any {
	var parts []any
	same, called := m.Origin.Same(l.origin), false
	for _, p := range m.Parts {
		isCall := p.Kind == llm.PartToolCall && p.Call != nil
		switch {
		case same && len(p.Native) > 0:
			parts = append(parts, p.Native)
			if isCall {
				l.sent[p.Call.ID] = p.Call.WireID
			}
		case p.Kind == llm.PartText && p.Text != "":
			parts = append(parts, &genai.Part{Text: p.Text})
		case isCall:
			c := callPart{Call: functionCall{Name: p.Call.Name, Args: wire.Arguments(p.Call)}}
			if l.later && !called {
				c.Signature = unsigned
			}
			parts = append(parts, c)
		}
		called = called || isCall
	}
	return parts
}

// said lowers what a user said or attached, and what tools gave back.
func (l *lowerer) said(m llm.Message) []any {
	var parts []any
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			parts = append(parts, &genai.Part{Text: p.Text})
		case p.Kind == llm.PartMedia && p.Media != nil:
			parts = append(parts, media(p.Media))
		}
	}
	results, shown := l.results(m)
	return append(append(results, shown...), parts...)
}

// results lowers the results of tool calls, and what cannot stand inside one
// of them (LLM-40, LLM-52).
func (l *lowerer) results(m llm.Message) (results, shown []any) {
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult || p.Result == nil {
			continue
		}
		r := &genai.FunctionResponse{ID: l.sent[p.Result.CallID], Name: p.Result.Name}
		key, text := "output", llm.Message{Parts: p.Result.Parts}.Text()
		if p.Result.IsError {
			key = "error"
		}
		if text == "" {
			text = "(no output)"
		}
		r.Response = map[string]any{key: text}
		for _, m := range wire.ResultMedia(p.Result) {
			if l.later && carried(m) && len(m.Data) > 0 {
				r.Parts = append(r.Parts, genai.NewFunctionResponsePartFromBytes(m.Data, m.MIME))
				continue
			}
			shown = append(shown, &genai.Part{Text: "Returned by the tool " + p.Result.Name + ":"}, media(m))
		}
		results = append(results, &genai.Part{FunctionResponse: r})
	}
	return results, shown
}

// carried says whether the API takes m: it does images, sounds and PDFs.
func carried(m *llm.Media) bool {
	return wire.IsImage(m) || strings.HasPrefix(m.MIME, "audio/") || m.MIME == "application/pdf"
}

func media(m *llm.Media) *genai.Part {
	switch {
	case !carried(m):
		return &genai.Part{Text: wire.Omitted(m)}
	case m.URL != "":
		return genai.NewPartFromURI(m.URL, m.MIME)
	default:
		return genai.NewPartFromBytes(m.Data, m.MIME)
	}
}
