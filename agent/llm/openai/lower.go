package openai

import (
	"encoding/json"
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// params lowers a request. Equal prefixes of two requests give equal bytes, so
// that the provider's cache hits (LLM-17).
func params(req llm.Request, origin llm.Origin) responses.ResponseNewParams {
	l := lowerer{origin: origin, freeform: freeformNames(req.Tools)}
	p := responses.ResponseNewParams{
		Model:   req.Model,
		Tools:   tools(req.Tools),
		Store:   param.NewOpt(false),
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
	}
	if req.System != "" {
		p.Instructions = param.NewOpt(req.System)
	}
	effort := req.Reasoning.Level(req.Effort)
	if effort != llm.EffortDefault {
		p.Reasoning.Effort = shared.ReasoningEffort(effort)
	}
	// A model that cannot reason refuses a request for a summary.
	if effort != llm.EffortDefault && effort != llm.EffortNone {
		p.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
	if req.MaxOutput > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(req.MaxOutput))
	}
	if req.CacheKey != "" && !req.NoCache {
		p.PromptCacheKey = param.NewOpt(req.CacheKey)
	}
	input := responses.ResponseInputParam{}
	ids := wire.NewIDs(origin, false)
	for _, m := range req.Messages {
		ids.Add(m)
		input = append(input, l.items(m, ids)...)
	}
	p.Input.OfInputItemList = input
	options(&p, req.Options, l.freeform)
	return p
}

// tools sends the schemas' own bytes, and strict as false, because the server
// would try to rewrite them if it were left out.
func tools(specs []llm.ToolSpec) []responses.ToolUnionParam {
	var out []responses.ToolUnionParam
	for _, s := range specs {
		if s.Freeform != nil {
			out = append(out, responses.ToolUnionParam{OfCustom: &responses.CustomToolParam{
				Name: s.Name, Description: param.NewOpt(s.Description), Format: format(s.Freeform.Grammar),
			}})
			continue
		}
		f := &responses.FunctionToolParam{
			Name: s.Name, Description: param.NewOpt(s.Description), Strict: param.NewOpt(false),
		}
		f.SetExtraFields(map[string]any{"parameters": s.Schema})
		out = append(out, responses.ToolUnionParam{OfFunction: f})
	}
	return out
}

func format(grammar string) shared.CustomToolInputFormatUnionParam {
	if grammar == "" {
		return shared.CustomToolInputFormatUnionParam{OfText: &shared.CustomToolInputFormatTextParam{}}
	}
	return shared.CustomToolInputFormatUnionParam{OfGrammar: &shared.CustomToolInputFormatGrammarParam{
		Definition: grammar, Syntax: "lark",
	}}
}

// freeformNames lists the tools that take plain text.
func freeformNames(specs []llm.ToolSpec) []string {
	var names []string
	for _, s := range specs {
		if s.Freeform != nil {
			names = append(names, s.Name)
		}
	}
	return names
}

type (
	inputItem = responses.ResponseInputItemUnionParam
	inputList = responses.ResponseInputMessageContentListParam
)

// lowerer lowers the messages of a request to origin. Calls and their results
// have two forms and must have the same one: that in which the request shows
// the tool, whichever form the call was made in. Models that do not know
// freeform tools refuse the other form.
type lowerer struct {
	origin   llm.Origin
	freeform []string // names of tools
}

func (l lowerer) items(m llm.Message, ids *wire.IDs) []inputItem {
	switch m.Role {
	case llm.RoleAssistant:
		return l.assistant(m, ids)
	case llm.RoleTool:
		return l.results(m, ids)
	default:
		return spoken(m)
	}
}

// assistant lowers an answer. Items of the same origin are sent back verbatim;
// of another origin, reasoning is dropped and the rest is sent as text and
// calls (LLM-28).
func (l lowerer) assistant(m llm.Message, ids *wire.IDs) []inputItem {
	var items, reasoning []inputItem
	same := m.Origin.Same(l.origin)
	for _, p := range m.Parts {
		native := same && len(p.Native) > 0 && (p.Call == nil || p.Call.Custom == l.isFreeform(p.Call.Name) && ids.Verbatim(p.Call))
		switch {
		case p.Kind == llm.PartReasoning:
			// The server stored nothing and does not know an item id, so an
			// item without encrypted content would be an error.
			if native && p.Reasoning != nil && p.Reasoning.Encrypted != "" {
				reasoning = append(reasoning, raw(p.Native))
			}
			continue
		case native:
			// Reasoning counts only with the item that it led to. A turn that
			// was cut in between leaves reasoning without an item.
			items = append(append(items, reasoning...), raw(p.Native))
		default:
			if it, ok := l.typed(p, ids); ok {
				items = append(items, it)
			}
		}
		reasoning = nil
	}
	return items
}

func (l lowerer) isFreeform(tool string) bool { return slices.Contains(l.freeform, tool) }

func raw(b json.RawMessage) inputItem { return param.Override[inputItem](b) }

// typed lowers a part of an answer from its neutral fields.
func (l lowerer) typed(p llm.Part, ids *wire.IDs) (inputItem, bool) {
	switch {
	case p.Kind == llm.PartText && p.Text != "":
		return responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant), true
	case p.Kind == llm.PartToolCall && p.Call != nil && l.isFreeform(p.Call.Name):
		return responses.ResponseInputItemParamOfCustomToolCall(ids.Call(p.Call.ID), p.Call.FreeformText(), wire.CallName(p.Call.Name)), true
	case p.Kind == llm.PartToolCall && p.Call != nil:
		return responses.ResponseInputItemParamOfFunctionCall(string(wire.Arguments(p.Call)), ids.Call(p.Call.ID), wire.CallName(p.Call.Name)), true
	default:
		return inputItem{}, false
	}
}

// spoken lowers the text of a user, a developer or the system.
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
func (l lowerer) results(m llm.Message, ids *wire.IDs) []inputItem {
	var items []inputItem
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult || p.Result == nil {
			continue
		}
		if l.isFreeform(p.Result.Name) {
			items = append(items, customResult(p.Result, ids))
		} else {
			items = append(items, result(p.Result, ids))
		}
	}
	return items
}

func result(r *llm.ToolResult, ids *wire.IDs) inputItem {
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

// customResult is result for a freeform tool, which returns only text.
func customResult(r *llm.ToolResult, ids *wire.IDs) inputItem {
	text := wire.ResultText(r)
	for _, m := range wire.ResultMedia(r) {
		text += "\n" + wire.Omitted(m)
	}
	return responses.ResponseInputItemParamOfCustomToolCallOutput(ids.Result(r), text)
}
