package mcp

import (
	"encoding/json"

	"atelier.dev/atelier/agent"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
)

// ServersRequest is for mcp.list. Switches are those of the session, if it is
// named.
type ServersRequest struct {
	Session string `json:"session,omitempty"`
	// NoConnect connects nothing that is not connected already.
	NoConnect bool `json:"no_connect,omitempty"`
}

// ServersReply lists the servers of all files, and the files.
type ServersReply struct {
	Servers []ServerRow  `json:"servers,omitempty"`
	Files   []ServerFile `json:"files,omitempty"`
	// Waiting are questions of servers that a person has to answer.
	Waiting []ServerQuestion `json:"waiting,omitempty"`
	// Tokens are what all definitions that are shown to models cost in a request;
	// Deferred says that tools are found by ToolSearch instead of being shown.
	Tokens   int  `json:"tokens"`
	Deferred bool `json:"deferred,omitempty"`
}

// ServerFile is a file that defines servers.
type ServerFile struct {
	Path    string         `json:"path"`
	Scope   agent.Scope    `json:"scope"`
	Problem *backend.Error `json:"problem,omitempty"`
}

// ServerRow is a server as it is at the moment of the request.
type ServerRow struct {
	Name   string       `json:"name"`
	Draft  ServerDraft  `json:"draft"`
	Origin ServerOrigin `json:"origin"`
	State  ServerState  `json:"state"`
	// Problem says why it is not connected; nil if it is.
	Problem *backend.Error `json:"problem,omitempty"`
	// Findings are what is odd about its definition.
	Findings []ServerFinding `json:"findings,omitempty"`
	// Trust is the id for trust.show; empty for a server that needs no trust.
	Trust string `json:"trust,omitempty"`
	// SessionOff says that it is switched off in this session only.
	SessionOff bool         `json:"session_off,omitempty"`
	Auth       ServerAuth   `json:"auth"`
	Peer       ServerPeer   `json:"peer"`
	Health     ServerHealth `json:"health"`
	Counts     ServerCounts `json:"counts"`
}

// ServerAuth is how far the user's authorisation of Atelier for a server is.
type ServerAuth struct {
	// Kept says that tokens are kept, which mcp.forget removes.
	Kept bool `json:"kept,omitempty"`
	// URL is where the user authorises Atelier, while that is waited for.
	URL string `json:"url,omitempty"`
}

// ServerState says what a server is like.
type ServerState string

// The states of a server.
const (
	StateConnected  ServerState = "connected"
	StateConnecting ServerState = "connecting"
	StateIdle       ServerState = "idle" // nobody needed it yet
	StateFailed     ServerState = "failed"
	StateNeedsAuth  ServerState = "needs_auth"
	StateOff        ServerState = "off"
	StateUntrusted  ServerState = "untrusted" // it waits for the user's trust
	StateChanged    ServerState = "changed"   // it was trusted, and changed since
	StateRefused    ServerState = "refused"   // the user does not trust it
	StateBroken     ServerState = "broken"    // it cannot be connected as it is written
	StateShadowed   ServerState = "shadowed"  // another file defines a server of this name, which wins
)

// ServerOrigin is where a server is defined.
type ServerOrigin struct {
	Scope agent.Scope `json:"scope"`
	File  string      `json:"file,omitempty"`
	Line  int         `json:"line,omitempty"`
}

// ServerFinding is something odd in a definition: its id, arguments and English.
type ServerFinding struct {
	ID      ServerFindingID `json:"id"`
	Args    []string        `json:"args,omitempty"`
	Message string          `json:"message"`
	// Harmless says that the server can be connected all the same.
	Harmless bool `json:"harmless,omitempty"`
}

// ServerDraft is a definition as it is written, with references to variables and
// without the values of secrets. The page sends one to test or save it.
type ServerDraft struct {
	Name      string   `json:"name"`
	Transport string   `json:"transport"` // stdio, http, sse or claudeai-proxy
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	Dir       string   `json:"cwd,omitempty"`
	URL       string   `json:"url,omitempty"`
	// Env and Headers have a value that is a secret as "". Secrets sends new ones,
	// which go into the keyring.
	Env     map[string]string `json:"env,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Secrets map[string]string `json:"secrets,omitempty"`
	OAuth   *OAuthDraft       `json:"oauth,omitempty"`
	// ProxyID is the server's id at claude.ai's proxy.
	ProxyID string        `json:"proxy_id,omitempty"`
	Options ServerOptions `json:"options"`
}

// ServerOptions are the choices about a server.
type ServerOptions struct {
	Trusted     bool `json:"trusted,omitempty"`      // what it says about its tools is believed
	AlwaysShown bool `json:"always_shown,omitempty"` // its tools are never deferred
	StartMS     int  `json:"start_ms,omitempty"`
	CallMS      int  `json:"call_ms,omitempty"`
}

// OAuthDraft is what is written about authorisation.
type OAuthDraft struct {
	ClientID     string   `json:"client_id,omitempty"`
	CallbackPort int      `json:"callback_port,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// ServerPeer is what the server said about itself.
type ServerPeer struct {
	Protocol     string `json:"protocol,omitempty"`
	Name         string `json:"name,omitempty"`
	Version      string `json:"version,omitempty"`
	Instructions string `json:"instructions,omitempty"`
}

// ServerHealth says how well a connection has worked. Times are in milliseconds since
// 1970; 0 means never.
type ServerHealth struct {
	Since     int64 `json:"since,omitempty"`
	Next      int64 `json:"next,omitempty"` // the next attempt
	PID       int   `json:"pid,omitempty"`
	Restarts  int   `json:"restarts,omitempty"`
	Pinged    int64 `json:"pinged,omitempty"`
	LatencyUS int64 `json:"latency_us,omitempty"`
	Answered  int64 `json:"answered,omitempty"` // the last successful call
	Calls     int   `json:"calls,omitempty"`
	Failures  int   `json:"failures,omitempty"`
}

// ServerCounts say how much a server offers.
type ServerCounts struct {
	Tools     int `json:"tools"`
	ToolsOff  int `json:"tools_off,omitempty"`
	Changed   int `json:"changed,omitempty"` // tools that wait because they changed
	Resources int `json:"resources,omitempty"`
	Prompts   int `json:"prompts,omitempty"`
	Tokens    int `json:"tokens"`
}

// ServerRequest names a server, for mcp.show, mcp.reconnect, mcp.remove,
// mcp.authorise and mcp.forget.
type ServerRequest struct {
	Name string `json:"name"`
	// File is where it is defined. Without one it is the server of this name that
	// wins.
	File    string `json:"file,omitempty"`
	Session string `json:"session,omitempty"`
}

// ServerShown is one server with everything that the panel opens.
type ServerShown struct {
	Server    ServerRow        `json:"server"`
	Tools     []ServerTool     `json:"tools,omitempty"`
	Resources []ServerResource `json:"resources,omitempty"`
	Prompts   []ServerPrompt   `json:"prompts,omitempty"`
	// Stderr is the newest of what a program printed there; Log are the newest
	// entries, oldest first.
	Stderr string           `json:"stderr,omitempty"`
	Log    []ServerLogEntry `json:"log,omitempty"`
}

// ServerTool is one tool of a server.
type ServerTool struct {
	Name        string          `json:"name"`
	Model       string          `json:"model"` // what models call it
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	Hints       ServerToolHints `json:"hints"`
	Tokens      int             `json:"tokens"`
	Calls       int             `json:"calls,omitempty"`
	Failures    int             `json:"failures,omitempty"`
	Offer       ServerToolOffer `json:"offer"`
	// Before is the tool that the user accepted before the server changed it; nil if
	// it did not. Such a tool waits until it is accepted with the seal.
	Before *ServerToolBefore `json:"before,omitempty"`
	Seal   string            `json:"seal,omitempty"`
}

// ServerToolHints are what the server says about its tool. They are believed of trusted
// servers only.
type ServerToolHints struct {
	ReadOnly    bool `json:"read_only,omitempty"`
	Destructive bool `json:"destructive,omitempty"`
}

// ServerToolOffer says whether models are offered a tool.
type ServerToolOffer struct {
	Off        bool `json:"off,omitempty"`         // switched off everywhere
	SessionOff bool `json:"session_off,omitempty"` // switched off in this session
	Deferred   bool `json:"deferred,omitempty"`    // found by ToolSearch
	// Problem says why it cannot be offered; nil if it can.
	Problem *backend.Error `json:"problem,omitempty"`
}

// ServerToolBefore is a tool as it was.
type ServerToolBefore struct {
	// Diff leads from it to the tool as it is, as unified hunks over the laid-out
	// JSON of its name, description, hints and schema.
	Diff        string          `json:"diff,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
}

// ServerResource is a resource, or a template of resources.
type ServerResource struct {
	URI         string `json:"uri"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	MIME        string `json:"mime,omitempty"`
	Template    bool   `json:"template,omitempty"`
}

// ServerPrompt is a prompt, which is also a slash command.
type ServerPrompt struct {
	Name        string                   `json:"name"`
	Command     string                   `json:"command"` // without the slash
	Title       string                   `json:"title,omitempty"`
	Description string                   `json:"description,omitempty"`
	Arguments   []backend.PromptArgument `json:"arguments,omitempty"`
}

// ServerLogEntry is something that happened to a connection, or that the server logged.
type ServerLogEntry struct {
	At    int64  `json:"at"`
	Level string `json:"level"` // debug, info, warning or error
	// ID and Args word what happened to the connection; ID is empty for the
	// server's own messages.
	ID   client.Happening `json:"id,omitempty"`
	Args []string         `json:"args,omitempty"`
	Text string           `json:"text"`
}

// ServerSwitchRequest is for mcp.switch. Without a session it holds everywhere; without a
// tool it is the server that is switched.
type ServerSwitchRequest struct {
	Server  string `json:"server"`
	Tool    string `json:"tool,omitempty"`
	Session string `json:"session,omitempty"`
	On      bool   `json:"on"`
}

// ServerToolAcceptRequest is for mcp.accept_tool: the user has seen how the tool changed.
type ServerToolAcceptRequest struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Seal   string `json:"seal"`
}

// ServerSaveRequest is for mcp.save. Replaces is the name of the server that the draft
// takes the place of; empty for a new one.
type ServerSaveRequest struct {
	Draft    ServerDraft `json:"draft"`
	Scope    agent.Scope `json:"scope"`
	Replaces string      `json:"replaces,omitempty"`
	// File is where the replaced one is defined.
	File string `json:"file,omitempty"`
}

// ServerTestRequest is for mcp.test: a draft is connected once, asked what it offers, and
// left again.
type ServerTestRequest struct {
	Draft    ServerDraft `json:"draft"`
	Replaces string      `json:"replaces,omitempty"`
	File     string      `json:"file,omitempty"`
}

// ServerTestReply is how the test went, step by step.
type ServerTestReply struct {
	Steps []ServerTestStep `json:"steps,omitempty"`
	Peer  ServerPeer       `json:"peer"`
	Tools []ServerTool     `json:"tools,omitempty"`
	Error *backend.Error   `json:"error,omitempty"`
	// Stderr is what the program printed there.
	Stderr string `json:"stderr,omitempty"`
}

// ServerTestStep is one step: handshake, tools, resources, prompts or ping. Count is how
// many were listed.
type ServerTestStep struct {
	Step  string `json:"step"`
	MS    int64  `json:"ms"`
	OK    bool   `json:"ok"`
	Count int    `json:"count,omitempty"`
}

// ServerAuthoriseReply has the address where the user authorises Atelier. The page opens
// it; the server's state, or its problem, tells how it went.
type ServerAuthoriseReply struct {
	URL string `json:"url"`
}

// ServerImportReply is for mcp.importable: servers that other programs of this user have.
type ServerImportReply struct {
	Sources []ServerImportSource `json:"sources,omitempty"`
}

// ServerImportSource is a file of another program.
type ServerImportSource struct {
	Program string         `json:"program"` // "Claude Code", "Cursor", "VS Code" or "Codex"
	Path    string         `json:"path"`
	Problem *backend.Error `json:"problem,omitempty"`
	Servers []ServerImport `json:"servers,omitempty"`
	// Seal stands for exactly these servers.
	Seal string `json:"seal,omitempty"`
}

// ServerImport is a server that can be imported.
type ServerImport struct {
	Draft    ServerDraft     `json:"draft"`
	Findings []ServerFinding `json:"findings,omitempty"`
	// Taken says that a server of this name is configured already.
	Taken bool `json:"taken,omitempty"`
	// Inputs are values that the file asks a person for.
	Inputs []ServerImportInput `json:"inputs,omitempty"`
}

// ServerImportInput is a value that is asked of the person.
type ServerImportInput struct {
	ID          string `json:"id"`
	Description string `json:"description,omitempty"`
	Secret      bool   `json:"secret,omitempty"`
}

// ServerImportRequest is for mcp.import.
type ServerImportRequest struct {
	Path   string            `json:"path"`
	Seal   string            `json:"seal"` // of what was shown; another one is refused
	Names  []string          `json:"names,omitempty"`
	Scope  agent.Scope       `json:"scope"`
	Inputs map[string]string `json:"inputs,omitempty"`
}

// ServerQuestion is what a server asks the person during a call.
type ServerQuestion struct {
	ID      string `json:"id"`
	Server  string `json:"server"`
	Session string `json:"session"`
	CallID  string `json:"call_id,omitempty"`
	At      int64  `json:"at"`
	// One of these is set.
	Form     *FormQuestion     `json:"form,omitempty"`
	Link     *LinkQuestion     `json:"link,omitempty"`
	Sampling *SamplingQuestion `json:"sampling,omitempty"`
}

// FormQuestion asks for values. The schema is flat: strings, numbers, booleans and
// choices.
type FormQuestion struct {
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"schema,omitempty"`
}

// LinkQuestion asks the person to open an address.
type LinkQuestion struct {
	Message string `json:"message"`
	URL     string `json:"url"`
}

// SamplingQuestion asks to have the user's model answer, at the user's cost.
type SamplingQuestion struct {
	Provider  string            `json:"provider"`
	Model     string            `json:"model"`
	System    string            `json:"system,omitempty"`
	Messages  []SamplingMessage `json:"messages,omitempty"`
	MaxTokens int               `json:"max_tokens"`
	// Estimate is what the request may cost at most, in pico-dollars; nil if that
	// is unknown.
	Estimate *int64 `json:"estimate,omitempty"`
}

// SamplingMessage is a message that the server wants to send.
type SamplingMessage struct {
	Role string `json:"role"`
	Text string `json:"text"`
	// Kind is "image" or "audio" for what is not text.
	Kind string `json:"kind,omitempty"`
}

// ServerAnswer is for mcp.answer.
type ServerAnswer struct {
	ID     string             `json:"id"`
	Action ServerAnswerAction `json:"action"`
	// Content has the values of a form.
	Content json.RawMessage `json:"content,omitempty"`
	// Remember answers like requests of the server for the rest of the session; for
	// sampling only.
	Remember bool `json:"remember,omitempty"`
}

// ServerAnswerAction is what a person does with a question.
type ServerAnswerAction string

// The answers to a question.
const (
	ActionAccept  ServerAnswerAction = "accept"
	ActionDecline ServerAnswerAction = "decline"
	ActionCancel  ServerAnswerAction = "cancel"
)

// ExpandRequest is for commands.expand: the text that a command stands for.
type ExpandRequest struct {
	Session   string            `json:"session,omitempty"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// ExpandReply is what is sent in place of a command.
type ExpandReply struct {
	Text string `json:"text"`
}

// CompleteRequest is for commands.complete: values of an argument that begin so.
type CompleteRequest struct {
	Name      string            `json:"name"`
	Argument  string            `json:"argument"`
	Value     string            `json:"value"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// CompleteReply has at most 100 values.
type CompleteReply struct {
	Values []string `json:"values,omitempty"`
	More   bool     `json:"more,omitempty"`
}
