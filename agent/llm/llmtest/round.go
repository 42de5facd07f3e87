package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// Round is one answer of the scripted model: reasoning, then text, then
// calls. The zero Round is an empty answer.
type Round struct {
	Reasoning string
	Text      string
	Calls     []Call
	// Usage is reported if Known is set.
	Usage llm.Usage
	// Finish defaults to stop or tool_calls, whichever fits. Only length and
	// content_filter can be requested instead.
	Finish llm.FinishReason

	// Status, if it is 400 or more, is answered instead of the round, with
	// Body.
	Status int
	// Body without a Status is the whole stream, sent unchanged.
	Body string
	// RetryAfter is sent with a Status.
	RetryAfter time.Duration
	// Header is sent with an answer over HTTP; RateLimit is set on an answer in
	// memory.
	RateLimit *llm.RateLimit
	Header    map[string]string

	// Error is the code of an error sent in the stream after the content.
	Error string
	// Cut ends the answer normally after that many bytes of the stream; -1 ends
	// it at once. In memory it ends the answer after its content.
	Cut int
	// Hang leaves the answer open after its content, until the request is
	// cancelled.
	Hang bool
	// Pace is the wait between two pieces of the answer.
	Pace time.Duration
}

// Call is a tool call of a [Round].
type Call struct {
	// ID is the provider's id; if it is empty, one is made up.
	ID        string
	Name      string
	Arguments string
	// Custom says that Arguments are plain text for a freeform tool. Formats
	// without such tools send them as the member of an object.
	Custom bool
}

// NoID is the id of a call that is sent without one.
const NoID = "-"

// Custom returns a call of a freeform tool.
func Custom(name, text string) Call { return Call{Name: name, Arguments: text, Custom: true} }

// object returns the call's arguments as JSON, for formats that know only JSON.
func (c Call) object() string {
	return string(llm.ToolCall{Arguments: json.RawMessage(c.Arguments), Custom: c.Custom}.Input())
}

// Use returns a call of a tool with an input that encodes to JSON.
func Use(name string, input any) Call {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(input); err != nil {
		panic(fmt.Sprintf("llmtest: input of %s: %v", name, err)) // a mistake in a test
	}
	return Call{Name: name, Arguments: strings.TrimSpace(buf.String())}
}

// id returns the id of call i of answer n.
func (c Call) id(n, i int) string {
	switch c.ID {
	case "":
	case NoID:
		return ""
	default:
		return c.ID
	}
	return fmt.Sprintf("wire_%d_%d", n, i)
}

// finish returns why the answer ends.
func (r Round) finish() llm.FinishReason {
	switch {
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return llm.FinishToolCalls
	default:
		return llm.FinishStop
	}
}

// pieces splits a text after each space, as a model would stream it.
func pieces(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}

// halves splits arguments into two parts, anywhere but inside a character.
func halves(s string) []string {
	at := len(s) / 2
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return []string{s[:at], s[at:]}
}
