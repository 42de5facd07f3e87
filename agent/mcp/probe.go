package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// probe sends what a connection begins with. The first request asks for the newest
// protocol; whatever goes wrong with it, mcp-go's client then tries the older
// handshake, which is right for an older server only.
func (t *tap) probe(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	switch request.Method {
	case string(protocol.MethodInitialize):
		if t.refused != nil { // no handshake helps
			return nil, t.refused
		}
	case string(protocol.MethodServerDiscover):
		response, err := t.Interface.SendRequest(ctx, request)
		if err == nil && response != nil && wantsSame(response) {
			response, err = t.Interface.SendRequest(ctx, request)
		}
		if errors.Is(err, ErrNeedsAuth) {
			t.refused = err
		}
		if err == nil && response != nil && response.Error == nil && !knowsNewest(response.Result) {
			response.Result, response.Error = nil, &protocol.JSONRPCErrorDetails{Code: protocol.METHOD_NOT_FOUND, Message: "no versions"}
		}
		return response, err
	}
	return t.Interface.SendRequest(ctx, request)
}

// wantsSame reports whether a server refused a version that it says it speaks. Asked
// again, it may take it.
func wantsSame(response *transport.JSONRPCResponse) bool {
	var unsupported protocol.UnsupportedProtocolVersionError
	return response.Error != nil && errors.As(response.Error.AsError(), &unsupported) &&
		slices.Contains(unsupported.Supported, protocol.LATEST_PROTOCOL_VERSION)
}

// knowsNewest reports whether a server that answered the first request understood
// it. Some servers answer every request with an empty result.
func knowsNewest(result json.RawMessage) bool {
	var said struct {
		Supported []string `json:"supportedVersions"`
	}
	return json.Unmarshal(result, &said) == nil && slices.ContainsFunc(said.Supported, protocol.IsModernProtocol)
}
