package offer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/mcp"
)

// The limits of a result. Its text is as long as any output may be; the session
// reduces it to a model's share.
const (
	maxParts      = 200
	maxPictures   = 10
	maxPicture    = 10 << 20 // bytes of one; more is not scaled down but left out
	maxMedia      = 20 << 20 // bytes of all
	maxOutput     = 4 << 20  // bytes of text
	maxStructured = 64 << 10 // bytes of structured content for the window
)

// pictures are the types that models accept, once they were converted, and sounds
// those that a page can play.
var (
	pictures = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	sounds   = []string{
		"audio/wav", "audio/x-wav", "audio/wave", "audio/mpeg", "audio/mp3", "audio/ogg", "audio/webm", "audio/mp4", "audio/aac", "audio/flac",
	}
)

// result turns a server's answer into that of a call. Everything that is left out
// is said.
func result(who owner, answer mcp.CallResult) agent.Result {
	w := writer{shown: &agent.ServerResult{Server: line(who.server, maxTitle), Tool: line(who.tool, maxTitle)}}
	parts := answer.Content
	if left := len(parts) - maxParts; left > 0 {
		parts = parts[:maxParts]
		w.say("The last %d parts of the answer were left out.", left)
	}
	for _, c := range parts {
		w.add(c)
	}
	w.structured(answer)
	if answer.SchemaFault != "" {
		w.shown.Fault = line(answer.SchemaFault, maxWords)
		w.say("The structured content is not what the tool declared: %s", w.shown.Fault)
	}
	if len(w.texts) == 0 && len(w.media) == 0 {
		w.say("The tool answered without any content.")
	}
	output := agent.EscapeTags(strings.Join(w.texts, "\n\n"))
	if len(output) > maxOutput {
		output = beginning(output, maxOutput) + "\n\n[The rest was left out: the answer has more than 4 megabytes of text.]"
	}
	return agent.Result{Output: output, IsError: answer.IsError, Media: w.media, Details: &agent.Details{Server: w.shown}}
}

// content turns what a server sent, such as a resource, into a result.
func content(who owner, parts []mcp.Content) agent.Result {
	return result(who, mcp.CallResult{Content: parts})
}

// writer collects the parts of a result.
type writer struct {
	texts []string
	media []llm.Media
	size  int // of media
	shown *agent.ServerResult
}

// say adds a sentence of our own.
func (w *writer) say(format string, args ...any) {
	w.texts = append(w.texts, "["+fmt.Sprintf(format, args...)+"]")
}

// unshown records what the model is not shown.
func (w *writer) unshown(c mcp.Content) {
	kind := line(c.MIME, maxTitle)
	if kind == "" {
		kind = string(c.Kind)
	}
	w.shown.Unshown = append(w.shown.Unshown, kind)
}

// refer records a resource.
func (w *writer) refer(c mcp.Content) {
	name := c.Title
	if name == "" {
		name = c.Name
	}
	w.shown.Resources = append(w.shown.Resources, agent.ResultResource{
		URI: line(c.URI, maxWords), Name: line(name, maxTitle), Description: line(c.Description, maxReport), MIME: line(c.MIME, maxTitle),
		Text: plain(c.Text, maxWords), Link: c.Kind == mcp.ContentLink,
	})
}

// add adds a part.
func (w *writer) add(c mcp.Content) {
	switch c.Kind {
	case mcp.ContentText:
		w.texts = append(w.texts, strings.ToValidUTF8(c.Text, "\uFFFD"))
	case mcp.ContentImage:
		w.picture(c, "A picture")
	case mcp.ContentAudio:
		w.sound(c)
	case mcp.ContentLink:
		w.say("A resource: %s. ReadMcpResource reads it.", describe(c))
		w.refer(c)
	case mcp.ContentResource:
		w.refer(c)
		w.resource(c)
	default:
		w.say("A part of a kind that is not known was left out: %s.", line(string(c.Kind), maxTitle))
	}
}

// resource adds an embedded resource.
func (w *writer) resource(c mcp.Content) {
	switch {
	case len(c.Data) == 0:
		w.say("The resource %s:", describe(c))
		w.texts = append(w.texts, strings.ToValidUTF8(c.Text, "\uFFFD"))
	case strings.HasPrefix(c.MIME, "image/"):
		w.picture(c, "The resource "+describe(c))
	default:
		w.say("The resource %s has %d bytes that are not text, and was left out.", describe(c), len(c.Data))
		w.unshown(c)
	}
}

// picture adds a picture, if models may accept it.
func (w *writer) picture(c mcp.Content, what string) {
	switch kind := strings.ToLower(strings.TrimSpace(c.MIME)); {
	case !slices.Contains(pictures, kind):
		w.say("%s was left out: it has the type %s.", what, line(c.MIME, maxTitle))
		w.unshown(c)
	case len(c.Data) > maxPicture || w.size+len(c.Data) > maxMedia || len(w.media) >= maxPictures:
		w.say("%s of %d bytes was left out: at most %d pictures of %d megabytes are shown, and %d megabytes together.", what, len(c.Data), maxPictures, maxPicture>>20, maxMedia>>20)
		w.unshown(c)
	default:
		w.size += len(c.Data)
		w.media = append(w.media, llm.Media{MIME: kind, Name: line(c.Name, maxTitle), Data: c.Data})
		w.say("%s, shown here.", what)
	}
}

// sound keeps a sound for the person, if a page may play it.
func (w *writer) sound(c mcp.Content) {
	kind, what := strings.ToLower(strings.TrimSpace(c.MIME)), "A sound recording (%s, %d bytes) was left out: models cannot hear it here."
	if slices.Contains(sounds, kind) && len(c.Data) > 0 && len(c.Data) <= maxPicture && w.size+len(c.Data) <= maxMedia && len(w.shown.Sounds) < maxPictures {
		w.size += len(c.Data)
		w.shown.Sounds = append(w.shown.Sounds, llm.Media{MIME: kind, Name: line(c.Name, maxTitle), Data: c.Data})
		what = "A sound recording (%s, %d bytes) is there for the user to play; models cannot hear it here."
	} else {
		w.unshown(c)
	}
	w.say(what, line(c.MIME, maxTitle), len(c.Data))
}

// structured adds structured content, unless a text says the same, as the protocol
// recommends.
func (w *writer) structured(answer mcp.CallResult) {
	if len(answer.Structured) == 0 || bytes.Equal(answer.Structured, []byte("null")) {
		return
	}
	if !json.Valid(answer.Structured) {
		w.say("The structured content was left out: it cannot be read.")
		return
	}
	if len(answer.Structured) <= maxStructured {
		w.shown.Structured = answer.Structured
	}
	if repeats(answer) {
		return
	}
	w.texts = append(w.texts, string(answer.Structured))
}

// repeats reports whether the texts of an answer say what its structured content does:
// the same JSON, or the one value that it holds, as a text, as JSON, or as a list of
// which each item is a text of its own.
func repeats(answer mcp.CallResult) bool {
	var texts []string
	for _, c := range answer.Content {
		if c.Kind == mcp.ContentText {
			if equal([]byte(c.Text), answer.Structured) {
				return true
			}
			texts = append(texts, c.Text)
		}
	}
	if len(texts) == 0 {
		return false
	}
	inner := answer.Structured
	for range maxWrapped {
		var one map[string]json.RawMessage
		if json.Unmarshal(inner, &one) != nil || len(one) != 1 {
			break
		}
		for _, inner = range one {
		}
		if says(strings.Join(texts, "\n"), inner) {
			return true
		}
	}
	var list []json.RawMessage
	return json.Unmarshal(inner, &list) == nil && slices.EqualFunc(texts, list, says)
}

// maxWrapped limits how deep a value may be in objects that hold nothing else.
const maxWrapped = 3

// says reports whether a text is a value, as itself or as JSON.
func says(text string, value json.RawMessage) bool {
	var plain string
	if json.Unmarshal(value, &plain) == nil && strings.TrimSpace(plain) == strings.TrimSpace(text) {
		return true
	}
	return equal([]byte(text), value)
}

// equal reports whether two texts are the same JSON.
func equal(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// describe names a resource.
func describe(c mcp.Content) string {
	text := line(c.URI, maxWords)
	if name := line(c.Title, maxTitle); name != "" {
		text += " (" + name + ")"
	} else if name := line(c.Name, maxTitle); name != "" {
		text += " (" + name + ")"
	}
	if c.MIME != "" {
		text += ", " + line(c.MIME, maxTitle)
	}
	if c.Description != "" {
		text += ": " + line(c.Description, maxReport)
	}
	return text
}
