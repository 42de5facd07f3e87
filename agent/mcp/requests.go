package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

const (
	mostAsks  = 8  // requests of one server that are answered at a time
	mostHints = 16 // stop sequences of a request for sampling, and models
)

// notified takes a notification.
func (c *conn) notified(n protocol.JSONRPCNotification) {
	params := n.Params.AdditionalFields
	switch n.Method {
	case string(protocol.MethodNotificationProgress):
		c.progressed(params)
	case string(protocol.MethodNotificationMessage):
		level, _ := params["level"].(string)
		logger, _ := params["logger"].(string)
		text, isText := params["data"].(string)
		if data, err := json.Marshal(params["data"]); !isText && err == nil {
			text = string(data[:min(len(data), 2*mostEntry)])
		}
		c.log.wrote(level, logger, strings.ToValidUTF8(text, "\uFFFD"))
	case protocol.MethodNotificationToolsListChanged, protocol.MethodNotificationResourcesListChanged, protocol.MethodNotificationPromptsListChanged:
		c.mu.Lock()
		c.state.stale[n.Method] = true
		c.mu.Unlock()
		signal(c.dirty)
	}
}

// report implements host.
func (c *conn) report(what Happening, args ...string) { c.log.happened(what, args...) }

// greeted implements host.
func (c *conn) greeted(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.first == "" {
		c.state.first = text
	}
}

// asked implements host.
func (c *conn) asked(request transport.JSONRPCRequest, answer func(*transport.JSONRPCResponse)) {
	c.mu.Lock()
	busy := c.state.asks >= mostAsks
	if !busy {
		c.state.asks++
	}
	c.mu.Unlock()
	if busy {
		return // a server that asks without end is not answered
	}
	go func() { // ends with the call that the question belongs to, or with the connection
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state.asks--
		}()
		params, _ := request.Params.(json.RawMessage)
		response, err := c.handle(context.WithValue(c.life, paramsKey{}, params), request)
		if err != nil {
			response = transport.NewJSONRPCErrorResponse(request.ID, errorCode(err), err.Error(), nil)
		}
		answer(response)
	}()
}

// paramsKey is the key of the text of a request's parameters in a context. mcp-go's
// types lose the order of the fields of a form, and whether a temperature of 0 was given.
type paramsKey struct{}

// readParams reads the parameters of the request that ctx is about; it reads nothing if
// the request came within the result of a call.
func readParams(ctx context.Context, to any) {
	if text, ok := ctx.Value(paramsKey{}).(json.RawMessage); ok {
		_ = json.Unmarshal(text, to)
	}
}

var errNoMethod = errors.New("this client has no such method")

func errorCode(err error) int {
	switch {
	case errors.Is(err, errNoMethod):
		return protocol.METHOD_NOT_FOUND
	case errors.Is(err, ErrRefused):
		return -1 // as the protocol says for a user who refused
	}
	return protocol.INTERNAL_ERROR
}

// handle has mcp-go's client answer a request of the server.
func (c *conn) handle(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	known := false
	switch protocol.MCPMethod(request.Method) {
	case protocol.MethodPing, protocol.MethodListRoots:
		known = true
	case protocol.MethodSamplingCreateMessage, protocol.MethodElicitationCreate:
		known = c.cfg.Asker != nil
	}
	c.mu.Lock()
	handler := c.state.handler
	c.mu.Unlock()
	if !known || handler == nil {
		return nil, errNoMethod
	}
	return handler(ctx, request)
}

func (c *conn) setHandler(handler transport.RequestHandler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.handler = handler
}

// ListRoots implements [client.RootsHandler].
func (c *conn) ListRoots(context.Context, protocol.ListRootsRequest) (*protocol.ListRootsResult, error) {
	result := &protocol.ListRootsResult{}
	if c.cfg.Dir != "" {
		path := filepath.ToSlash(c.cfg.Dir)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive of Windows
		}
		at := url.URL{Scheme: "file", Path: path}
		result.Roots = append(result.Roots, protocol.Root{URI: at.String(), Name: filepath.Base(c.cfg.Dir)})
	}
	return result, nil
}

// attribute finds the call that a question belongs to, and a context that ends
// with it.
func (c *conn) attribute(ctx context.Context) (context.Context, *call, error) {
	if own, ok := ctx.Value(callKey{}).(*call); ok {
		return ctx, own, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.state.calls) == 0 {
		return nil, nil, fmt.Errorf("no call is in flight that this could belong to: %w", ErrRefused)
	}
	own := c.state.calls[len(c.state.calls)-1]
	return own.ctx, own, nil
}

// CreateMessage implements [client.SamplingHandler].
func (c *conn) CreateMessage(ctx context.Context, r protocol.CreateMessageRequest) (*protocol.CreateMessageResult, error) {
	request := SamplingRequest{
		System: r.SystemPrompt, Messages: samplingMessages(r.Messages), MaxTokens: r.MaxTokens, Stop: r.StopSequences[:min(len(r.StopSequences), mostHints)],
	}
	var written struct {
		Temperature *float64 `json:"temperature"`
	}
	readParams(ctx, &written)
	request.Temperature = written.Temperature
	ctx, own, err := c.attribute(ctx)
	if err != nil {
		return nil, err
	}
	if r.ModelPreferences != nil {
		for _, hint := range r.ModelPreferences.Hints[:min(len(r.ModelPreferences.Hints), mostHints)] {
			request.Models = append(request.Models, shorten(hint.Name, mostText))
		}
	}
	defer own.pause()()
	answer, err := c.cfg.Asker.Sample(ctx, own.from, request)
	if err != nil {
		return nil, err
	}
	result := &protocol.CreateMessageResult{Model: answer.Model, StopReason: answer.StopReason}
	result.Role = protocol.RoleAssistant
	result.Content = protocol.NewTextContent(answer.Text)
	return result, nil
}

// Elicit implements [client.ElicitationHandler].
func (c *conn) Elicit(ctx context.Context, r protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	schema, err := formOf(ctx, r.Params)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	ctx, own, err := c.attribute(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := c.ask(ctx, own, r.Params, schema)
	if err != nil {
		return nil, err
	}
	result := &protocol.ElicitationResult{}
	result.Action = protocol.ElicitationResponseAction(answer.Action)
	if answer.Action == ActionAccept && len(answer.Content) > 0 {
		result.Content = answer.Content
	}
	return result, nil
}

// formOf returns the schema of a form as the server wrote it, if that is known.
func formOf(ctx context.Context, params protocol.ElicitationParams) (json.RawMessage, error) {
	var written struct {
		Schema json.RawMessage `json:"requestedSchema"`
	}
	if readParams(ctx, &written); written.Schema != nil || params.RequestedSchema == nil {
		return written.Schema, nil
	}
	return json.Marshal(params.RequestedSchema)
}

// ask has the user answer. Only addresses of the web are shown to them.
func (c *conn) ask(ctx context.Context, own *call, params protocol.ElicitationParams, schema json.RawMessage) (ElicitResult, error) {
	request := ElicitRequest{Message: shorten(params.Message, mostDescription)}
	switch params.Mode {
	case "", protocol.ElicitationModeForm:
		request.Schema = schema
	case protocol.ElicitationModeURL:
		at, err := url.Parse(params.URL)
		if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || len(params.URL) > mostDescription {
			return ElicitResult{}, errors.New("the address is not one of the web")
		}
		request.URL, request.ID = params.URL, shorten(params.ElicitationID, mostText)
	default:
		return ElicitResult{}, fmt.Errorf("there is no mode %q", beginning(params.Mode, shownOf))
	}
	defer own.pause()()
	return c.cfg.Asker.Elicit(ctx, own.from, request)
}
