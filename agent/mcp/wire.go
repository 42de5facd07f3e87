package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// errNotSent marks a request that the server has certainly not seen.
var errNotSent = errors.New("the request was not sent")

// wire is the transport that mcp-go's client uses: one of mcp-go's own, with answers
// that its client can read. The zero value is no transport.
type wire struct {
	transport.Interface
	program *program // nil unless the server is a program
	http    *remote  // nil unless it is reached over HTTP
	refused error    // why the server takes nothing from us
	// onHandler receives what handles the requests of the server.
	onHandler func(transport.RequestHandler)
}

// httpWire is a wire over HTTP, which the client treats in its own way.
type httpWire struct{ *wire }

// SetProtocolVersion implements [transport.HTTPConnection].
func (w httpWire) SetProtocolVersion(version string) { w.http.SetProtocolVersion(version) }

// SetRequestHandler implements [transport.BidirectionalInterface]: the client handles
// the requests of the server that a [filter] found.
func (w *wire) SetRequestHandler(handler transport.RequestHandler) { w.onHandler(handler) }

// exchange is what becomes of the newest request with a context.
type exchange struct {
	sent bool            // the transport got it
	text json.RawMessage // of the result, for what mcp-go's types lose
}

type exchangeKey struct{}

// withExchange returns a context for requests that follow one another.
func withExchange(ctx context.Context) (context.Context, *exchange) {
	e := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, e), e
}

// exchangeIn returns what [withExchange] made; nil if it did not.
func exchangeIn(ctx context.Context) *exchange {
	e, _ := ctx.Value(exchangeKey{}).(*exchange)
	return e
}

// SendRequest implements [transport.Interface]. What a server answered with an error is
// a [Fault], too.
func (w *wire) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	e := exchangeIn(ctx)
	if e == nil {
		e = &exchange{}
	}
	e.sent, e.text = true, nil
	if w.program != nil {
		if err := w.program.failure(); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotSent, err)
		}
	}
	response, err := w.first(ctx, request)
	switch {
	case err != nil:
		return nil, w.reason(ctx, err)
	case response == nil:
		return nil, w.reason(ctx, &Fault{Kind: FaultProtocol, Detail: "no answer"})
	case response.Error != nil:
		return nil, answerFault(response.Error)
	}
	e.text = response.Result
	response.Result = readable(request.Method, response.Result)
	return response, nil
}

// SendNotification implements [transport.Interface].
func (w *wire) SendNotification(ctx context.Context, n protocol.JSONRPCNotification) error {
	if err := w.Interface.SendNotification(ctx, n); err != nil {
		return w.reason(ctx, err)
	}
	return nil
}

// reason returns why a transport failed, where its error does not say so. mcp-go's
// transport for SSE has a timer of its own for the deadline of ctx: if that is the
// faster one, it returns another error, or neither an error nor an answer.
func (w *wire) reason(ctx context.Context, err error) error {
	if w.program != nil && errors.Is(err, transport.ErrTransportClosed) {
		return w.program.failure()
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // any moment now
		return ctx.Err()
	}
	return err
}

// first sends a request. The one that a connection begins with asks for the newest
// protocol; whatever goes wrong with it, mcp-go's client then tries the older handshake,
// which is right for an older server only.
func (w *wire) first(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	switch request.Method {
	case string(protocol.MethodInitialize):
		if w.refused != nil { // no handshake helps
			return nil, w.refused
		}
	case string(protocol.MethodServerDiscover):
		response, err := w.Interface.SendRequest(ctx, request)
		if err == nil && response != nil && wantsSame(response) {
			response, err = w.Interface.SendRequest(ctx, request)
		}
		if errors.Is(err, ErrNeedsAuth) {
			w.refused = err
		}
		if err == nil && response != nil && response.Error == nil && !knowsNewest(response.Result) {
			err = &Fault{Kind: FaultProtocol, Detail: "it names no version of the protocol"}
		}
		return response, err
	}
	return w.Interface.SendRequest(ctx, request)
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
	var versions struct {
		Supported []string `json:"supportedVersions"`
	}
	return json.Unmarshal(result, &versions) == nil && slices.ContainsFunc(versions.Supported, protocol.IsModernProtocol)
}
