package serve

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Config is what a server offers.
type Config struct {
	// Name and Version are what the server calls itself. Instructions are for the
	// client's model; they may be empty.
	Name, Version, Instructions string
	Tools                       []Tool
	// Call runs a call. It is called from many goroutines at a time, and returns soon
	// after its context ends.
	Call func(context.Context, Call) agent.Result
	// Left is called when a client has left, by its id; nil if nobody wants to know.
	Left func(client string)
}

// Tool is a tool as clients see it.
type Tool struct {
	Name string // as clients call it; empty means the tool's own
	agent.Spec
}

// Call is a call of a client.
type Call struct {
	Client Client
	Tool   string // the tool's own name
	Input  json.RawMessage
	// Output passes on what the call prints, as progress. It never blocks for long.
	Output func(text string)
	// Ask asks the person at the client whether something may be done.
	Ask func(context.Context, Question) (Answer, error)
}

// Client is who calls.
type Client struct {
	// ID is the same for all calls of one client.
	ID string
	// Name is what the client calls itself. It is bounded, but untrusted.
	Name string
}

// Server offers tools. It is safe for concurrent use.
type Server struct {
	cfg      Config
	protocol *server.MCPServer
	waiting  waiting
}

// New returns a server.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg}
	options := []server.ServerOption{
		server.WithToolCapabilities(false), server.WithRecovery(),
		server.WithHooks(s.hooks()),
	}
	if cfg.Instructions != "" {
		options = append(options, server.WithInstructions(cfg.Instructions))
	}
	s.protocol = server.NewMCPServer(cfg.Name, cfg.Version, options...)
	for _, t := range cfg.Tools {
		s.protocol.AddTool(t.definition(), s.handler(t.Spec.Name))
	}
	return s
}

// hooks tells the owner when a client has left.
func (s *Server) hooks() *server.Hooks {
	hooks := &server.Hooks{}
	if s.cfg.Left != nil {
		hooks.AddOnUnregisterSession(func(_ context.Context, session server.ClientSession) { s.cfg.Left(session.SessionID()) })
	}
	return hooks
}

// definition returns a tool as the protocol describes it.
func (t Tool) definition() mcp.Tool {
	name := t.Name
	if name == "" {
		name = t.Spec.Name
	}
	d := mcp.NewToolWithRawSchema(name, t.Description, t.Schema)
	d.Annotations = mcp.ToolAnnotation{
		ReadOnlyHint: mcp.ToBoolPtr(t.ReadOnly), DestructiveHint: mcp.ToBoolPtr(!t.ReadOnly && !t.Additive), IdempotentHint: mcp.ToBoolPtr(t.Idempotent),
		OpenWorldHint: mcp.ToBoolPtr(t.OpenWorld),
	}
	return d
}

// handler runs the calls of a tool.
func (s *Server) handler(tool string) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		input, err := json.Marshal(r.GetRawArguments())
		if err != nil {
			return nil, err
		}
		if string(input) == "null" {
			input = json.RawMessage("{}")
		}
		if p, ok := s.waiting.take(r.Params.RequestState); ok {
			p.deliver(r.Params.InputResponses)
			return s.follow(ctx, p)
		}
		if r.Params.RequestState != "" {
			return mcp.NewToolResultError("The question was answered too late: the call has ended. Call it again."), nil
		}
		return s.follow(ctx, s.begin(ctx, tool, input, r.Params.Meta))
	}
}

// clientOf returns who sent a request. A client of the newest protocol has no
// session; what it calls itself stands for it.
func clientOf(ctx context.Context) Client {
	const longest = 200
	var c Client
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if info.ClientInfo != nil {
			c.Name = info.ClientInfo.Name
		}
		c.ID = "client " + c.Name
	} else if session := server.ClientSessionFromContext(ctx); session != nil {
		c.ID = session.SessionID()
		if with, ok := session.(server.SessionWithClientInfo); ok {
			c.Name = with.GetClientInfo().Name
		}
	}
	c.Name = strings.ToValidUTF8(c.Name[:min(len(c.Name), longest)], "")
	if c.Name == "" {
		c.Name = "a program"
	}
	return c
}

// canAsk reports whether the client can ask its person for values.
func canAsk(ctx context.Context) bool {
	var capabilities *mcp.ClientCapabilities
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		capabilities = info.ClientCapabilities
	} else if with, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		has := with.GetClientCapabilities()
		capabilities = &has
	}
	return capabilities != nil && capabilities.Elicitation != nil
}

// resultOf writes a result in the form of the protocol.
func resultOf(r agent.Result) *mcp.CallToolResult {
	out := &mcp.CallToolResult{IsError: r.IsError}
	if r.Output != "" || len(r.Media) == 0 {
		out.Content = append(out.Content, mcp.NewTextContent(r.Output))
	}
	for _, m := range r.Media {
		out.Content = append(out.Content, contentOf(m))
	}
	return out
}

func contentOf(m llm.Media) mcp.Content {
	data := base64.StdEncoding.EncodeToString(m.Data)
	switch kind, _, _ := strings.Cut(m.MIME, "/"); {
	case len(m.Data) == 0 && m.URL != "":
		return mcp.NewTextContent(m.URL)
	case kind == "image":
		return mcp.NewImageContent(data, m.MIME)
	case kind == "audio":
		return mcp.NewAudioContent(data, m.MIME)
	}
	return mcp.NewEmbeddedResource(mcp.BlobResourceContents{URI: "atelier:" + m.Name, MIMEType: m.MIME, Blob: data})
}
