package mcp

import (
	"encoding/base64"
	"fmt"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// mostText is how many bytes of a name, a title or a message of a server are kept;
// a description may be longer.
const (
	mostText        = 1 << 10
	mostDescription = 64 << 10
	mostParts       = 1000 // parts of one result
)

// contents converts the parts of a result, up to the bound.
func contents[T any](parts []T, convert func(T) Content) []Content {
	var out []Content
	for i, part := range parts {
		if i == mostParts {
			return append(out, Content{Kind: ContentText, Text: fmt.Sprintf("[%d more parts were left out]", len(parts)-i)})
		}
		out = append(out, convert(part))
	}
	return out
}

// content converts one part. One that cannot be shown becomes a text that says so.
func content(part protocol.Content) Content {
	switch part := part.(type) {
	case protocol.TextContent:
		return Content{Kind: ContentText, Text: part.Text}
	case protocol.ImageContent:
		return media(ContentImage, part.Data, part.MIMEType)
	case protocol.AudioContent:
		return media(ContentAudio, part.Data, part.MIMEType)
	case protocol.EmbeddedResource:
		return resource(part.Resource)
	case protocol.ResourceLink:
		c := Content{
			Kind: ContentLink, URI: shorten(part.URI, mostDescription), MIME: shorten(part.MIMEType, mostText), Name: shorten(part.Name, mostText),
			Title: shorten(part.Title, mostText), Description: shorten(part.Description, mostDescription),
		}
		if part.Size != nil {
			c.Size = *part.Size
		}
		return c
	}
	return Content{Kind: ContentText, Text: fmt.Sprintf("[a part of the kind %T, which is not shown]", part)}
}

func media(kind ContentKind, data, mime string) Content {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Content{Kind: ContentText, Text: fmt.Sprintf("[%s that is not valid base64]", kind)}
	}
	return Content{Kind: kind, Data: decoded, MIME: shorten(mime, mostText)}
}

// resource converts the content of a resource.
func resource(from protocol.ResourceContents) Content {
	switch from := from.(type) {
	case protocol.TextResourceContents:
		return Content{Kind: ContentResource, URI: shorten(from.URI, mostDescription), MIME: shorten(from.MIMEType, mostText), Text: from.Text}
	case protocol.BlobResourceContents:
		c := Content{Kind: ContentResource, URI: shorten(from.URI, mostDescription), MIME: shorten(from.MIMEType, mostText)}
		data, err := base64.StdEncoding.DecodeString(from.Blob)
		if err != nil {
			c.Text = "[a blob that is not valid base64]"
		}
		c.Data = data
		return c
	}
	return Content{Kind: ContentText, Text: "[a resource that cannot be read]"}
}

// role returns the role of a message in the terms of models.
func role(from protocol.Role) string {
	if from == protocol.RoleAssistant {
		return string(from)
	}
	return string(protocol.RoleUser)
}

// promptMessages converts the messages of a prompt.
func promptMessages(messages []protocol.PromptMessage) []PromptMessage {
	var out []PromptMessage
	for _, m := range messages[:min(len(messages), mostParts)] {
		out = append(out, PromptMessage{Role: role(m.Role), Content: []Content{content(m.Content)}})
	}
	return out
}

// samplingMessages converts the messages of a request for sampling.
func samplingMessages(messages []protocol.SamplingMessage) []PromptMessage {
	var out []PromptMessage
	for _, m := range messages[:min(len(messages), mostParts)] {
		converted := PromptMessage{Role: role(m.Role)}
		switch c := m.Content.(type) {
		case protocol.Content:
			converted.Content = []Content{content(c)}
		case []protocol.Content:
			converted.Content = contents(c, content)
		}
		out = append(out, converted)
	}
	return out
}

// callResult converts the result of a call.
func callResult(r *protocol.CallToolResult) CallResult {
	out := CallResult{IsError: r.IsError, Content: contents(r.Content, content)}
	if string(r.RawStructuredContent) != "null" {
		out.Structured = r.RawStructuredContent
	}
	return out
}
