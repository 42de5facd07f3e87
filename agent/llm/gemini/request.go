package gemini

import "encoding/json"

// config has the members of a request that are neither the conversation nor the
// tools.
type config struct {
	Generation generation
	System     *system
	Tools      toolConfig
}

type generation struct {
	MaxOutput   int             `json:"maxOutputTokens,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	MIME        string          `json:"responseMimeType,omitempty"`
	Stop        []string        `json:"stopSequences,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Thinking    *thinkingConfig `json:"thinkingConfig,omitempty"`
	TopP        *float64        `json:"topP,omitempty"`
}

type thinkingConfig struct {
	Include bool   `json:"includeThoughts,omitempty"`
	Budget  *int   `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

type system struct {
	Parts []textPart `json:"parts"`
	Role  string     `json:"role"`
}

type toolConfig struct {
	Calling *calling `json:"functionCallingConfig,omitempty"`
	ShowOwn bool     `json:"includeServerSideToolInvocations,omitempty"`
}

type calling struct {
	Allowed []string `json:"allowedFunctionNames,omitempty"`
	Mode    string   `json:"mode"`
}

// The sides of a conversation.
const (
	roleUser  = "user"
	roleModel = "model"
)

// content is a turn.
type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

type textPart struct {
	Text string `json:"text"`
}

type mediaPart struct {
	File   *file `json:"fileData,omitempty"`
	Inline *blob `json:"inlineData,omitempty"`
}

type file struct {
	URI  string `json:"fileUri"`
	MIME string `json:"mimeType"`
}

type blob struct {
	Data []byte `json:"data"`
	MIME string `json:"mimeType"`
}

type callPart struct {
	Call      functionCall `json:"functionCall"`
	Signature string       `json:"thoughtSignature,omitempty"`
}

type resultPart struct {
	Result functionResponse `json:"functionResponse"`
}

type functionResponse struct {
	Parts    []mediaPart       `json:"parts,omitempty"`
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
}
