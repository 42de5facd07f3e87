package mcp

import (
	"cmp"
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
	mostKept  = 64 << 20
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

// pages reads all pages of a list, up to the bounds. The context of a page receives the
// text of its result.
func pages[T any](ctx context.Context, c *conn, list string, most int, page func(context.Context, protocol.PaginatedParams) ([]T, protocol.Cursor, error)) ([]T, error) {
	var out []T
	var params protocol.PaginatedParams
	seen, size := map[protocol.Cursor]bool{}, 0
	for n := 0; ; n++ {
		ctx, sent := withExchange(ctx)
		items, next, err := page(ctx, params)
		if err != nil {
			return nil, c.failure(ctx, err)
		}
		out, size = append(out, items...), size+len(sent.text)
		switch {
		case len(out) > most || size > mostList:
			out = out[:min(len(out), most)]
			c.log.happened(HappenedCut, list, strconv.Itoa(len(out)))
			return out, nil
		case next == "":
			return out, nil
		case seen[next] || n >= mostPages:
			c.log.happened(HappenedCutEndless, list, strconv.Itoa(len(out)))
			return out, nil
		}
		seen[next], params.Cursor = true, next
	}
}

// tools lists the tools, as the server wrote them: mcp-go's type loses keywords of their
// schemas, and their order.
func (c *conn) tools(ctx context.Context) ([]tool, error) {
	if c.client.GetServerCapabilities().Tools == nil {
		return nil, nil
	}
	written, err := pages(ctx, c, "tools", mostTools, func(ctx context.Context, p protocol.PaginatedParams) ([]json.RawMessage, protocol.Cursor, error) {
		list, err := c.client.ListToolsByPage(ctx, protocol.ListToolsRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		if err != nil {
			return nil, "", err
		}
		var page struct {
			Tools []json.RawMessage `json:"tools"`
		}
		err = json.Unmarshal(exchangeIn(ctx).text, &page)
		return page.Tools, list.NextCursor, err
	})
	if err != nil {
		return nil, err
	}
	var out []tool
	names := map[string]bool{}
	for _, text := range written {
		t := c.tool(text)
		if names[t.Name] {
			t.Problem = ProblemDuplicate
		}
		names[t.Name] = true
		out = append(out, t)
	}
	return out, c.remember(out)
}

// remember limits the definitions that mcp-go's client keeps: it keeps each one until a
// tool of the same name replaces it.
func (c *conn) remember(tools []tool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range tools {
		if !c.state.named[t.Name] {
			c.state.named[t.Name] = true
			c.state.kept += len(t.Name) + len(t.Description) + len(t.Schema) + len(t.output)
		}
	}
	if c.state.kept > mostKept {
		return &Fault{Kind: FaultTooLarge, Detail: bytesText(mostKept)}
	}
	return nil
}

// rawTool is a tool as a server lists it.
type rawTool struct {
	Name        string                  `json:"name"`
	Title       string                  `json:"title"`
	Description string                  `json:"description"`
	Input       json.RawMessage         `json:"inputSchema"`
	Output      json.RawMessage         `json:"outputSchema"`
	Annotations protocol.ToolAnnotation `json:"annotations"`
	Execution   protocol.ToolExecution  `json:"execution"`
}

func (c *conn) tool(text json.RawMessage) tool {
	var raw rawTool
	err := json.Unmarshal(text, &raw)
	hints := raw.Annotations
	readOnly := hints.ReadOnlyHint != nil && *hints.ReadOnlyHint
	t := tool{
		ToolStatus: ToolStatus{
			Name: shorten(raw.Name, mostName), Title: shorten(cmp.Or(raw.Title, hints.Title), mostText), Description: shorten(raw.Description, mostDescription),
			Schema: shallow(raw.Input), ReadOnly: readOnly, Destructive: !readOnly && (hints.DestructiveHint == nil || *hints.DestructiveHint),
		},
		task: string(raw.Execution.TaskSupport), output: raw.Output,
	}
	t.Tokens = estimate(len(t.Name) + min(len(t.Description), mostForModel) + len(t.Schema))
	t.off = slices.Contains(c.server.Off, t.Name) || c.server.Only != nil && !slices.Contains(c.server.Only, t.Name)
	switch {
	case err != nil || raw.Name == "" || len(raw.Name) > mostName:
		t.Problem = ProblemName
	case c.mirrors() && protocol.ValidateParamHeaderAnnotations(&protocol.Tool{Name: t.Name, RawInputSchema: t.Schema}) != nil:
		t.Problem = ProblemHeader // mcp-go dropped it
	}
	return t
}

// mostForModel is how much of a description a model is shown.
const mostForModel = 2 << 10

// estimate returns about how many tokens a definition of size bytes has.
func estimate(size int) int { return (size*2 + 6) / 7 }

// mirrors reports whether mcp-go repeats arguments of calls in headers, as the protocol
// has it since July 2026.
func (c *conn) mirrors() bool {
	return c.wire.http != nil && protocol.IsModernProtocol(c.client.ProtocolVersion())
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
	items, err := pages(ctx, c, "resources", mostItems, func(ctx context.Context, p protocol.PaginatedParams) ([]protocol.Resource, protocol.Cursor, error) {
		list, err := c.client.ListResourcesByPage(ctx, protocol.ListResourcesRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		if err != nil {
			return nil, "", err
		}
		return list.Resources, list.NextCursor, nil
	})
	if err != nil {
		return nil, err
	}
	templates, err := pages(ctx, c, "resourceTemplates", mostItems, func(ctx context.Context, p protocol.PaginatedParams) ([]protocol.ResourceTemplate, protocol.Cursor, error) {
		list, err := c.client.ListResourceTemplatesByPage(ctx, protocol.ListResourceTemplatesRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		if err != nil {
			return nil, "", err
		}
		return list.ResourceTemplates, list.NextCursor, nil
	})
	if err != nil {
		c.log.happened(HappenedNoTemplate, err.Error())
	}
	var out []Resource
	for _, r := range items {
		one := c.resource(r.URI, r.Name, r.Title, r.Description, r.MIMEType)
		if r.Size != nil {
			one.Size = *r.Size
		}
		out = append(out, one)
	}
	for _, t := range templates {
		if t.URITemplate == nil || t.URITemplate.Template == nil {
			continue
		}
		one := c.resource(t.URITemplate.Raw(), t.Name, t.Title, t.Description, t.MIMEType)
		one.Template = true
		out = append(out, one)
	}
	return out, nil
}

func (c *conn) resource(uri, name, title, description, mime string) Resource {
	return Resource{
		Server: c.server.Name, URI: uri, Name: shorten(name, mostText), Title: shorten(title, mostText),
		Description: shorten(description, mostDescription), MIME: shorten(mime, mostText),
	}
}

func (c *conn) read(ctx context.Context, uri string) ([]Content, error) {
	result, err := c.client.ReadResource(ctx, protocol.ReadResourceRequest{Params: protocol.ReadResourceParams{URI: uri}})
	if err != nil {
		return nil, c.failure(ctx, err)
	}
	return contents(result.Contents, resource), nil
}

func (c *conn) prompts(ctx context.Context) ([]Prompt, error) {
	if c.client.GetServerCapabilities().Prompts == nil {
		return nil, nil
	}
	items, err := pages(ctx, c, "prompts", mostItems, func(ctx context.Context, p protocol.PaginatedParams) ([]protocol.Prompt, protocol.Cursor, error) {
		list, err := c.client.ListPromptsByPage(ctx, protocol.ListPromptsRequest{PaginatedRequest: protocol.PaginatedRequest{Params: p}})
		if err != nil {
			return nil, "", err
		}
		return list.Prompts, list.NextCursor, nil
	})
	if err != nil {
		return nil, err
	}
	var out []Prompt
	for _, item := range items {
		if item.Name == "" || len(item.Name) > mostName {
			continue
		}
		p := Prompt{Server: c.server.Name, Name: item.Name, Title: shorten(item.Title, mostText), Description: shorten(item.Description, mostDescription)}
		for _, a := range item.Arguments[:min(len(item.Arguments), mostArguments)] {
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
	result, err := c.client.GetPrompt(ctx, request)
	if err != nil {
		return PromptText{}, c.failure(ctx, err)
	}
	return PromptText{Description: shorten(result.Description, mostDescription), Messages: promptMessages(result.Messages)}, nil
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
	result, err := c.client.Complete(ctx, request)
	if err != nil {
		return Completion{}, c.failure(ctx, err)
	}
	list := result.Completion
	out := Completion{More: list.HasMore || list.Total > len(list.Values)}
	for _, value := range list.Values[:min(len(list.Values), mostValues)] {
		out.Values = append(out.Values, shorten(value, mostText))
	}
	return out, nil
}
