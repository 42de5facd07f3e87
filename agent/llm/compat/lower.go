package compat

import (
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// object is a JSON object. Messages and requests are objects without a fixed
// type, because endpoints add members of their own.
type object = map[string]any

// lower lowers a request, with only the fields that the endpoint knows. Equal
// prefixes of two conversations give equal bytes.
func (d Dialect) lower(req llm.Request, origin llm.Origin) object {
	body := d.body(req)
	if len(req.Tools) > 0 {
		body["tools"] = tools(req.Tools)
	}
	messages := []object{}
	if req.System != "" {
		messages = append(messages, said("system", req.System))
	}
	ids := wire.NewIDs(origin, true)
	for _, m := range joinUsers(req.Messages) {
		ids.Add(m)
		messages = append(messages, d.message(m, origin, ids)...)
	}
	body["messages"] = messages
	for name, value := range req.Body {
		body[name] = value
	}
	return body
}

// joinUsers makes one message of neighbouring messages of the user, and of a
// tool's results and what the user says after them, because some servers insist
// on alternating roles. Their texts become paragraphs.
func joinUsers(messages []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		last := len(out) - 1
		switch {
		case isMute(m): // the messages around it are neighbours
		case m.Role == llm.RoleUser && last >= 0 && (out[last].Role == llm.RoleUser || out[last].Role == llm.RoleTool):
			out[last].Parts = join(out[last].Parts, m.Parts)
		default:
			out = append(out, m)
		}
	}
	return out
}

// join returns the parts of two messages as those of one, without changing either.
func join(first, next []llm.Part) []llm.Part {
	first = slices.Clone(first)
	if len(first) == 0 || len(next) == 0 || first[len(first)-1].Kind != llm.PartText || next[0].Kind != llm.PartText {
		return append(first, next...)
	}
	paragraph := next[0]
	paragraph.Text = "\n\n" + paragraph.Text
	return append(append(first, paragraph), next[1:]...)
}

// isMute reports whether a message of the model is not sent, because it has neither
// text nor calls.
func isMute(m llm.Message) bool {
	return m.Role == llm.RoleAssistant && !slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
		return p.Kind == llm.PartText && p.Text != "" || p.Kind == llm.PartToolCall && p.Call != nil
	})
}

// body lowers all of a request but its messages and tools.
func (d Dialect) body(req llm.Request) object {
	level, own := d.effort(req)
	body := object{"model": req.Model, "stream": true}
	if level != "" {
		body["reasoning_effort"] = level
	}
	if own != nil {
		body[string(d.EffortForm)] = own
	}
	if d.Gateway && !req.NoCache && strings.HasPrefix(req.Model, "anthropic/") {
		body["cache_control"] = object{"type": "ephemeral"}
	}
	if !d.NoStreamOptions {
		body["stream_options"] = object{"include_usage": true}
	}
	switch {
	case req.MaxOutput <= 0:
	case d.CompletionCap:
		body["max_completion_tokens"] = req.MaxOutput
	default:
		body["max_tokens"] = req.MaxOutput
	}
	options(body, req.Options)
	return body
}

// tools sends the schemas' own bytes.
func tools(specs []llm.ToolSpec) []object {
	var out []object
	for _, s := range specs {
		out = append(out, object{"type": "function", "function": object{
			"name": s.Name, "description": s.Description, "parameters": s.Schema,
		}})
	}
	return out
}

// said is a message with content.
func said(role string, content any) object { return object{"role": role, "content": content} }

// message lowers one message of a request to origin.
func (d Dialect) message(m llm.Message, origin llm.Origin, ids *wire.IDs) []object {
	switch m.Role {
	case llm.RoleAssistant:
		return d.assistant(m, m.Origin.Same(origin), ids)
	case llm.RoleTool, llm.RoleUser:
		return d.spoken(m, ids)
	default: // few endpoints know the developer role
		if text := m.Text(); text != "" {
			return []object{said("system", text)}
		}
		return nil
	}
}

// assistant lowers an answer from its typed fields. Reasoning is sent back only
// if it came from the same origin (LLM-28).
func (d Dialect) assistant(m llm.Message, same bool, ids *wire.IDs) []object {
	var calls []object
	extra := object{}
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartToolCall && p.Call != nil:
			calls = append(calls, object{"type": "function", "id": d.callID(ids.Call(p.Call.ID)), "function": object{
				"name": wire.CallName(p.Call.Name), "arguments": string(wire.Arguments(p.Call)),
			}})
		case (p.Kind == llm.PartReasoning || p.Kind == llm.PartNative) && same:
			mergeEcho(extra, p.Native)
		}
	}
	text := m.Text()
	content, isList := extra[contentField].([]any)
	if tagged, ok := extra[contentField].(string); ok {
		text = tagged + text
		delete(extra, contentField)
	}
	switch {
	case text == "":
	case isList:
		extra[contentField] = append(content, textPart{"text", text})
	default:
		extra[contentField] = text
	}
	if d.WantsReasoning && extra[reasoningField] == nil {
		extra[reasoningField] = ""
	}
	extra["role"] = "assistant"
	if len(calls) > 0 {
		extra["tool_calls"] = calls
	}
	return []object{extra}
}

// user lowers a user's text and attachments.
func user(parts []llm.Part) []object {
	var out []any
	plain := true
	for _, p := range parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			out = append(out, textPart{"text", p.Text})
		case p.Kind == llm.PartMedia && p.Media != nil:
			plain = false
			out = append(out, media(p.Media))
		}
	}
	switch {
	case len(out) == 0:
		return nil
	case plain:
		return []object{said("user", llm.Message{Parts: parts}.Text())}
	default:
		return []object{said("user", out)}
	}
}

func media(m *llm.Media) any {
	if wire.IsImage(m) {
		return object{"type": "image_url", "image_url": object{"url": wire.URL(m)}}
	}
	return textPart{"text", wire.Omitted(m)}
}

// spoken lowers results of tool calls together with the user's text beside them.
// A tool message contains only text, so images and the user's text follow in a
// user message after the last result: nothing may stand between a call and its
// results.
func (d Dialect) spoken(m llm.Message, ids *wire.IDs) []object {
	var out []object
	var pictures, own []llm.Part
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult || p.Result == nil {
			own = append(own, p)
			continue
		}
		result := said("tool", wire.ResultText(p.Result))
		result["tool_call_id"] = d.callID(ids.Result(p.Result))
		out = append(out, result)
		for _, picture := range wire.ResultMedia(p.Result) {
			pictures = append(pictures,
				llm.Part{Kind: llm.PartText, Text: fmt.Sprintf("Returned by the tool %s:", p.Result.Name)},
				llm.Part{Kind: llm.PartMedia, Media: picture})
		}
	}
	shown := user(append(pictures, own...))
	if d.AssistantAfterTool && len(out) > 0 && len(shown) > 0 {
		out = append(out, d.assistant(bridge, false, nil)...)
	}
	return append(out, shown...)
}
