package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// Options are what few requests need. The zero value asks for nothing special.
type Options struct {
	ToolChoice ToolChoice
	// Format makes the answer one JSON value; nil leaves it free text.
	Format *Format
	// Temperature and TopP are the provider's own where they are nil. Models
	// that reason refuse most values.
	Temperature, TopP *float64
	// ThinkingTokens caps what the model may think with, where it takes a number;
	// 0 leaves it to the effort (OAS-721).
	ThinkingTokens int
	// Stop ends the answer before any of these texts.
	Stop []string
	// NoCache leaves out the marks that make a provider keep the prefix for
	// later requests (LLM-16). What a provider caches by itself stays cached.
	NoCache bool
	// LongCache asks for marks that keep the prefix for an hour rather than for
	// minutes, where the provider has both. Writing then costs more.
	LongCache bool
	// Header and Body go to the provider as they are: beta switches, its
	// built-in tools, safety settings (LLM-08). A member of Body takes the
	// place of the adapter's own.
	Header http.Header
	Body   map[string]json.RawMessage
	// Tools are the provider's own, which it runs itself, beside those of the
	// request: Gemini's search, say. Only Gemini takes them.
	Tools []json.RawMessage
}

// Format describes the JSON value that an answer is to be (LLM-34).
type Format struct {
	// Name says what the value is, in the form of a tool's name.
	Name string
	// Schema is a JSON Schema whose root is an object.
	Schema json.RawMessage
}

// ToolChoice says whether a model may, must or must not call a tool (LLM-39).
// The zero value leaves it to the model.
type ToolChoice struct {
	Mode ToolMode
	// Tool is the one to call, in mode [ToolNamed].
	Tool string
}

// ToolMode is the kind of a [ToolChoice].
type ToolMode string

// The modes of a choice.
const (
	ToolAuto     ToolMode = "auto"
	ToolNone     ToolMode = "none"
	ToolRequired ToolMode = "required"
	ToolNamed    ToolMode = "named"
)

// toolName is what every provider takes for the name of a tool (LLM-38).
var toolName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]{0,63}$`)

// ValidToolName reports whether every provider takes name for a tool's.
func ValidToolName(name string) bool { return toolName.MatchString(name) }

// check finds what no provider could make sense of.
func (r *Request) check() *Error {
	has := func(name string) bool {
		return slices.ContainsFunc(r.Tools, func(t ToolSpec) bool { return t.Name == name })
	}
	for _, t := range r.Tools {
		if !ValidToolName(t.Name) {
			return r.refuse(ClassInvalid, fmt.Sprintf("%q is no name for a tool: a letter, then up to 63 letters, digits and _", t.Name))
		}
	}
	switch c := r.ToolChoice; {
	case c.Mode == ToolNamed && !has(c.Tool):
		return r.refuse(ClassUnsupported, fmt.Sprintf("the tool to call, %q, is not among the request's tools", c.Tool))
	case c.Mode == ToolRequired && len(r.Tools) == 0:
		return r.refuse(ClassUnsupported, "a tool call is required of a request without tools")
	}
	return nil
}

func (r *Request) refuse(class Class, message string) *Error {
	return &Error{Class: class, Provider: r.Provider, Message: message}
}
