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
	// Reasoning says how the model handles Effort.
	Reasoning ReasoningControl
	// MaxOutput limits the answer's tokens. 0 leaves the limit to the provider;
	// if the API requires a number, it means MostOutput.
	MaxOutput int
	// MostOutput is the length of the model's longest answer in tokens; 0 means
	// unknown.
	MostOutput int
	// CacheKey groups requests that share a prefix: the session's id.
	CacheKey string
	Options
}

// ToolSpec is a tool as it is shown to the model. Schema is a JSON Schema with
// an object at its root. Its bytes never change, so that the prefix of
// consecutive requests stays identical.
type ToolSpec struct {
	Name        string
	Description string
	Schema      json.RawMessage
	// Freeform is set if the model may give plain text instead of JSON. The
	// schema then has [FreeformMember], a string, as its single member for APIs
	// that know only JSON.
	Freeform *Freeform
}

// Freeform says that a tool takes plain text. A model makes fewer mistakes in
// long text that it need not quote.
type Freeform struct {
	// Grammar, in Lark's notation, describes valid text. Empty allows any text.
	Grammar string
}

// FreeformMember holds the text of a call of a [Freeform] tool if the call is
// given as JSON.
const FreeformMember = "input"

// Effort is how hard a model should think. Empty leaves it to the provider
// (LOOP-16).
type Effort string

// The neutral effort levels; a model's catalogue row lists those that it
// accepts.
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
// Stream yields start first and finish last. A failure ends the iteration with
// an [*Error] as its second value; everything yielded before remains valid but
// incomplete. Breaking out of the loop closes the connection.
type Adapter interface {
	Name() string
	Stream(context.Context, Request) iter.Seq2[Event, error]
}

// Complete waits for the whole answer. The error is the stream's own.
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
