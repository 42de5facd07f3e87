package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"
)

// Options are rarely used settings. The zero value sets nothing.
type Options struct {
	ToolChoice ToolChoice
	// Format requires a JSON answer; nil allows free text.
	Format *Format
	// Temperature and TopP default to the provider's own values. Models that
	// reason refuse most values.
	Temperature, TopP *float64
	// ThinkingTokens limits the thinking of a model that takes a number; 0
	// leaves it to the effort (OAS-721).
	ThinkingTokens int
	// Stop ends the answer before any of these texts.
	Stop []string
	// NoCache leaves out the marks that make a provider cache the prefix
	// (LLM-16). Automatic caching is not affected.
	NoCache bool
	// LongCache asks to cache the prefix for an hour instead of minutes, if the
	// provider supports both. Writing then costs more.
	LongCache bool
	// Patience is how long the server may be silent; 0 leaves it to the adapter.
	Patience time.Duration
	// Header and Body are sent to the provider unchanged: beta switches, its
	// built-in tools, safety settings (LLM-08). A member of Body overrides the
	// adapter's own.
	Header http.Header
	Body   map[string]json.RawMessage
	// Tools are tools that the provider runs itself, such as Gemini's search,
	// in addition to the request's. Only Gemini supports them.
	Tools []json.RawMessage
}

// Format describes the JSON value of an answer (LLM-34).
type Format struct {
	// Name names the value, in the form of a tool's name.
	Name string
	// Schema is a JSON Schema whose root is an object.
	Schema json.RawMessage
}

// ToolChoice says whether a model may, must or must not call a tool (LLM-39).
// The zero value leaves it to the model.
type ToolChoice struct {
	Mode ToolMode
	// Tool is the tool to call, in mode [ToolNamed].
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

// toolName matches the tool names that every provider accepts (LLM-38), up to maxToolName.
// The hyphen is in the names of many servers. The length is compared, because a pattern
// that counts takes a hundred times as much to compile.
var toolName = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

const maxToolName = 64

// ValidToolName reports whether every provider accepts name for a tool.
func ValidToolName(name string) bool { return len(name) <= maxToolName && toolName.MatchString(name) }

// check returns an error for a request that no provider could process.
func (r *Request) check() *Error {
	has := func(name string) bool {
		return slices.ContainsFunc(r.Tools, func(t ToolSpec) bool { return t.Name == name })
	}
	for _, t := range r.Tools {
		if !ValidToolName(t.Name) {
			return r.refuse(ClassInvalid, fmt.Sprintf("%q is not a valid tool name: use a letter, then up to 63 letters, digits, - and _", t.Name))
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
