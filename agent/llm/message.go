package llm

import (
	"bytes"
	"encoding/json"
)

// Role says who speaks in a [Message] (LLM-20).
type Role string

// The roles of a conversation. Adapters map them to those of their API.
const (
	RoleSystem    Role = "system"
	RoleDeveloper Role = "developer"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts,omitempty"`
	// Origin is set on assistant messages only.
	Origin *Origin `json:"origin,omitempty"`
}

// Origin says who produced an assistant message. A part's Native bytes and
// reasoning signatures may be sent only to an equal Origin; for any other the
// adapter lowers the message from its typed fields (LLM-28).
type Origin struct {
	Provider string `json:"provider"`
	API      string `json:"api"` // "responses", "chat", …
	Model    string `json:"model"`
	BaseURL  string `json:"base_url,omitempty"`
	// ResponseID is the provider's id of the answer. It is informational, so
	// Same ignores it.
	ResponseID string `json:"response_id,omitempty"`
}

// Same reports whether output of o may be sent back verbatim to p.
func (o *Origin) Same(p Origin) bool {
	return o != nil && o.Provider == p.Provider && o.API == p.API &&
		o.Model == p.Model && o.BaseURL == p.BaseURL
}

// PartKind names the one field of a [Part] that is set.
type PartKind string

// The kinds of content a message can hold (LLM-21).
const (
	PartText       PartKind = "text"
	PartMedia      PartKind = "media"
	PartReasoning  PartKind = "reasoning"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
	// PartNative is an item that only its provider understands; Native holds
	// it.
	PartNative PartKind = "native"
)

// Part is a tagged union: only the field that Kind names is set, plus Native if
// the provider wants its own bytes back.
type Part struct {
	Kind      PartKind    `json:"kind"`
	Text      string      `json:"text,omitempty"`
	Media     *Media      `json:"media,omitempty"`
	Reasoning *Reasoning  `json:"reasoning,omitempty"`
	Call      *ToolCall   `json:"call,omitempty"`
	Result    *ToolResult `json:"result,omitempty"`
	// Native is the provider's item, verbatim. It takes precedence over the
	// typed fields when the message goes back to the same Origin.
	Native json.RawMessage `json:"native,omitempty"`
}

// Media is an image, document or sound, by value or by URL (LLM-22).
type Media struct {
	MIME string `json:"mime"`
	Name string `json:"name,omitempty"`
	URL  string `json:"url,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// Reasoning is a model's thinking before an answer. Text is for people and
// never needs to be sent back; Signature and Encrypted are what a provider
// wants back.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Encrypted string `json:"encrypted,omitempty"`
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID is unique in the session; results refer to it.
	ID string `json:"id"`
	// WireID is the provider's own id, empty if it sends none. It is separate
	// from ID because providers repeat theirs across turns (LLM-23).
	WireID string `json:"wire_id,omitempty"`
	// Name is the tool's name as it was shown to the model.
	Name string `json:"name"`
	// Arguments are the bytes that the model sent. If they are not valid JSON,
	// the dispatcher answers with an error result.
	Arguments json.RawMessage `json:"-"`
	// Custom says that Arguments are plain text for a [Freeform] tool.
	Custom bool `json:"custom,omitempty"`
}

// Input returns the arguments as JSON: text becomes the single member of an
// object.
func (c ToolCall) Input() json.RawMessage {
	if !c.Custom {
		return c.Arguments
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{FreeformMember: string(c.Arguments)}); err != nil {
		return nil // no string fails to encode
	}
	return bytes.TrimSpace(b.Bytes())
}

// FreeformText returns the text that the call gives to a [Freeform] tool,
// directly or in JSON. Arguments in neither form are the text.
func (c ToolCall) FreeformText() string {
	var members map[string]string
	if !c.Custom && json.Unmarshal(c.Arguments, &members) == nil {
		if text, ok := members[FreeformMember]; ok {
			return text
		}
	}
	return string(c.Arguments)
}

// toolCallJSON carries Arguments as a string, because bytes that are not JSON
// must survive storage unchanged.
type toolCallJSON struct {
	ID        string `json:"id"`
	WireID    string `json:"wire_id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Custom    bool   `json:"custom,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (c ToolCall) MarshalJSON() ([]byte, error) {
	return json.Marshal(toolCallJSON{c.ID, c.WireID, c.Name, string(c.Arguments), c.Custom})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *ToolCall) UnmarshalJSON(b []byte) error {
	var w toolCallJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*c = ToolCall{ID: w.ID, WireID: w.WireID, Name: w.Name, Arguments: json.RawMessage(w.Arguments), Custom: w.Custom}
	return nil
}

// ToolResult answers one [ToolCall] (LLM-24).
type ToolResult struct {
	CallID  string `json:"call_id"`
	WireID  string `json:"wire_id,omitempty"`
	Name    string `json:"name"`
	Parts   []Part `json:"parts,omitempty"` // text and media only
	IsError bool   `json:"is_error,omitempty"`
}

// Text returns a message holding one text part.
func Text(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Kind: PartText, Text: text}}}
}

// Text joins the message's text parts.
func (m Message) Text() string {
	var out []byte
	for _, p := range m.Parts {
		if p.Kind == PartText {
			out = append(out, p.Text...)
		}
	}
	return string(out)
}

// Calls returns the tool calls of the message, in order.
func (m Message) Calls() []ToolCall {
	var out []ToolCall
	for _, p := range m.Parts {
		if p.Kind == PartToolCall && p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}
