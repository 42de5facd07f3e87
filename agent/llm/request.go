package llm

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
)

// Request asks a model for one answer (LLM-25).
type Request struct {
	Provider string
	Model    string
	System   string
	Messages []Message
	Tools    []ToolSpec
	Effort   Effort
	// Reasoning is what is known of how the model takes Effort.
	Reasoning ReasoningControl
	// MaxOutput caps the answer's tokens. 0 leaves the cap to the provider, and
	// where the API demands a number, is MostOutput.
	MaxOutput int
	// MostOutput is how many tokens the model writes at the most; 0 is unknown.
	MostOutput int
	// CacheKey groups requests that share a prefix: the session's id.
	CacheKey string
	Options
}

// ToolSpec is a tool as the model is shown it. Schema is a JSON Schema whose
// root is an object, with its bytes kept as registered so that the prefix of
// consecutive requests stays identical.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Freeform is set where the model may give plain text instead of JSON. The
	// schema then has [FreeformMember] as its one member, a string: APIs that
	// know JSON only are shown that.
	Freeform *Freeform
}

// Freeform says that a tool takes plain text. A model writes long text more
// surely when it need not quote it.
type Freeform struct {
	// Grammar, in Lark's notation, is what the text has to obey. Empty allows
	// any text.
	Grammar string
}

// FreeformMember holds the text of a call of a [Freeform] tool where the call
// is given as JSON.
const FreeformMember = "input"

// Effort is how hard a model should think. Empty leaves it to the provider
// (LOOP-16).
type Effort string

// The neutral effort levels; a model's catalogue row says which it takes.
const (
	EffortDefault Effort = ""
	EffortNone    Effort = "none"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// Adapter speaks one provider's API. It is safe for concurrent use and never
// retries.
//
// Stream yields start first and finish last. A failure ends the iteration
// with an [*Error] as its second value; whatever was yielded before stays
// true but incomplete. Breaking out of the loop closes the connection.
type Adapter interface {
	Name() string
	Stream(context.Context, Request) iter.Seq2[Event, error]
}

// Complete waits for the whole of an answer. The error is the stream's own.
func Complete(stream iter.Seq2[Event, error]) (*Answer, error) {
	for ev, err := range stream {
		if err != nil {
			return nil, err
		}
		if ev.Type == EventFinish {
			return ev.Answer, nil
		}
	}
	return nil, errors.New("the stream ended without an answer")
}
