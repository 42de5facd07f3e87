package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"
)

// ErrNeedsAuth says that the user has to authorise Atelier at the server.
var ErrNeedsAuth = errors.New("the server wants the user to authorise Atelier")

// FaultKind names what is wrong with a server, or with a call.
type FaultKind string

// The kinds of faults. Detail has what the comments say.
const (
	FaultConfig     FaultKind = "config"      // it cannot be connected as it is configured: what is wrong
	FaultNotAllowed FaultKind = "not_allowed" // its program may not start now: why
	FaultNoFile     FaultKind = "no_file"     // there is no such program: the command
	FaultStart      FaultKind = "start"       // its program cannot be started: the system's error
	FaultExited     FaultKind = "exited"      // its program ended: the exit code
	FaultSlow       FaultKind = "slow"        // it was not ready in time: the limit
	FaultSilent     FaultKind = "silent"      // it does not answer pings
	FaultBlocked    FaultKind = "blocked"     // it does not read its input
	FaultGarbage    FaultKind = "garbage"     // it sends what is not a message: its beginning
	FaultTooLarge   FaultKind = "too_large"   // it sent more than is accepted: the limit
	FaultVersion    FaultKind = "version"     // it speaks no version of the protocol that we know: its own
	FaultRefused    FaultKind = "refused"     // the network refused the connection: the system's error
	FaultHTTP       FaultKind = "http"        // it answered with a status other than success: the status
	FaultRedirect   FaultKind = "redirect"    // it redirects to where we do not follow: the address
	FaultAuth       FaultKind = "auth"        // [ErrNeedsAuth]
	FaultGaveUp     FaultKind = "gave_up"     // its program ended too often: how it ended last
	FaultProtocol   FaultKind = "protocol"    // it broke the protocol: how
	FaultAnswer     FaultKind = "answer"      // it answered with an error: its words
	FaultTimeout    FaultKind = "timeout"     // a call took too long: the limit
	FaultUnknown    FaultKind = "unknown"     // no such server, or it has no such tool: its name
	FaultOff        FaultKind = "off"         // the user switched it off
	FaultClosed     FaultKind = "closed"      // it was disconnected by us
)

// Fault is why a server is not connected or a call failed. Detail may be the
// server's words, and is bounded.
type Fault struct {
	Kind   FaultKind
	Detail string
	Err    error // the cause; may be nil
}

func (f *Fault) Error() string {
	text := string(f.Kind)
	if f.Kind == FaultAuth {
		text = ErrNeedsAuth.Error() // which the log of the connection shows
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

func (f *Fault) Unwrap() error { return f.Err }

// answerFault is the fault of a request that the server answered with an error.
func answerFault(e *protocol.JSONRPCErrorDetails) *Fault {
	switch e.Code {
	case codeTooLarge:
		return &Fault{Kind: FaultTooLarge, Detail: e.Message}
	case codeGarbage:
		return &Fault{Kind: FaultGarbage, Detail: e.Message}
	}
	return &Fault{Kind: FaultAnswer, Detail: shorten(strings.ToValidUTF8(e.Message, "\uFFFD"), mostText), Err: e.AsError()}
}

// fault names what went wrong on a connection with the request of ctx, if it has one.
func (c *conn) fault(ctx context.Context, err error) *Fault {
	var fault *Fault
	var version protocol.UnsupportedProtocolVersionError
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.Is(err, transport.ErrSessionTerminated) && c.peer != (Peer{}):
		return &Fault{Kind: FaultProtocol, Detail: "it forgot the session", Err: err}
	case errors.Is(err, ErrNeedsAuth):
		return &Fault{Kind: FaultAuth, Err: err}
	case errors.As(err, &version) && version.Version == "":
		return &Fault{Kind: FaultProtocol, Detail: "it does not say which version of the protocol it speaks", Err: err}
	case errors.As(err, &version):
		return &Fault{Kind: FaultVersion, Detail: beginning(version.Version, shownOf), Err: err}
	case ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Fault{Kind: FaultTimeout, Err: ctx.Err()}
	case ctx.Err() != nil:
		return &Fault{Kind: FaultClosed, Err: ctx.Err()}
	}
	if c.wire.http != nil {
		if fault := c.wire.http.fault(err); fault != nil {
			return fault
		}
	}
	var sending *transport.Error
	if !errors.As(err, &sending) {
		return &Fault{Kind: FaultProtocol, Detail: "its answer cannot be read: " + shorten(err.Error(), mostText), Err: err}
	}
	return &Fault{Kind: FaultProtocol, Detail: shorten(rootOf(err).Error(), mostText), Err: err}
}

// retryable reports whether another attempt may go better without anybody's help.
func (f *Fault) retryable() bool {
	switch f.Kind {
	case FaultConfig, FaultNoFile, FaultVersion, FaultRedirect, FaultAuth, FaultTooLarge:
		return false
	case FaultHTTP:
		return !strings.HasPrefix(f.Detail, "4") || f.Detail == "408" || f.Detail == "429"
	}
	return true
}
