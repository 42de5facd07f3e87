package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// mostAsks is how many requests of one server are answered at a time.
const mostAsks = 8

// notified implements peer.
func (c *conn) notified(method string, params json.RawMessage) {
	switch method {
	case string(protocol.MethodNotificationProgress):
		c.progressed(params)
	case string(protocol.MethodNotificationMessage):
		var m struct {
			Level  string          `json:"level"`
			Logger string          `json:"logger"`
			Data   json.RawMessage `json:"data"`
		}
		if json.Unmarshal(params, &m) != nil {
			return
		}
		var text string
		if json.Unmarshal(m.Data, &text) != nil {
			text = string(m.Data[:min(len(m.Data), 2*mostEntry)])
		}
		c.log.wrote(m.Level, m.Logger, strings.ToValidUTF8(text, "\uFFFD"))
	case protocol.MethodNotificationToolsListChanged, protocol.MethodNotificationResourcesListChanged, protocol.MethodNotificationPromptsListChanged:
		c.mu.Lock()
		c.state.stale[method] = true
		c.mu.Unlock()
		signal(c.dirty)
	}
}

// strange implements peer.
func (c *conn) strange(what Happening, args ...string) { c.log.happened(what, args...) }

// began implements peer.
func (c *conn) began(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.first == "" {
		c.state.first = text
	}
}

// asked implements peer.
func (c *conn) asked(method string, params json.RawMessage, answer func(reply)) {
	c.mu.Lock()
	busy := c.state.asks >= mostAsks
	if !busy {
		c.state.asks++
	}
	c.mu.Unlock()
	if busy {
		return // a server that asks without end is not answered
	}
	params = bytes.Clone(params)
	go func() { // ends with the call that the question belongs to, or with the connection
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state.asks--
		}()
		result, err := c.handle(c.life, method, params)
		if err != nil {
			answer(reply{Error: replyErrorOf(err)})
			return
		}
		answer(reply{Result: result})
	}()
}

var errNoMethod = errors.New("this client has no such method")

func replyErrorOf(err error) *replyError {
	code := protocol.INTERNAL_ERROR
	switch {
	case errors.Is(err, errNoMethod):
		code = protocol.METHOD_NOT_FOUND
	case errors.Is(err, ErrRefused):
		code = -1 // as the protocol says for a user who refused
	}
	return &replyError{Code: code, Message: err.Error()}
}

// handle answers a request of the server.
func (c *conn) handle(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch protocol.MCPMethod(method) {
	case protocol.MethodPing:
		return struct{}{}, nil
	case protocol.MethodListRoots:
		return c.roots(), nil
	case protocol.MethodSamplingCreateMessage:
		return c.sample(ctx, params)
	case protocol.MethodElicitationCreate:
		return c.elicit(ctx, params)
	}
	return nil, errNoMethod
}

func (c *conn) roots() *protocol.ListRootsResult {
	result := &protocol.ListRootsResult{Roots: []protocol.Root{}}
	if c.cfg.Dir != "" {
		path := filepath.ToSlash(c.cfg.Dir)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path // a drive of Windows
		}
		at := url.URL{Scheme: "file", Path: path}
		result.Roots = append(result.Roots, protocol.Root{URI: at.String(), Name: filepath.Base(c.cfg.Dir)})
	}
	return result
}

// attribute finds the call that a question belongs to, and a context that ends
// with it.
func (c *conn) attribute(ctx context.Context) (context.Context, *call, error) {
	if c.cfg.Asker == nil {
		return nil, nil, errNoMethod
	}
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

func (c *conn) sample(ctx context.Context, params json.RawMessage) (*protocol.CreateMessageResult, error) {
	ctx, own, err := c.attribute(ctx)
	if err != nil {
		return nil, err
	}
	var raw struct {
		Messages    []rawMessage `json:"messages"`
		System      string       `json:"systemPrompt"`
		MaxTokens   int          `json:"maxTokens"`
		Temperature *float64     `json:"temperature"`
		Stop        []string     `json:"stopSequences"`
		Preferences struct {
			Hints []struct {
				Name string `json:"name"`
			} `json:"hints"`
		} `json:"modelPreferences"`
	}
	if err := json.Unmarshal(params, &raw); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	request := SamplingRequest{
		System: raw.System, Messages: promptMessages(raw.Messages), MaxTokens: raw.MaxTokens, Temperature: raw.Temperature,
		Stop: raw.Stop[:min(len(raw.Stop), 16)],
	}
	for _, hint := range raw.Preferences.Hints[:min(len(raw.Preferences.Hints), 16)] {
		request.Models = append(request.Models, shorten(hint.Name, mostText))
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

func (c *conn) elicit(ctx context.Context, params json.RawMessage) (*protocol.ElicitationResult, error) {
	ctx, own, err := c.attribute(ctx)
	if err != nil {
		return nil, err
	}
	var raw rawElicitation
	if err := json.Unmarshal(params, &raw); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	answer, err := c.ask(ctx, own, raw)
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

type rawElicitation struct {
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
	URL     string          `json:"url"`
	ID      string          `json:"elicitationId"`
}

// ask has the user answer. Only addresses of the web are shown to them.
func (c *conn) ask(ctx context.Context, own *call, raw rawElicitation) (ElicitResult, error) {
	request := ElicitRequest{Message: shorten(raw.Message, mostDescription)}
	switch raw.Mode {
	case "", "form":
		request.Schema = raw.Schema
	case "url":
		at, err := url.Parse(raw.URL)
		if err != nil || at.Scheme != "https" && at.Scheme != "http" || at.Host == "" || len(raw.URL) > mostDescription {
			return ElicitResult{}, errors.New("the address is not one of the web")
		}
		request.URL, request.ID = raw.URL, shorten(raw.ID, mostText)
	default:
		return ElicitResult{}, fmt.Errorf("there is no mode %q", beginning(raw.Mode, shownOf))
	}
	defer own.pause()()
	return c.cfg.Asker.Elicit(ctx, own.from, request)
}

// asker answers what mcp-go's client asks between the rounds of one call.
type asker struct{ *conn }

// ListRoots implements client.RootsHandler.
func (a asker) ListRoots(context.Context, protocol.ListRootsRequest) (*protocol.ListRootsResult, error) {
	return a.roots(), nil
}

// CreateMessage implements client.SamplingHandler.
func (a asker) CreateMessage(ctx context.Context, r protocol.CreateMessageRequest) (*protocol.CreateMessageResult, error) {
	params, err := json.Marshal(r.CreateMessageParams)
	if err != nil {
		return nil, err
	}
	return a.sample(ctx, params)
}

// Elicit implements client.ElicitationHandler.
func (a asker) Elicit(ctx context.Context, r protocol.ElicitationRequest) (*protocol.ElicitationResult, error) {
	params, err := json.Marshal(r.Params)
	if err != nil {
		return nil, err
	}
	return a.elicit(ctx, params)
}
