package llmtest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/internal/wire"
)

// Provider is the name of the in-memory model.
const Provider = "script"

// Model is an [llm.Adapter] that answers from a script. It is safe for
// concurrent use.
type Model struct {
	mu       sync.Mutex
	rounds   []Round
	requests []llm.Request
}

// Script returns a model that answers with one round after the other, and with
// an error of class config when no round is left.
func Script(rounds ...Round) *Model { return &Model{rounds: rounds} }

// Name implements [llm.Adapter].
func (m *Model) Name() string { return Provider }

// Requests returns the requests so far, oldest first.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// next records a request and returns its round and number, from 1.
func (m *Model) next(req llm.Request) (Round, int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	req.Messages = slices.Clone(req.Messages)
	req.Tools = slices.Clone(req.Tools)
	m.requests = append(m.requests, req)
	n := len(m.requests)
	if n > len(m.rounds) {
		return Round{}, n, false
	}
	return m.rounds[n-1], n, true
}

// Stream implements [llm.Adapter].
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		origin := llm.Origin{Provider: Provider, API: Provider, Model: req.Model}
		b := wire.NewBuilder(origin, yield)
		round, n, ok := m.next(req)
		if !ok {
			b.Fail(&llm.Error{Class: llm.ClassConfig, Provider: Provider, Message: "the script is over"})
			return
		}
		endpoint := wire.NewEndpoint(wire.Config{
			Provider: Provider, AdapterConfig: llm.AdapterConfig{BaseURL: "http://script.invalid"},
		})
		if round.Status >= 400 {
			err := endpoint.Reported(round.Status, "", round.Body)
			err.RetryAfter = round.RetryAfter
			b.Fail(err)
			return
		}
		play(ctx, b, round, n)
		b.Count(round.Usage)
		switch {
		case ctx.Err() != nil:
			b.Fail(&llm.Error{Class: llm.ClassAbort, Provider: Provider, Message: "the request was stopped", Cause: ctx.Err()})
		case round.Error != "":
			b.Fail(endpoint.Reported(0, round.Error, "scripted"))
		case round.Cut != 0:
			b.Fail(&llm.Error{Class: llm.ClassTruncated, Provider: Provider, Message: "the answer broke off", Retryable: true})
		default:
			b.SetResponseID(responseID(n))
			b.Allow(round.RateLimit)
			b.Finish(round.Usage, llm.Finish{Reason: round.finish(), Raw: string(round.finish())})
		}
	}
}

// play streams a round's content. It returns early when ctx ends; a round that
// hangs returns only then.
func play(ctx context.Context, b *wire.Builder, r Round, n int) {
	b.Start()
	stream := func(i int, texts []string) {
		for _, text := range texts {
			if !pause(ctx, r.Pace) || b.Stopped() {
				return
			}
			b.Append(i, text)
		}
	}
	if r.Reasoning != "" {
		i := b.Open(llm.Part{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{}})
		stream(i, pieces(r.Reasoning))
		b.Close(i, nil)
	}
	if r.Text != "" {
		i := b.Open(llm.Part{Kind: llm.PartText})
		stream(i, pieces(r.Text))
		b.Close(i, nil)
	}
	for at, c := range r.Calls {
		i := b.Open(llm.Part{Kind: llm.PartToolCall, Call: &llm.ToolCall{
			ID: wire.NewCallID(), WireID: c.id(n, at), Name: c.Name, Custom: c.Custom,
		}})
		stream(i, halves(c.Arguments))
		if ctx.Err() == nil {
			b.Close(i, nil)
		}
	}
	if r.Hang && !b.Stopped() {
		<-ctx.Done()
	}
}

// pause waits. It reports false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
