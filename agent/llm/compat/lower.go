package compat

import (
	"fmt"
	"maps"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

type message = sdk.ChatCompletionMessageParamUnion

// params lowers all of a request but its messages and tools, with only the fields that
// the endpoint knows. Equal prefixes of two requests give equal bytes.
func (d Dialect) params(req llm.Request) sdk.ChatCompletionNewParams {
	level, own := d.effort(req)
	p := sdk.ChatCompletionNewParams{
		Model:           req.Model,
		ReasoningEffort: shared.ReasoningEffort(level),
	}
	extra := map[string]any{}
	if own != nil {
		extra[string(d.EffortForm)] = own
	}
	if d.Gateway && !req.NoCache && strings.HasPrefix(req.Model, "anthropic/") {
		extra["cache_control"] = map[string]string{"type": "ephemeral"}
	}
	maps.Copy(extra, wire.Extra(req.Options))
	p.SetExtraFields(extra)
	if !d.NoStreamOptions {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	switch {
	case req.MaxOutput <= 0:
	case d.CompletionCap:
		p.MaxCompletionTokens = param.NewOpt(int64(req.MaxOutput))
	default:
		p.MaxTokens = param.NewOpt(int64(req.MaxOutput))
	}
	options(&p, req.Options)
	return p
}

func tools(specs []llm.ToolSpec) []sdk.ChatCompletionToolUnionParam {
	var out []sdk.ChatCompletionToolUnionParam
	for _, s := range specs {
		f := shared.FunctionDefinitionParam{Name: s.Name, Description: param.NewOpt(s.Description)}
		f.SetExtraFields(map[string]any{"parameters": s.Schema}) // the schema's own bytes
		out = append(out, sdk.ChatCompletionFunctionTool(f))
	}
	return out
}

// lower lowers one message of a request to origin.
func (d Dialect) lower(m llm.Message, origin llm.Origin, ids *wire.IDs) []message {
	switch m.Role {
	case llm.RoleAssistant:
		return d.assistant(m, m.Origin.Same(origin), ids)
	case llm.RoleTool, llm.RoleUser:
		return d.said(m, ids)
	default: // few endpoints know the developer role
		if text := m.Text(); text != "" {
			return []message{sdk.SystemMessage(text)}
		}
		return nil
	}
}

// assistant lowers an answer from its typed fields. Reasoning is sent back only
// if it came from the same origin (LLM-28).
func (d Dialect) assistant(m llm.Message, same bool, ids *wire.IDs) []message {
	a := &sdk.ChatCompletionAssistantMessageParam{}
	extra := map[string]any{}
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartToolCall && p.Call != nil:
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
				OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
					ID: d.callID(ids.Call(p.Call.ID)),
					Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{
						Name: wire.CallName(p.Call.Name), Arguments: string(wire.Arguments(p.Call)),
					},
				},
			})
		case (p.Kind == llm.PartReasoning || p.Kind == llm.PartNative) && same:
			mergeEcho(extra, p.Native)
		}
	}
	text := m.Text()
	if text == "" && len(a.ToolCalls) == 0 {
		return nil
	}
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
		a.Content.OfString = param.NewOpt(text)
	}
	if d.WantsReasoning && extra[reasoningField] == nil {
		extra[reasoningField] = ""
	}
	if len(extra) > 0 {
		a.SetExtraFields(extra)
	}
	return []message{{OfAssistant: a}}
}

// user lowers a user's text and attachments.
func user(parts []llm.Part) []message {
	var out []sdk.ChatCompletionContentPartUnionParam
	plain := true
	for _, p := range parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			out = append(out, sdk.TextContentPart(p.Text))
		case p.Kind == llm.PartMedia && p.Media != nil:
			plain = false
			out = append(out, media(p.Media))
		}
	}
	switch {
	case len(out) == 0:
		return nil
	case plain:
		return []message{sdk.UserMessage(llm.Message{Parts: parts}.Text())}
	default:
		return []message{sdk.UserMessage(out)}
	}
}

func media(m *llm.Media) sdk.ChatCompletionContentPartUnionParam {
	if wire.IsImage(m) {
		return sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: wire.URL(m)})
	}
	return sdk.TextContentPart(wire.Omitted(m))
}

// said lowers results of tool calls together with the user's text beside them.
// A tool message contains only text, so images and the user's text follow in a
// user message after the last result: nothing may stand between a call and its
// results.
func (d Dialect) said(m llm.Message, ids *wire.IDs) []message {
	var out []message
	var pictures, own []llm.Part
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult || p.Result == nil {
			own = append(own, p)
			continue
		}
		out = append(out, sdk.ToolMessage(wire.ResultText(p.Result), d.callID(ids.Result(p.Result))))
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
