package anthropic

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// defaultMaxOutput is the default limit of an answer, because the API requires
// a number. Every model accepts this one (LLM-51).
const defaultMaxOutput = 8192

// lower lowers a request. Equal prefixes of two requests give equal bytes except
// for the cache marks, so that the provider's cache hits (LLM-17).
func lower(req llm.Request, origin llm.Origin) sdk.MessageNewParams {
	instructions, rest := wire.Instructions(req)
	turns := wire.Turns(origin, rest, func(m llm.Message, ids *wire.IDs) (results, others []content) {
		if m.Role == llm.RoleAssistant {
			return nil, answered(m, m.Origin.Same(origin), ids)
		}
		return said(m, ids)
	})
	p := params(req, instructions)
	p.Messages = messages(turns)
	think(&p, req, turns)
	options(&p, req.Options)
	if !req.NoCache {
		mark(&p, req.LongCache)
	}
	return p
}

type turn = wire.Turn[content]

func messages(turns []turn) []sdk.MessageParam {
	out := []sdk.MessageParam{}
	for _, t := range turns {
		role := sdk.MessageParamRoleUser
		if t.Assistant {
			role = sdk.MessageParamRoleAssistant
		}
		out = append(out, sdk.MessageParam{Role: role, Content: t.Items()})
	}
	return out
}

// params lowers everything but messages, thinking and options.
func params(req llm.Request, instructions []string) sdk.MessageNewParams {
	p := sdk.MessageNewParams{
		Model:     req.Model,
		MaxTokens: int64(cmp.Or(max(0, req.MaxOutput), req.MostOutput, defaultMaxOutput)),
		Tools:     tools(req.Tools),
	}
	for _, text := range instructions {
		p.System = append(p.System, sdk.TextBlockParam{Text: text})
	}
	return p
}

// mark sets up to four cache breakpoints: after the tools, after the
// instructions, and after the last two user turns, so that each request reads
// what the previous one wrote (LLM-16). All marks have the same lifetime, because
// the API refuses a longer one after a shorter one.
func mark(p *sdk.MessageNewParams, long bool) {
	mark := sdk.NewCacheControlEphemeralParam()
	if long {
		mark.TTL = sdk.CacheControlEphemeralTTLTTL1h
	}
	if n := len(p.Tools); n > 0 {
		*p.Tools[n-1].GetCacheControl() = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	left := 2
	for _, m := range slices.Backward(p.Messages) {
		if m.Role == sdk.MessageParamRoleUser && left > 0 {
			*m.Content[len(m.Content)-1].GetCacheControl() = mark
			left--
		}
	}
}

// tools sends the schemas' own bytes.
func tools(specs []llm.ToolSpec) []sdk.ToolUnionParam {
	var out []sdk.ToolUnionParam
	for _, s := range specs {
		t := &sdk.ToolParam{Name: s.Name, Description: param.NewOpt(s.Description)}
		t.SetExtraFields(map[string]any{"input_schema": s.Schema})
		out = append(out, sdk.ToolUnionParam{OfTool: t})
	}
	return out
}

type content = sdk.ContentBlockParamUnion

// answered lowers an answer. Thinking and parts that only the provider
// understands are sent back verbatim to their origin and nowhere else (LLM-28).
// An answer must not end with thinking, as an interrupted one can.
func answered(m llm.Message, same bool, ids *wire.IDs) []content {
	var blocks []content
	for _, p := range m.Parts {
		switch {
		case same && len(p.Native) > 0:
			blocks = append(blocks, param.Override[content](p.Native))
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		case p.Kind == llm.PartToolCall && p.Call != nil:
			blocks = append(blocks, sdk.NewToolUseBlock(ids.Call(p.Call.ID), wire.Arguments(p.Call), wire.CallName(p.Call.Name)))
		}
	}
	for len(blocks) > 0 && isThought(blocks[len(blocks)-1]) {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

// isThought reports whether a block is thinking, which is only ever sent
// verbatim.
func isThought(b content) bool {
	override, _ := b.Overrides()
	raw, _ := override.(json.RawMessage)
	var block struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(raw, &block) // an invalid block is not thinking
	return block.Type == "thinking" || block.Type == "redacted_thinking"
}

// said lowers a user's text and attachments, and tool results, which the API
// requires before anything else in the message (LLM-40).
func said(m llm.Message, ids *wire.IDs) (results, others []content) {
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "": // others are refused
			others = append(others, sdk.NewTextBlock(p.Text))
		case p.Kind == llm.PartMedia && p.Media != nil:
			others = append(others, media(p.Media))
		case p.Kind == llm.PartToolResult && p.Result != nil:
			results = append(results, content{OfToolResult: result(p.Result, ids)})
		}
	}
	return results, others
}

func result(r *llm.ToolResult, ids *wire.IDs) *sdk.ToolResultBlockParam {
	out := &sdk.ToolResultBlockParam{ToolUseID: ids.Result(r)}
	if r.IsError {
		out.IsError = param.NewOpt(true)
	}
	for _, p := range r.Parts {
		switch {
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "":
			out.Content = append(out.Content, text(p.Text))
		case p.Kind == llm.PartMedia && p.Media != nil:
			block := media(p.Media)
			out.Content = append(out.Content, sdk.ToolResultBlockParamContentUnion{
				OfText: block.OfText, OfImage: block.OfImage, OfDocument: block.OfDocument,
			})
		}
	}
	if len(out.Content) == 0 {
		out.Content = append(out.Content, text("(no output)"))
	}
	return out
}

func text(s string) sdk.ToolResultBlockParamContentUnion {
	return sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: s}}
}

// media lowers an image or a PDF; the API accepts nothing else (LLM-22).
func media(m *llm.Media) content {
	data := base64.StdEncoding.EncodeToString(m.Data)
	switch {
	case wire.IsImage(m) && m.URL != "":
		return sdk.NewImageBlock(sdk.URLImageSourceParam{URL: m.URL})
	case wire.IsImage(m):
		return sdk.NewImageBlockBase64(m.MIME, data)
	case m.MIME == "application/pdf" && m.URL != "":
		return sdk.NewDocumentBlock(sdk.URLPDFSourceParam{URL: m.URL})
	case m.MIME == "application/pdf":
		return sdk.NewDocumentBlock(sdk.Base64PDFSourceParam{Data: data})
	default:
		return sdk.NewTextBlock(wire.Omitted(m))
	}
}
