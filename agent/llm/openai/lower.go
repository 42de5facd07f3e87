package openai

import (
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// params lowers all of a request but its messages. Equal prefixes of two requests give equal bytes,
// or the provider's cache would miss (LLM-17).
func params(req llm.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{
		Model:   req.Model,
		Store:   param.NewOpt(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Tools:   tools(req.Tools),
	}
	if req.System != "" {
		p.Instructions = param.NewOpt(req.System)
	}
	effort := req.Reasoning.Level(req.Effort)
	if effort != llm.EffortDefault {
		p.Reasoning.Effort = shared.ReasoningEffort(effort)
	}
	// A model that cannot reason rejects the wish for a summary.
	if effort != llm.EffortDefault && effort != llm.EffortNone {
		p.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if req.MaxOutput > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(req.MaxOutput))
	}
	if req.CacheKey != "" && !req.NoCache {
		p.PromptCacheKey = param.NewOpt(req.CacheKey)
	}
	options(&p, req.Options)
	return p
}

// tools sends the schemas' own bytes, and strict as false: left out, the
// server would try to rewrite them.
func tools(specs []llm.ToolSpec) []responses.ToolUnionParam {
	var out []responses.ToolUnionParam
	for _, s := range specs {
		f := &responses.FunctionToolParam{
			Name: s.Name, Description: param.NewOpt(s.Description), Strict: param.NewOpt(false),
		}
		f.SetExtraFields(map[string]any{"parameters": s.Schema})
		out = append(out, responses.ToolUnionParam{OfFunction: f})
	}
	return out
}

type (
	inputItem = responses.ResponseInputItemUnionParam
	inputList = responses.ResponseInputMessageContentListParam
)

// items lowers one message of a request to origin.
func items(m llm.Message, origin llm.Origin, ids wire.IDs) []inputItem {
	switch m.Role {
	case llm.RoleAssistant:
		return assistant(m, m.Origin.Same(origin), ids)
	case llm.RoleTool:
		return results(m, ids)
	default:
		return spoken(m)
	}
}

// assistant lowers an answer. Items of the same origin go back verbatim; of
// another's, reasoning is dropped and the rest sent as text and calls
// (LLM-28).
func assistant(m llm.Message, same bool, ids wire.IDs) []inputItem {
	var items, reasoning []inputItem
	for _, p := range m.Parts {
		native := same && len(p.Native) > 0
		switch {
		case p.Kind == llm.PartReasoning:
			// An item id is unknown to the server, which stored nothing;
			// without the encrypted content it would be an error.
			if native && p.Reasoning != nil && p.Reasoning.Encrypted != "" {
				reasoning = append(reasoning, raw(p.Native))
			}
			continue
		case native:
			// Reasoning counts only with the item that it led to: a turn cut
			// in between leaves it without one.
			items = append(append(items, reasoning...), raw(p.Native))
		default:
			if it, ok := typed(p, ids); ok {
				items = append(items, it)
			}
		}
		reasoning = nil
	}
	return items
}

func raw(b json.RawMessage) inputItem { return param.Override[inputItem](b) }

// typed lowers a part of an answer from its neutral fields.
func typed(p llm.Part, ids wire.IDs) (inputItem, bool) {
	switch {
	case p.Kind == llm.PartText && p.Text != "":
		return responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant), true
	case p.Kind == llm.PartToolCall && p.Call != nil:
		return responses.ResponseInputItemParamOfFunctionCall(string(p.Call.Arguments), ids[p.Call.ID], p.Call.Name), true
	default:
		return inputItem{}, false
	}
}

// spoken lowers what a user, a developer or the system said.
func spoken(m llm.Message) []inputItem {
	role := responses.EasyInputMessageRole(m.Role)
	var parts inputList
	plain := true
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			parts = append(parts, responses.ResponseInputContentParamOfInputText(p.Text))
		case p.Kind == llm.PartMedia && p.Media != nil:
			plain = false
			parts = append(parts, media(p.Media))
		}
	}
	switch {
	case len(parts) == 0:
		return nil
	case plain && len(parts) == 1:
		return []inputItem{responses.ResponseInputItemParamOfMessage(m.Text(), role)}
	default:
		return []inputItem{responses.ResponseInputItemParamOfMessage(parts, role)}
	}
}

func media(m *llm.Media) responses.ResponseInputContentUnionParam {
	switch {
	case wire.IsImage(m):
		return responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
			Detail: responses.ResponseInputImageDetailAuto, ImageURL: param.NewOpt(wire.URL(m)),
		}}
	case m.MIME == "application/pdf" && len(m.Data) > 0:
		return responses.ResponseInputContentUnionParam{OfInputFile: &responses.ResponseInputFileParam{
			Filename: param.NewOpt(m.Name), FileData: param.NewOpt(wire.URL(m)),
		}}
	default:
		return responses.ResponseInputContentParamOfInputText(wire.Omitted(m))
	}
}

// results lowers the results of tool calls (LLM-40).
func results(m llm.Message, ids wire.IDs) []inputItem {
	var items []inputItem
	for _, p := range m.Parts {
		if p.Kind == llm.PartToolResult && p.Result != nil {
			items = append(items, result(p.Result, ids))
		}
	}
	return items
}

func result(r *llm.ToolResult, ids wire.IDs) inputItem {
	id, text := ids.Result(r), wire.ResultText(r)
	pictures := wire.ResultMedia(r)
	if len(pictures) == 0 {
		return inputItem{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
			CallID: param.NewOpt(id),
			Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: param.NewOpt(text)},
		}}
	}
	list := responses.ResponseFunctionCallOutputItemListParam{
		responses.ResponseFunctionCallOutputItemParamOfInputText(text),
	}
	for _, p := range pictures {
		if !wire.IsImage(p) {
			list = append(list, responses.ResponseFunctionCallOutputItemParamOfInputText(wire.Omitted(p)))
			continue
		}
		list = append(list, responses.ResponseFunctionCallOutputItemUnionParam{
			OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(wire.URL(p))},
		})
	}
	return inputItem{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
		CallID: param.NewOpt(id),
		Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfResponseFunctionCallOutputItemArray: list},
	}}
}
