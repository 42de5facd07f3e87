// Package demo is a script that stands in for a model while no key is
// configured. It works offline, says that it is a script, and on request gives
// a tour of the real tools.
package demo

import (
	"context"
	"encoding/json"
	"iter"
	"time"
	"unicode"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// The names under which the script is chosen.
const (
	Provider = "demo"
	Model    = "tour"
)

const defaultPace = 15 * time.Millisecond

// Config configures an [Adapter].
type Config struct {
	// Pace is the wait after each word. 0 means 15 ms; a negative value means
	// none.
	Pace time.Duration
}

// Adapter implements [llm.Adapter]. It has no state: the request alone
// determines the answer.
type Adapter struct{ pace time.Duration }

// New returns an adapter.
func New(cfg Config) *Adapter {
	if cfg.Pace == 0 {
		cfg.Pace = defaultPace
	}
	return &Adapter{pace: cfg.Pace}
}

// Name implements [llm.Adapter].
func (a *Adapter) Name() string { return Provider }

// Models lists the only script.
func (a *Adapter) Models(context.Context) ([]string, error) { return []string{Model}, nil }

// Stream implements [llm.Adapter]. The usage is unknown, because a script
// counts no tokens.
func (a *Adapter) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		b := wire.NewBuilder(llm.Origin{Provider: Provider, API: "script", Model: req.Model}, yield)
		if req.Model != Model {
			b.Fail(&llm.Error{
				Class: llm.ClassNotFound, Provider: Provider,
				Message: "the demo has no model but " + Model,
			})
			return
		}
		text, call := answer(req)
		i := b.Open(llm.Part{Kind: llm.PartText})
		for _, word := range words(text) {
			if b.Append(i, word); b.Stopped() || !a.wait(ctx) {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			b.Fail(&llm.Error{Class: llm.ClassAbort, Provider: Provider, Message: "the request was stopped", Cause: err})
			return
		}
		b.Close(i, nil)
		if call == nil {
			b.Finish(llm.Usage{}, llm.Finish{Reason: llm.FinishStop})
			return
		}
		i = b.Open(llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: wire.NewCallID(), Name: call.tool}})
		b.Append(i, string(call.input))
		b.Finish(llm.Usage{}, llm.Finish{Reason: llm.FinishToolCalls})
	}
}

// wait reports false when ctx has ended.
func (a *Adapter) wait(ctx context.Context) bool {
	if a.pace < 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(a.pace):
		return true
	}
}

// words splits a text after each space, and after each character of a script
// without spaces.
func words(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		if end := i + len(string(r)); unicode.IsSpace(r) || unicode.Is(unicode.Han, r) {
			out = append(out, s[start:end])
			start = end
		}
	}
	return append(out, s[start:])
}

// call is a tool call that the script makes.
type call struct {
	tool  string
	input json.RawMessage
}

// answer decides on the text for a request and the tool to call, if any.
func answer(req llm.Request) (string, *call) {
	prompt, since := lastPrompt(req.Messages)
	say := english
	if isChinese(prompt) {
		say = chinese
	}
	if !wantsTour(prompt) {
		return say.notATour, nil
	}
	t := newTour(say, req.Tools, since)
	return t.next()
}
