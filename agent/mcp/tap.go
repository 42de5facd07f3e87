package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// held is what a server answered to one request, as it came. mcp-go's client gets
// an empty result instead, because it reads results into types that lose what
// they do not know, and keeps copies of tools for ever.
type held struct {
	result json.RawMessage
	fault  *protocol.JSONRPCErrorDetails
	header map[string]string // to send along
	whole  bool              // the client gets the result too
	sent   bool              // the request reached the transport
	status atomic.Int32      // of the newest response over HTTP
	id     atomic.Int64      // of the newest request
}

type heldKey struct{}

func withHeld(ctx context.Context, h *held) context.Context {
	return context.WithValue(ctx, heldKey{}, h)
}

// heldIn returns nil if there is none.
func heldIn(ctx context.Context) *held {
	h, _ := ctx.Value(heldKey{}).(*held)
	return h
}

// tap stands between mcp-go's client and a transport.
type tap struct {
	transport.Interface
	shelf   *shelf // nil unless the transport is over HTTP
	refused error  // why the server takes nothing from us
}

// httpTap is a tap on a transport over HTTP, which the client treats in its own way.
type httpTap struct {
	tap
	link *httpLink
}

func (t *httpTap) SetProtocolVersion(version string) { t.link.SetProtocolVersion(version) }

// SendRequest implements [transport.Interface].
func (t *tap) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	h := heldIn(ctx)
	if h == nil {
		return t.ask(ctx, request)
	}
	h.result, h.fault, h.sent = nil, nil, true
	if len(h.header) > 0 {
		if request.Header = maps.Clone(request.Header); request.Header == nil {
			request.Header = http.Header{}
		}
		for name, value := range h.header {
			request.Header.Set(name, value)
		}
	}
	id, _ := request.ID.Value().(int64)
	h.id.Store(id)
	if t.shelf != nil {
		t.shelf.expect(id)
		defer t.shelf.take(id)
	}
	response, err := t.ask(ctx, request)
	if err != nil {
		return nil, err
	}
	if t.shelf != nil {
		if big := t.shelf.take(id); big != nil {
			response.Result = big
		}
	}
	h.result, h.fault = response.Result, response.Error
	if !h.whole && response.Error == nil && !bytes.Contains(response.Result, []byte(inputRequired)) {
		instead := *response
		instead.Result = emptyResult(request.Method)
		return &instead, nil
	}
	return response, nil
}

// ask returns an answer or an error. Mcp-go's transport for SSE has a timer of its own
// for the deadline of ctx. If that is the faster one, it returns an error that does
// not say so, or neither an answer nor an error, which its client does not survive.
func (t *tap) ask(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := t.probe(ctx, request)
	if err == nil && response != nil {
		return response, nil
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // any moment now
		return nil, ctx.Err()
	}
	if err == nil {
		err = &Fault{Kind: FaultProtocol, Detail: "no answer"}
	}
	return nil, err
}

// inputRequired marks a result that asks for something first, which is mcp-go's
// to handle.
var inputRequired = string(protocol.ResultTypeInputRequired)

// emptyResult is what mcp-go's client accepts as the result of a method.
func emptyResult(method string) json.RawMessage {
	member := map[protocol.MCPMethod]string{
		protocol.MethodToolsList: "tools", protocol.MethodToolsCall: "content", protocol.MethodResourcesList: "resources",
		protocol.MethodResourcesTemplatesList: "resourceTemplates", protocol.MethodResourcesRead: "contents",
		protocol.MethodPromptsList: "prompts", protocol.MethodPromptsGet: "messages", protocol.MethodTasksResult: "content",
	}[protocol.MCPMethod(method)]
	if member == "" {
		return json.RawMessage(`{}`)
	}
	return json.RawMessage(`{"` + member + `":[]}`)
}
