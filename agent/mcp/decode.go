package mcp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// mostText is how many bytes of a name, a title or a message of a server are kept;
// a description may be longer.
const (
	mostText        = 1 << 10
	mostDescription = 64 << 10
	mostParts       = 1000 // parts of one result
)

// rawTool is a tool as a server lists it.
type rawTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"inputSchema"`
	Output      json.RawMessage `json:"outputSchema"`
	Annotations struct {
		Title       string `json:"title"`
		ReadOnly    bool   `json:"readOnlyHint"`
		Destructive *bool  `json:"destructiveHint"`
	} `json:"annotations"`
	Execution struct {
		Task string `json:"taskSupport"`
	} `json:"execution"`
}

// rawContent is one part of a result, or one content of a resource.
type rawContent struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	Data        string          `json:"data"`
	Blob        string          `json:"blob"`
	MIME        string          `json:"mimeType"`
	URI         string          `json:"uri"`
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Size        int64           `json:"size"`
	Resource    json.RawMessage `json:"resource"`
}

// content reads one part. A part of a kind that nobody knows becomes a text that
// says so.
func content(text json.RawMessage) Content {
	var raw rawContent
	if err := json.Unmarshal(text, &raw); err != nil {
		return Content{Kind: ContentText, Text: "[a part that cannot be read]"}
	}
	c := Content{
		MIME: shorten(raw.MIME, mostText), URI: shorten(raw.URI, mostDescription), Name: shorten(raw.Name, mostText),
		Title: shorten(raw.Title, mostText), Description: shorten(raw.Description, mostDescription), Size: raw.Size,
	}
	var err error
	switch raw.Type {
	case "text":
		return Content{Kind: ContentText, Text: raw.Text}
	case "image", "audio":
		c.Kind = ContentKind(raw.Type)
		c.Data, err = base64.StdEncoding.DecodeString(raw.Data)
	case "resource":
		return resource(raw.Resource)
	case "resource_link":
		c.Kind = ContentLink
	default:
		return Content{Kind: ContentText, Text: fmt.Sprintf("[a part of the unknown kind %q]", beginning(raw.Type, shownOf))}
	}
	if err != nil {
		return Content{Kind: ContentText, Text: fmt.Sprintf("[%s that is not valid base64]", raw.Type)}
	}
	return c
}

// resource reads the content of a resource.
func resource(text json.RawMessage) Content {
	var raw rawContent
	if err := json.Unmarshal(text, &raw); err != nil {
		return Content{Kind: ContentText, Text: "[a resource that cannot be read]"}
	}
	c := Content{Kind: ContentResource, URI: shorten(raw.URI, mostDescription), MIME: shorten(raw.MIME, mostText), Text: raw.Text}
	if raw.Blob != "" {
		data, err := base64.StdEncoding.DecodeString(raw.Blob)
		if err != nil {
			c.Text = "[a blob that is not valid base64]"
		}
		c.Data = data
	}
	return c
}

func contents(parts []json.RawMessage, read func(json.RawMessage) Content) []Content {
	var out []Content
	for i, part := range parts {
		if i == mostParts {
			out = append(out, Content{Kind: ContentText, Text: fmt.Sprintf("[%d more parts were left out]", len(parts)-i)})
			break
		}
		out = append(out, read(part))
	}
	return out
}

// rawResult is what a tool answered.
type rawResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
	Task       *rawTask          `json:"task"`
}

func callResult(text json.RawMessage) (CallResult, *rawTask, error) {
	var raw rawResult
	if err := json.Unmarshal(text, &raw); err != nil {
		return CallResult{}, nil, &Fault{Kind: FaultProtocol, Detail: "the result of a call cannot be read", Err: err}
	}
	if string(raw.Structured) == "null" {
		raw.Structured = nil
	}
	return CallResult{IsError: raw.IsError, Content: contents(raw.Content, content), Structured: raw.Structured}, raw.Task, nil
}

type rawTask struct {
	ID      string `json:"taskId"`
	Status  string `json:"status"`
	Message string `json:"statusMessage"`
	PollMS  int64  `json:"pollInterval"`
}

// oneOrMany reads a value or an array of values.
func oneOrMany(text json.RawMessage) []json.RawMessage {
	var many []json.RawMessage
	if json.Unmarshal(text, &many) == nil {
		return many
	}
	if len(text) == 0 {
		return nil
	}
	return []json.RawMessage{text}
}

type rawMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func promptMessages(raw []rawMessage) []PromptMessage {
	var out []PromptMessage
	for _, m := range raw[:min(len(raw), mostParts)] {
		role := "user"
		if m.Role == "assistant" {
			role = m.Role
		}
		out = append(out, PromptMessage{Role: role, Content: contents(oneOrMany(m.Content), content)})
	}
	return out
}
