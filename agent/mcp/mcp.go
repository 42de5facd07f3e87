package mcp

import (
	"encoding/json"
	"time"
)

// Transport is how a server is reached (OAS-401).
type Transport string

// The transports.
const (
	TransportStdio Transport = "stdio" // a program, over its input and output
	TransportHTTP  Transport = "http"  // Streamable HTTP
	TransportSSE   Transport = "sse"   // HTTP with server-sent events, of 2024
	// TransportClaudeAI is Streamable HTTP through claude.ai's proxy, which is told
	// the server's id in a header (OAS-405).
	TransportClaudeAI Transport = "claudeai-proxy"
	TransportSDK      Transport = "sdk" // tools of this program, called directly (OAS-413)
)

// Server is how one server is reached. Its variables are expanded already. Two
// servers with equal values are the same; a changed value means a new connection.
type Server struct {
	// Name is unique, and has no double underscore (OAS-407). It may have any other
	// characters; [ToolName] makes names for models from it.
	Name      string
	Transport Transport
	Stdio     Stdio  // for TransportStdio
	Remote    Remote // for the transports over HTTP
	// Trusted says that the user believes what the server says about its own tools,
	// such as that they only read (OAS-417).
	Trusted bool
	// AlwaysShown says that its tools are shown to models at once, however many
	// there are.
	AlwaysShown bool
	Limits      Limits
	// Off are the tools that the configuration switches off, by the server's own
	// names. Only, if it is not nil, are the only ones that are on.
	Off, Only []string
}

// Stdio is a server that is a program of this machine.
type Stdio struct {
	Command string // absolute, or looked up in PATH (OAS-402)
	Args    []string
	// Env are variables beyond the filtered environment (OAS-403, K-16).
	Env map[string]string
	Dir string // absolute; empty means the project's folder
}

// Remote is a server that is reached over HTTP.
type Remote struct {
	URL     string
	Headers map[string]string
	// ID is the server's id at claude.ai's proxy.
	ID    string
	OAuth OAuth
}

// OAuth is what the configuration says about how a server authorises us. The zero
// value leaves everything to what the server tells.
type OAuth struct {
	ClientID string
	// ClientSecret is for clients that were registered by hand.
	ClientSecret string
	// MetadataURL is where the client's metadata document is.
	MetadataURL string
	// Issuer is the authorisation server that the client is registered with. No
	// other one gets its secret. Empty means the one that the server names.
	Issuer string
	// CallbackPort is the port of loopback where the browser comes back; 0 means
	// any that is free.
	CallbackPort int
	Scopes       []string
	Unattended   Unattended
}

// Unattended is how we get tokens without a person. The zero value means that the
// user authorises Atelier in a browser.
type Unattended struct {
	Grant UnattendedGrant
	// PrivateKey is the client's, as PEM: it signs in place of a secret.
	PrivateKey string
	// Assertion is the token of GrantAssertion, or the identity of GrantIdentity.
	Assertion string
	// IdentityURL is the token endpoint of the user's company, where IdentityClient
	// exchanges the identity.
	IdentityURL, IdentityClient string
}

// UnattendedGrant is a way to tokens without a person.
type UnattendedGrant string

// The ways to tokens without a person.
const (
	GrantClient    UnattendedGrant = "client_credentials" // the client's own rights
	GrantAssertion UnattendedGrant = "assertion"          // a token of the machine that it runs on
	GrantIdentity  UnattendedGrant = "identity"           // the user's identity in a company, which manages who may use which server
)

// Limits are the times after which a server is given up. Zero values mean the
// defaults.
type Limits struct {
	Start time.Duration // to connect and list tools: 10 s, at most 30 s
	Call  time.Duration // of one call without any progress
}

// State says what a connection is like.
type State string

// The states of a connection (OAS-408).
const (
	StateOff        State = "disabled"   // the user switched it off
	StateConnecting State = "pending"    // it is being connected, or waits for the next attempt
	StateConnected  State = "connected"  // it answered its newest request or ping
	StateFailed     State = "failed"     // it does not answer; the reason says why
	StateNeedsAuth  State = "needs_auth" // it wants the user to authorise Atelier
)

// Status is what is known about one server at the moment of the question.
type Status struct {
	Name      string
	Transport Transport
	State     State
	// Reason says why a server is not connected; nil if it is, or was not tried.
	Reason error
	// Since is when the state began, Next when the next attempt is due.
	Since, Next time.Time
	Peer        Peer
	Health      Health
	Tools       []ToolStatus // as the server listed them
	Resources   int          // and templates
	Prompts     int
}

// Peer is what a server said about itself. The texts are the server's.
type Peer struct {
	Protocol     string // the negotiated version
	Name         string
	Version      string
	Instructions string
}

// Health is how a connection did.
type Health struct {
	PID      int // of a program; 0 for others
	Restarts int // since the program was first started
	Pinged   time.Time
	Latency  time.Duration // of the newest answer to a ping
	Answered time.Time     // when a call succeeded last
	Calls    int
	Failures int
}

// ToolStatus is one tool of a server.
type ToolStatus struct {
	Name        string // the server's own
	Model       string // the name for models
	Title       string
	Description string
	Schema      json.RawMessage
	// ReadOnly and Destructive are what the server says; they are believed of
	// trusted servers only.
	ReadOnly, Destructive bool
	Tokens                int // an estimate of what its definition costs in a request
	Calls, Failures       int
	// Problem says why the tool cannot be offered: a schema that does not work, a
	// name that is taken. Empty if it can.
	Problem string
}
