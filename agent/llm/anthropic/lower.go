package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// defaultMaxOutput caps an answer where the caller knows no better: the API
// demands a number, and every model takes this one (LLM-51).
const defaultMaxOutput = 8192

// params lowers a request. Equal prefixes of two requests give equal bytes but
// for the cache's marks, or the provider's cache would miss (LLM-17).
func params(req llm.Request, origin llm.Origin) sdk.MessageNewParams {
	instructions, rest := wire.Instructions(req)
	p := sdk.MessageNewParams{
		Model:     req.Model,
		MaxTokens: int64(req.MaxOutput),
		Tools:     tools(req.Tools),
		Messages:  messages(rest, origin),
	}
	if req.MaxOutput <= 0 {
		p.MaxTokens = defaultMaxOutput
	}
	for _, text := range instructions {
		p.System = append(p.System, sdk.TextBlockParam{Text: text})
	}
	think(&p, req)
	options(&p, req.Options)
	if !req.NoCache {
		mark(&p)
	}
	return p
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

// messages lowers a conversation to turns that alternate strictly: neighbours
// of the same role become one (LLM-51).
func messages(history []llm.Message, origin llm.Origin) []sdk.MessageParam {
	var out []sdk.MessageParam
	ids := wire.NewIDs(history, origin)
	for _, m := range history {
		role, blocks := sdk.MessageParamRoleUser, said(m, ids)
		if m.Role == llm.RoleAssistant {
			role, blocks = sdk.MessageParamRoleAssistant, answered(m, m.Origin.Same(origin), ids)
		}
		if len(blocks) == 0 {
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Role == role {
			out[last].Content = append(out[last].Content, blocks...)
			continue
		}
		out = append(out, sdk.MessageParam{Role: role, Content: blocks})
	}
	for i := range out {
		if out[i].Role == sdk.MessageParamRoleUser {
			resultsFirst(out[i].Content)
		}
	}
	return out
}

// answered lowers an answer. Thinking and what only the provider understands
// go back to where they came from, verbatim, and nowhere else (LLM-28). No
// answer may end with thinking, as one does that was interrupted.
func answered(m llm.Message, same bool, ids wire.IDs) []content {
	var blocks []content
	for _, p := range m.Parts {
		switch {
		case same && len(p.Native) > 0:
			blocks = append(blocks, param.Override[content](p.Native))
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "":
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		case p.Kind == llm.PartToolCall && p.Call != nil:
			blocks = append(blocks, sdk.NewToolUseBlock(ids[p.Call.ID], wire.Arguments(p.Call), p.Call.Name))
		}
	}
	for len(blocks) > 0 && isThought(blocks[len(blocks)-1]) {
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

// isThought says whether a block is thinking, which is only ever sent verbatim.
func isThought(b content) bool {
	override, _ := b.Overrides()
	raw, _ := override.(json.RawMessage)
	kind := string(field(raw, "type"))
	return kind == `"thinking"` || kind == `"redacted_thinking"`
}

// said lowers what a user said or attached, and what tools gave back.
func said(m llm.Message, ids wire.IDs) []content {
	var blocks []content
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && strings.TrimSpace(p.Text) != "": // others are refused
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		case p.Kind == llm.PartMedia && p.Media != nil:
			blocks = append(blocks, media(p.Media))
		case p.Kind == llm.PartToolResult && p.Result != nil:
			blocks = append(blocks, content{OfToolResult: result(p.Result, ids)})
		}
	}
	return blocks
}

// resultsFirst puts results before anything else that was said with them, as
// the API wants it (LLM-40).
func resultsFirst(blocks []content) {
	slices.SortStableFunc(blocks, func(a, b content) int {
		switch isResult, other := a.OfToolResult != nil, b.OfToolResult != nil; {
		case isResult && !other:
			return -1
		case other && !isResult:
			return 1
		default:
			return 0
		}
	})
}

func result(r *llm.ToolResult, ids wire.IDs) *sdk.ToolResultBlockParam {
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

// media lowers an image or a PDF; the API takes nothing else (LLM-22).
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

// mark sets the cache's breakpoints, four at the most: after the tools, after
// the instructions, and after the last two user turns, so that each request
// reads what the one before it wrote (LLM-16).
func mark(p *sdk.MessageNewParams) {
	mark := sdk.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	left := 2
	for i := len(p.Messages) - 1; i >= 0 && left > 0; i-- {
		m := p.Messages[i]
		if m.Role != sdk.MessageParamRoleUser {
			continue
		}
		if at := m.Content[len(m.Content)-1].GetCacheControl(); at != nil {
			*at = mark
		}
		left--
	}
}
