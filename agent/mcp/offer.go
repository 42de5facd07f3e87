package mcp

import (
	"encoding/json"
	"time"
)

// ServerTools is what one server offers to models. A server whose program ended
// still offers its tools while it can be started again.
type ServerTools struct {
	Server       string
	Trusted      bool // as in [Server]
	AlwaysShown  bool
	Resources    bool   // it has resources to list and read
	Instructions string // what the server says about its use, bounded
	Tools        []ToolStatus
}

// CallRequest is a call of a tool by a session.
type CallRequest struct {
	Server, Tool string
	Input        json.RawMessage
	// Session and CallID are told to the Asker if the server asks something
	// meanwhile.
	Session, CallID string
	// Progress receives what the server reports, on one goroutine; it must not
	// block. It may be nil.
	Progress func(Progress)
}

// Progress is how far a call is. Total is 0 if the server does not know it.
type Progress struct {
	Done, Total float64
	Message     string
}

// CallResult is what a tool answered.
type CallResult struct {
	IsError    bool
	Content    []Content
	Structured json.RawMessage
	// SchemaFault says how Structured differs from the schema that the tool
	// declared; empty if it does not.
	SchemaFault string
}

// ContentKind says which members of a [Content] have a meaning.
type ContentKind string

// The kinds of content.
const (
	ContentText     ContentKind = "text"     // Text
	ContentImage    ContentKind = "image"    // Data, MIME
	ContentAudio    ContentKind = "audio"    // Data, MIME
	ContentResource ContentKind = "resource" // an embedded resource: URI, MIME, and Text or Data
	ContentLink     ContentKind = "link"     // a resource elsewhere: URI, Name, Title, Description, MIME, Size
)

// Content is one part of what a server sent.
type Content struct {
	Kind                     ContentKind
	Text                     string
	Data                     []byte
	MIME                     string
	URI                      string
	Name, Title, Description string
	Size                     int64
}

// Resource is something to read. URI has variables, as in RFC 6570, if it is a
// template.
type Resource struct {
	Server                   string
	URI                      string
	Name, Title, Description string
	MIME                     string
	Size                     int64
	Template                 bool
}

// Prompt is a text that a server has ready for a user.
type Prompt struct {
	Server, Name, Title, Description string
	Arguments                        []PromptArgument
}

// PromptArgument is one variable of a prompt.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
}

// PromptText is an expanded prompt.
type PromptText struct {
	Description string
	Messages    []PromptMessage
}

// PromptMessage is one message of a prompt, or of a request for sampling.
type PromptMessage struct {
	Role    string // user or assistant
	Content []Content
}

// CompleteRequest asks for values of an argument of a prompt or, if Prompt is
// empty, of a variable of the template of a resource.
type CompleteRequest struct {
	Server, Prompt, Template string
	Argument, Value          string
	Known                    map[string]string // arguments that are decided already
}

// Completion has at most 100 values.
type Completion struct {
	Values []string
	More   bool
}

// SamplingRequest asks for an answer of the user's model.
type SamplingRequest struct {
	System      string
	Messages    []PromptMessage
	MaxTokens   int
	Temperature *float64
	Stop        []string
	// Models are parts of names that the server would like, best first.
	Models []string
}

// SamplingResult is what the model answered.
type SamplingResult struct {
	Model, Text, StopReason string
}

// ElicitRequest asks the user for values in the form of Schema, or, if URL is not
// empty, to visit an address, which must be shown whole and is never opened
// without the user.
type ElicitRequest struct {
	Message string
	Schema  json.RawMessage
	URL, ID string
}

// Action is how the user answered an [ElicitRequest].
type Action string

// The actions.
const (
	ActionAccept  Action = "accept"
	ActionDecline Action = "decline"
	ActionCancel  Action = "cancel"
)

// ElicitResult is the user's answer. Content has the values of a form.
type ElicitResult struct {
	Action  Action
	Content json.RawMessage
}

// LogEntry is one line of the log of a server.
type LogEntry struct {
	Time  time.Time
	Level string // as in syslog: debug, info, notice, warning, error, …
	From  string // the server's logger; empty if it named none, and in entries of ours
	Text  string
	// Happening is what the entry is about if it is ours, and Args are the parts of
	// Text that differ; empty if the server wrote the entry.
	Happening Happening
	Args      []string
}

// Trial is how an attempt to connect went.
type Trial struct {
	Status Status
	Steps  []Step // as far as it came
	Stderr string
	Log    []LogEntry
}

// Step is one step of an attempt to connect. Resources and prompts are asked for if
// the server has any; a connection does without them, and without the ping.
type Step struct {
	Name  StepName
	Took  time.Duration
	Count int   // of what was listed
	Err   error // nil if it went well
}

// StepName names a step.
type StepName string

// The steps, in their order.
const (
	StepHandshake StepName = "handshake"
	StepTools     StepName = "tools"
	StepResources StepName = "resources"
	StepPrompts   StepName = "prompts"
	StepPing      StepName = "ping"
)

// steps records steps that follow one another. Nil records nothing.
type steps struct {
	now func() time.Time
	at  time.Time // when the next one begins
	all []Step
}

func (s *steps) add(name StepName, count int, err error) {
	if s != nil {
		now := s.now()
		s.all = append(s.all, Step{name, now.Sub(s.at), count, err})
		s.at = now
	}
}
