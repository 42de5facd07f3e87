package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"google.golang.org/genai"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// lower lowers a request: it adds to the call what bypasses the SDK and returns
// the rest. Equal prefixes of two requests give equal bytes (LLM-17).
func (a *Adapter) lower(call *wire.Call, req llm.Request, origin llm.Origin) (*genai.GenerateContentConfig, error) {
	instructions, history := wire.Instructions(req)
	contents, err := a.contents(req, history, origin)
	if err != nil {
		return nil, err
	}
	if len(req.Tools)+len(req.Options.Tools) > 0 {
		call.Add("tools", tools(req.Tools, req.Options.Tools))
	}
	call.Add("contents", contents)
	for _, name := range slices.Sorted(maps.Keys(req.Body)) {
		call.Add(name, req.Body[name])
	}
	return config(req, instructions), nil
}

// config lowers everything that does not bypass the SDK. The result is for one
// request only, because the SDK changes it.
func config(req llm.Request, instructions []string) *genai.GenerateContentConfig {
	c := &genai.GenerateContentConfig{
		MaxOutputTokens: int32(min(max(0, req.MaxOutput), 1<<30)),
		ThinkingConfig:  thinking(req),
		// The SDK would continue a paused answer by itself, invisibly.
		AutomaticContinuation: new(false),
	}
	if len(instructions) > 0 {
		c.SystemInstruction = &genai.Content{}
		for _, text := range instructions {
			c.SystemInstruction.Parts = append(c.SystemInstruction.Parts, &genai.Part{Text: text})
		}
	}
	options(c, req.Options)
	if len(req.Tools) > 0 && len(req.Options.Tools) > 0 {
		// Google's own tools can be combined with ours only if the answer
		// includes their calls and results, which are sent back unchanged.
		if c.ToolConfig == nil {
			c.ToolConfig = &genai.ToolConfig{}
		}
		c.ToolConfig.IncludeServerSideToolInvocations = new(true)
	}
	c.HTTPOptions = &genai.HTTPOptions{ExtrasRequestProvider: func(body map[string]any) map[string]any {
		delete(body, "contents") // the placeholder
		for name := range req.Body {
			delete(body, name) // goes past it
		}
		return body
	}}
	return c
}

var names = wire.Names{Content: "parts", User: genai.RoleUser, Assistant: genai.RoleModel}

// contents encodes a conversation; messages that were sent before come from the
// cache.
func (a *Adapter) contents(req llm.Request, history []llm.Message, origin llm.Origin) (json.RawMessage, error) {
	// Models up to 2.5 have a thinking budget; later ones sign calls and accept
	// media in a result.
	l, encodings := lowerer{origin: origin}, &a.earlier
	if !req.Reasoning.Has(llm.ReasoningBudget) {
		l.later, encodings = true, &a.later
	}
	turns, err := wire.Turns(encodings, req.CacheKey, origin, history, l.parts)
	if err != nil {
		return nil, err
	}
	return names.Array(turns), nil
}

// tools sends the schemas' own bytes, then Google's own tools.
func tools(specs []llm.ToolSpec, own []json.RawMessage) json.RawMessage {
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
	return wire.JSON(all)
}

// thinking requests as much thinking as the effort demands, in the form that
// the model accepts. For an unknown model it requests it only if the user chose
// an effort.
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

// unsigned replaces the signature of a call that this model did not make,
// because a call without one would be refused.
const unsigned = "skip_thought_signature_validator"

type callPart struct {
	Call      functionCall `json:"functionCall"`
	Signature string       `json:"thoughtSignature,omitempty"`
}

// lowerer lowers the messages of one conversation to parts, either of the SDK's
// type or JSON.
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
			parts = append(parts, &genai.Part{Text: p.Text})
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
			others = append(others, &genai.Part{Text: p.Text})
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
		r := &genai.FunctionResponse{ID: ownID(ids, p.Result.CallID), Name: wire.CallName(p.Result.Name)}
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

// carried reports whether the API accepts m, which must be an image, a sound or
// a PDF.
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
