package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// The bounds of what a server lists.
const (
	mostTools = 1000
	mostItems = 10_000 // resources, or prompts
	mostList  = 8 << 20
	mostPages = 200
	mostName  = 256 // bytes of a tool's name
)

// The problems of tools.
const (
	ProblemDuplicate = "duplicate" // another tool of the server has this name
	ProblemName      = "name"      // it has no name, or one that is too long
	ProblemHeader    = "header"    // its schema asks for headers that cannot be sent
)

// tool is a tool with what calls need of its definition.
type tool struct {
	ToolStatus
	task   string
	output json.RawMessage
	off    bool // by the configuration
}

// pages reads all pages of a list, up to the bounds.
func (c *conn) pages(ctx context.Context, member string, most int, page func(ctx context.Context, p protocol.PaginatedParams) error) ([]json.RawMessage, error) {
	var out []json.RawMessage
	var params protocol.PaginatedParams
	seen, size := map[protocol.Cursor]bool{}, 0
	for n := 0; ; n++ {
		raw, err := c.result(ctx, nil, func(ctx context.Context) error { return page(ctx, params) })
		if err != nil {
			return nil, err
		}
		var list map[string]json.RawMessage
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, &Fault{Kind: FaultProtocol, Detail: "its list of " + member + " cannot be read", Err: err}
		}
		if text, ok := list[member]; ok {
			if err := json.Unmarshal(text, &items); err != nil {
				return nil, &Fault{Kind: FaultProtocol, Detail: "its list of " + member + " cannot be read", Err: err}
			}
		}
		for _, item := range items {
			if size += len(item); len(out) >= most || size > mostList {
				c.log.happened(HappenedCut, member, strconv.Itoa(len(out)))
				return out, nil
			}
			out = append(out, item)
		}
		params.Cursor = ""
		_ = json.Unmarshal(list["nextCursor"], &params.Cursor)
		if params.Cursor == "" {
			return out, nil
		}
		if seen[params.Cursor] || n >= mostPages {
			c.log.happened(HappenedCutEndless, member, strconv.Itoa(len(out)))
			return out, nil
		}
		seen[params.Cursor] = true
	}
}

// tools lists the tools.
func (c *conn) tools(ctx context.Context) ([]tool, error) {
	if c.client.GetServerCapabilities().Tools == nil {
		return nil, nil
	}
	items, err := c.pages(ctx, "tools", mostTools, func(ctx context.Context, p protocol.PaginatedParams) error {
		_, err := c.client.ListToolsByPage(ctx, protocol.ListToolsRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []tool
	names := map[string]bool{}
	for _, item := range items {
		t := c.tool(item)
		if names[t.Name] {
			t.Problem = ProblemDuplicate
		}
		names[t.Name] = true
		out = append(out, t)
	}
	return out, nil
}

func (c *conn) tool(item json.RawMessage) tool {
	var raw rawTool
	err := json.Unmarshal(item, &raw)
	title := raw.Title
	if title == "" {
		title = raw.Annotations.Title
	}
	t := tool{
		ToolStatus: ToolStatus{
			Name: shorten(raw.Name, mostName), Title: shorten(title, mostText), Description: shorten(raw.Description, mostDescription),
			Schema: shallow(raw.Input), ReadOnly: raw.Annotations.ReadOnly,
			Destructive: !raw.Annotations.ReadOnly && (raw.Annotations.Destructive == nil || *raw.Annotations.Destructive),
		},
		task: raw.Execution.Task, output: raw.Output,
	}
	t.Tokens = estimate(len(t.Name) + min(len(t.Description), mostForModel) + len(t.Schema))
	t.off = slices.Contains(c.server.Off, t.Name) || c.server.Only != nil && !slices.Contains(c.server.Only, t.Name)
	switch {
	case err != nil || raw.Name == "" || len(raw.Name) > mostName:
		t.Problem = ProblemName
	case c.mirrors() && protocol.ValidateParamHeaderAnnotations(t.forHeaders()) != nil:
		t.Problem = ProblemHeader
	}
	return t
}

// mostForModel is how much of a description a model is shown.
const mostForModel = 2 << 10

// estimate returns about how many tokens a definition of size bytes has.
func estimate(size int) int { return (size*2 + 6) / 7 }

// mirrors reports whether arguments of calls are repeated in headers, as the
// protocol has it since July 2026.
func (c *conn) mirrors() bool {
	return c.wire.http != nil && protocol.IsModernProtocol(c.client.ProtocolVersion())
}

func (t tool) forHeaders() *protocol.Tool {
	return &protocol.Tool{Name: t.Name, RawInputSchema: t.Schema}
}

func (c *conn) headers(t tool, input json.RawMessage) map[string]string {
	if !c.mirrors() || len(input) == 0 {
		return nil
	}
	params, err := json.Marshal(map[string]json.RawMessage{"arguments": input})
	if err != nil {
		return nil
	}
	return protocol.GenerateParamHeaders(t.forHeaders(), params)
}

// mostChecked limits the schemas that results are checked against and the results
// that are checked, in bytes.
const mostChecked = 256 << 10

// check says how a result differs from what the tool declared.
func (t tool) check(r CallResult) string {
	if len(t.output) == 0 || len(t.output) > mostChecked || r.IsError {
		return ""
	}
	if r.Structured == nil {
		return "the structured content that the tool declares is missing"
	}
	if len(r.Structured) > mostChecked {
		return ""
	}
	resolved, err := ResolveSchema(t.output)
	if err != nil {
		return "" // the schema is at fault, not the result
	}
	var value any
	if json.Unmarshal(r.Structured, &value) != nil {
		return ""
	}
	if err := resolved.Validate(value); err != nil {
		return shorten(err.Error(), mostText)
	}
	return ""
}

// resources lists resources and templates.
func (c *conn) resources(ctx context.Context) ([]Resource, error) {
	if c.client.GetServerCapabilities().Resources == nil {
		return nil, nil
	}
	items, err := c.pages(ctx, "resources", mostItems, func(ctx context.Context, p protocol.PaginatedParams) error {
		_, err := c.client.ListResourcesByPage(ctx, protocol.ListResourcesRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		return err
	})
	if err != nil {
		return nil, err
	}
	templates, err := c.pages(ctx, "resourceTemplates", mostItems, func(ctx context.Context, p protocol.PaginatedParams) error {
		_, err := c.client.ListResourceTemplatesByPage(ctx, protocol.ListResourceTemplatesRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		return err
	})
	if err != nil {
		c.log.happened(HappenedNoTemplate, err.Error())
	}
	var out []Resource
	for i, item := range slices.Concat(items, templates) {
		var raw struct {
			rawContent
			Template string `json:"uriTemplate"`
		}
		if json.Unmarshal(item, &raw) != nil {
			continue
		}
		r := Resource{
			Server: c.server.Name, URI: raw.URI, Name: shorten(raw.Name, mostText), Title: shorten(raw.Title, mostText),
			Description: shorten(raw.Description, mostDescription), MIME: shorten(raw.MIME, mostText), Size: raw.Size, Template: i >= len(items),
		}
		if r.Template {
			r.URI = raw.Template
		}
		out = append(out, r)
	}
	return out, nil
}

func (c *conn) read(ctx context.Context, uri string) ([]Content, error) {
	raw, err := c.result(ctx, nil, func(ctx context.Context) error {
		_, err := c.client.ReadResource(ctx, protocol.ReadResourceRequest{Params: protocol.ReadResourceParams{URI: uri}})
		return err
	})
	if err != nil {
		return nil, err
	}
	var list struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, &Fault{Kind: FaultProtocol, Detail: "the resource cannot be read", Err: err}
	}
	return contents(list.Contents, resource), nil
}

func (c *conn) prompts(ctx context.Context) ([]Prompt, error) {
	if c.client.GetServerCapabilities().Prompts == nil {
		return nil, nil
	}
	items, err := c.pages(ctx, "prompts", mostItems, func(ctx context.Context, p protocol.PaginatedParams) error {
		_, err := c.client.ListPromptsByPage(ctx, protocol.ListPromptsRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Prompt
	for _, item := range items {
		var raw struct {
			Name, Title, Description string
			Arguments                []PromptArgument
		}
		if json.Unmarshal(item, &raw) != nil || raw.Name == "" || len(raw.Name) > mostName {
			continue
		}
		p := Prompt{Server: c.server.Name, Name: raw.Name, Title: shorten(raw.Title, mostText), Description: shorten(raw.Description, mostDescription)}
		for _, a := range raw.Arguments[:min(len(raw.Arguments), mostArguments)] {
			p.Arguments = append(p.Arguments, PromptArgument{
				Name: shorten(a.Name, mostText), Title: shorten(a.Title, mostText), Description: shorten(a.Description, mostText), Required: a.Required,
			})
		}
		out = append(out, p)
	}
	return out, nil
}

const mostArguments = 100 // of a prompt

func (c *conn) prompt(ctx context.Context, name string, arguments map[string]string) (PromptText, error) {
	request := protocol.GetPromptRequest{}
	request.Params.Name, request.Params.Arguments = name, arguments
	raw, err := c.result(ctx, nil, func(ctx context.Context) error {
		_, err := c.client.GetPrompt(ctx, request)
		return err
	})
	if err != nil {
		return PromptText{}, err
	}
	var text struct {
		Description string       `json:"description"`
		Messages    []rawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return PromptText{}, &Fault{Kind: FaultProtocol, Detail: "the prompt cannot be read", Err: err}
	}
	return PromptText{Description: shorten(text.Description, mostDescription), Messages: promptMessages(text.Messages)}, nil
}

const mostValues = 100 // of a completion

func (c *conn) complete(ctx context.Context, r CompleteRequest) (Completion, error) {
	if c.client.GetServerCapabilities().Completions == nil {
		return Completion{}, nil
	}
	request := protocol.CompleteRequest{}
	request.Params.Ref = protocol.PromptReference{Type: "ref/prompt", Name: r.Prompt}
	if r.Prompt == "" {
		request.Params.Ref = protocol.ResourceReference{Type: "ref/resource", URI: r.Template}
	}
	request.Params.Argument = protocol.CompleteArgument{Name: r.Argument, Value: r.Value}
	request.Params.Context.Arguments = r.Known
	raw, err := c.result(ctx, nil, func(ctx context.Context) error {
		_, err := c.client.Complete(ctx, request)
		return err
	})
	if err != nil {
		return Completion{}, err
	}
	var list struct {
		Completion struct {
			Values  []string `json:"values"`
			HasMore bool     `json:"hasMore"`
			Total   int      `json:"total"`
		} `json:"completion"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return Completion{}, &Fault{Kind: FaultProtocol, Detail: "the completion cannot be read", Err: err}
	}
	out := Completion{More: list.Completion.HasMore || list.Completion.Total > len(list.Completion.Values)}
	for _, value := range list.Completion.Values[:min(len(list.Completion.Values), mostValues)] {
		out.Values = append(out.Values, shorten(value, mostText))
	}
	return out, nil
}
