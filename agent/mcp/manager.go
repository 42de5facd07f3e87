package mcp

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Config is what a [Manager] needs of its host.
type Config struct {
	Version string          // Atelier's own, for servers
	Dir     string          // the project's folder: default working directory, and the one root
	Environ func() []string // the machine's variables, which are filtered for servers (K-16)
	// RoundTripper carries the requests to a server over HTTP: authorisation and
	// network policy. It fails with [ErrNeedsAuth] if the user has to authorise. Nil
	// means the default.
	RoundTripper func(Server) http.RoundTripper
	Asker        Asker  // nil refuses what servers ask
	Changed      func() // there is news to show; it must not block
	Now          func() time.Time
}

// Asker answers what servers ask. Its methods are called on goroutines of their
// own, and ctx ends with the call that the question belongs to.
type Asker interface {
	Sample(ctx context.Context, from Caller, r SamplingRequest) (SamplingResult, error)
	Elicit(ctx context.Context, from Caller, r ElicitRequest) (ElicitResult, error)
}

// Caller is the call in flight that a server's question belongs to.
type Caller struct{ Server, Session, CallID string }

// ErrRefused is what an [Asker] answers if nobody may or wants to answer.
var ErrRefused = errors.New("the user refused")

// Manager keeps the connections to servers. It is safe for concurrent use.
type Manager struct{ cfg Config }

// New returns a manager without servers.
func New(cfg Config) *Manager { return &Manager{cfg: cfg} }

// Difference is what [Manager.SetServers] changed. A server with another value
// is both removed and added (OAS-411). Errors are of servers that cannot be
// connected as they are configured.
type Difference struct {
	Added, Removed []string
	Errors         map[string]error
}

// SetServers replaces the servers by difference: it disconnects those that are
// gone or changed, and connects new ones in the background. It does not wait for
// any server.
func (m *Manager) SetServers([]Server) Difference { return Difference{} }

// Status says what each server is like, asked of the connections now, in the
// order of their names.
func (m *Manager) Status() []Status { return nil }

// Tools returns what the servers offer to models, in the order of their names,
// and a number that changes with it. The slices are shared and must not be
// changed.
func (m *Manager) Tools() ([]ServerTools, uint64) { return nil, 0 }

// Call calls a tool. An error means that the server did not do it, or did not
// say so; it is a [*Fault] unless ctx ended.
func (m *Manager) Call(context.Context, CallRequest) (CallResult, error) {
	return CallResult{}, nil
}

// Resources lists the resources and templates of a server, or of all that are
// connected if it is empty.
func (m *Manager) Resources(context.Context, string) ([]Resource, error) { return nil, nil }

// ReadResource reads one resource of a server.
func (m *Manager) ReadResource(ctx context.Context, server, uri string) ([]Content, error) {
	return nil, nil
}

// Prompts lists the prompts of a server, or of all that are connected if it is
// empty.
func (m *Manager) Prompts(context.Context, string) ([]Prompt, error) { return nil, nil }

// GetPrompt expands a prompt of a server.
func (m *Manager) GetPrompt(ctx context.Context, server, prompt string, arguments map[string]string) (PromptText, error) {
	return PromptText{}, nil
}

// Complete asks a server for values of an argument.
func (m *Manager) Complete(context.Context, CompleteRequest) (Completion, error) {
	return Completion{}, nil
}

// Reconnect disconnects a server and connects it as it was configured (OAS-409). It
// starts a program anew. It returns when the server is connected or why it is not.
func (m *Manager) Reconnect(ctx context.Context, server string) error { return nil }

// Switch disconnects a server but keeps it, or connects it again (OAS-410).
func (m *Manager) Switch(server string, on bool) error { return nil }

// Log returns the newest of what a program printed to its standard error, and the
// newest entries of a server's log, oldest first.
func (m *Manager) Log(server string) (stderr string, entries []LogEntry) { return "", nil }

// Try connects to a server once, lists what it has, pings it and leaves.
func (m *Manager) Try(context.Context, Server) Trial { return Trial{} }

// Close disconnects all servers. When it returns, nothing of any server is left
// on this machine, also if ctx has ended before.
func (m *Manager) Close(context.Context) error { return nil }
