package mcp

import (
	"encoding/json"
	"fmt"
	"slices"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

// entries says for a method which member of its results is a list that mcp-go refuses
// as a whole if it cannot read one entry, and what such an entry becomes.
var entries = map[protocol.MCPMethod]struct {
	member string
	read   func(entry []byte) error
	// instead returns what mcp-go reads in place of an entry; nil means nothing.
	instead func(entry []byte) any
}{
	protocol.MethodToolsList:              {"tools", as[protocol.Tool], nil},
	protocol.MethodResourcesList:          {"resources", as[protocol.Resource], nil},
	protocol.MethodResourcesTemplatesList: {"resourceTemplates", as[protocol.ResourceTemplate], nil},
	protocol.MethodPromptsList:            {"prompts", as[protocol.Prompt], nil},
	protocol.MethodToolsCall:              {"content", readContent, unknownContent},
	protocol.MethodTasksResult:            {"content", readContent, unknownContent},
	protocol.MethodResourcesRead:          {"contents", readResource, unknownResource},
	protocol.MethodPromptsGet:             {"messages", readMessage, unknownMessage},
}

// readable returns a result that mcp-go can read as far as the server's can be read.
func readable(method string, result json.RawMessage) json.RawMessage {
	kind, ok := entries[protocol.MCPMethod(method)]
	if !ok {
		return result
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(result, &members) != nil || members == nil {
		return result
	}
	if members[kind.member] == nil { // that of a call that became a task, or needs input first
		members[kind.member] = json.RawMessage("[]")
	}
	var list []json.RawMessage
	if json.Unmarshal(members[kind.member], &list) != nil {
		return result
	}
	out := make([]any, 0, min(len(list), mostEntriesRead))
	for _, entry := range list[:min(len(list), mostEntriesRead)] {
		if kind.read(entry) == nil {
			out = append(out, entry)
		} else if kind.instead != nil {
			out = append(out, kind.instead(entry))
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return result
	}
	members[kind.member] = text
	if text, err = json.Marshal(members); err != nil {
		return result
	}
	return text
}

// mostEntriesRead limits the entries of one page or result that are read.
const mostEntriesRead = 10_000

func as[T any](entry []byte) error {
	var v T
	return json.Unmarshal(entry, &v)
}

func readContent(entry []byte) error {
	_, err := protocol.UnmarshalContent(entry)
	return err
}

var knownContent = []string{
	protocol.ContentTypeText, protocol.ContentTypeImage, protocol.ContentTypeAudio, protocol.ContentTypeLink, protocol.ContentTypeResource,
}

func unknownContent(entry []byte) any {
	var part struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(entry, &part) != nil || slices.Contains(knownContent, part.Type) {
		return protocol.NewTextContent("[a part that cannot be read]")
	}
	return protocol.NewTextContent(fmt.Sprintf("[a part of the unknown kind %q]", beginning(part.Type, shownOf)))
}

func readResource(entry []byte) error {
	var contents map[string]any
	if err := json.Unmarshal(entry, &contents); err != nil {
		return err
	}
	_, err := protocol.ParseResourceContents(contents)
	return err
}

func unknownResource(entry []byte) any {
	var contents struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(entry, &contents)
	if contents.URI == "" {
		contents.URI = "unknown:"
	}
	return protocol.TextResourceContents{URI: contents.URI, Text: "[a resource that cannot be read]"}
}

func readMessage(entry []byte) error {
	whole := json.RawMessage(fmt.Appendf(nil, `{"messages":[%s]}`, entry))
	_, err := protocol.ParseGetPromptResult(&whole)
	return err
}

// unknownMessage is what remains of a message of a prompt. Some servers send several
// parts in one message, or other roles.
func unknownMessage(entry []byte) any {
	var message struct {
		Role    protocol.Role   `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(entry, &message)
	if message.Role != protocol.RoleAssistant {
		message.Role = protocol.RoleUser
	}
	text := "[a message that cannot be read]"
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(message.Content, &parts); err == nil && len(parts) > 0 {
		text = ""
		for _, part := range parts {
			text += part.Text
		}
	}
	return protocol.PromptMessage{Role: message.Role, Content: protocol.NewTextContent(text)}
}
