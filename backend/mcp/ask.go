package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
	"github.com/google/jsonschema-go/jsonschema"
)

// The limits of what servers may ask.
const (
	maxAsked       = 10        // by one call of a tool
	maxWaiting     = 50        // at once, by all servers
	maxForm        = 64 << 10  // bytes of a form, and of its answer
	maxSampled     = 256 << 10 // bytes of a conversation to sample from
	maxSampledAll  = 100       // messages of it
	defaultAnswer  = 1_000     // tokens
	maxAnswer      = 8_000     // tokens
	maxLinkAddress = 8 << 10   // bytes
)

// Host is what questions need of the application.
type Host interface {
	// Situation returns what decides about the questions to a session.
	Situation(ctx context.Context, session string) (Situation, error)
	// Estimate returns what an answer may cost at most, in pico-dollars; nil if that
	// is unknown.
	Estimate(s Situation, r client.SamplingRequest) *int64
	// Sample asks the session's model. Its cost counts for the session, even if
	// it failed.
	Sample(ctx context.Context, from client.Caller, s Situation, r client.SamplingRequest) (client.SamplingResult, error)
	// Changed says that there is another list of questions. It must not block.
	Changed()
}

// Situation is what decides about the questions to a session.
type Situation struct {
	Provider, Model string
	Mode            agent.Mode
	Unattended      bool // nobody can be asked
	// Left is what remains of the session's budget, in pico-dollars; nil if there is
	// no limit.
	Left *int64
}

// Questions are what servers ask the person. A question lives in memory, as long as
// the call that it belongs to. An answer goes to the server that asked and nowhere
// else. It is safe for concurrent use.
type Questions struct {
	host Host

	mu         sync.Mutex
	waiting    []*question
	asked      map[client.Caller]int  // by calls in flight
	remembered map[client.Caller]bool // sampling that was allowed for a session, without a call
	last       int
}

// question is one that waits.
type question struct {
	ServerQuestion
	schema *jsonschema.Resolved // of a form
	answer chan ServerAnswer    // takes one
}

// NewQuestions returns the questions of an application, none yet.
func NewQuestions(host Host) *Questions {
	return &Questions{host: host, asked: map[client.Caller]int{}, remembered: map[client.Caller]bool{}}
}

// Waiting lists the questions that wait, oldest first.
func (q *Questions) Waiting() []ServerQuestion {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []ServerQuestion
	for _, one := range q.waiting {
		all = append(all, one.ServerQuestion)
	}
	return all
}

// Answer is mcp.answer. The first answer counts. One that does not fit the form is
// refused, and the question waits on.
func (q *Questions) Answer(_ context.Context, in ServerAnswer) (backend.Empty, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.waiting, func(one *question) bool { return one.ID == in.ID })
	if at < 0 {
		return backend.Empty{}, backend.Problem(backend.ProblemServerQuestionGone)
	}
	one := q.waiting[at]
	if in.Action != ActionAccept && in.Action != ActionDecline && in.Action != ActionCancel {
		return backend.Empty{}, backend.Problem(backend.ProblemServerAnswer)
	}
	if in.Action == ActionAccept && one.Form != nil {
		if err := fits(one.schema, in.Content); err != nil {
			return backend.Empty{}, backend.Problem(backend.ProblemServerAnswer).Because(err)
		}
	}
	if in.Remember && in.Action == ActionAccept && one.Sampling != nil {
		q.remembered[client.Caller{Server: one.Server, Session: one.Session}] = true
	}
	q.waiting = slices.Delete(q.waiting, at, at+1)
	one.answer <- in
	q.host.Changed()
	return backend.Empty{}, nil
}

// fits checks the values of a form.
func fits(schema *jsonschema.Resolved, content json.RawMessage) error {
	if len(content) > maxForm {
		return fmt.Errorf("it has more than %d kilobytes", maxForm>>10)
	}
	var values map[string]any
	if err := json.Unmarshal(content, &values); err != nil {
		return errors.New("it is not an object") // the error of the parser may quote a secret
	}
	if values == nil {
		return errors.New("it is not an object")
	}
	if schema.Validate(values) != nil { // so may this one
		return errors.New("a value is missing, or does not fit")
	}
	return nil
}

// Forget forgets what was allowed to servers in a session.
func (q *Questions) Forget(session string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for who := range q.remembered {
		if who.Session == session {
			delete(q.remembered, who)
		}
	}
}

// Elicit implements [client.Asker].
func (q *Questions) Elicit(ctx context.Context, from client.Caller, r client.ElicitRequest) (client.ElicitResult, error) {
	declined := client.ElicitResult{Action: client.ActionDecline}
	if now, err := q.begin(ctx, from); err != nil || now.Mode == agent.ModeDontAsk || now.Unattended {
		return declined, err
	}
	one := &question{}
	if r.URL != "" {
		if len(r.URL) > maxLinkAddress {
			return declined, errors.New("the address is too long")
		}
		one.Link = &LinkQuestion{Message: r.Message, URL: r.URL}
	} else {
		var err error
		if one.schema, err = form(r.Schema); err != nil {
			return declined, err
		}
		one.Form = &FormQuestion{Message: r.Message, Schema: r.Schema}
	}
	answer, err := q.ask(ctx, from, one)
	if err != nil {
		return client.ElicitResult{Action: client.ActionCancel}, err
	}
	result := client.ElicitResult{Action: client.Action(answer.Action)}
	if answer.Action == ActionAccept && one.Form != nil {
		result.Content = answer.Content
	}
	return result, nil
}

// form reads the schema of a form, which is flat: a person can fill in texts,
// numbers, choices and switches.
func form(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) > maxForm {
		return nil, fmt.Errorf("the form has more than %d kilobytes", maxForm>>10)
	}
	var schema jsonschema.Schema
	if err := schema.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	if schema.Type != "object" || schema.Ref != "" {
		return nil, errors.New("the form is not an object")
	}
	for name, field := range schema.Properties {
		if field.Ref != "" || field.Properties != nil || !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, field.Type) {
			return nil, fmt.Errorf("the form has a field %q that nobody can fill in", name)
		}
	}
	resolved, err := client.ResolveSchema(raw)
	if err != nil {
		return nil, fmt.Errorf("read the form: %w", err)
	}
	return resolved, nil
}

// Sample implements [client.Asker]. Without a person it is allowed if the session
// runs everything, or if the person allowed it to the server for the session.
func (q *Questions) Sample(ctx context.Context, from client.Caller, r client.SamplingRequest) (client.SamplingResult, error) {
	now, err := q.begin(ctx, from)
	if err != nil {
		return client.SamplingResult{}, err
	}
	if r.MaxTokens <= 0 {
		r.MaxTokens = defaultAnswer
	}
	r.MaxTokens = min(r.MaxTokens, maxAnswer)
	if err := sendable(r); err != nil {
		return client.SamplingResult{}, err
	}
	estimate := q.host.Estimate(now, r)
	if now.Left != nil && (estimate == nil || *estimate > *now.Left) {
		return client.SamplingResult{}, errors.New("the rest of the session's budget does not cover it")
	}
	q.mu.Lock()
	allowed := now.Mode == agent.ModeBypass || q.remembered[client.Caller{Server: from.Server, Session: from.Session}]
	q.mu.Unlock()
	if !allowed {
		if now.Mode == agent.ModeDontAsk || now.Unattended {
			return client.SamplingResult{}, client.ErrRefused
		}
		answer, err := q.ask(ctx, from, &question{ServerQuestion: ServerQuestion{Sampling: sampling(now, r, estimate)}})
		if err != nil {
			return client.SamplingResult{}, err
		}
		if answer.Action != ActionAccept {
			return client.SamplingResult{}, client.ErrRefused
		}
	}
	return q.host.Sample(ctx, from, now, r)
}

// sendable checks the size of a conversation to sample from.
func sendable(r client.SamplingRequest) error {
	size := len(r.System)
	for _, m := range r.Messages {
		for _, c := range m.Content {
			size += len(c.Text) + len(c.Data)
		}
	}
	switch {
	case len(r.Messages) == 0:
		return errors.New("there is nothing to answer")
	case len(r.Messages) > maxSampledAll || size > maxSampled:
		return fmt.Errorf("it has more than %d messages or %d kilobytes", maxSampledAll, maxSampled>>10)
	}
	return nil
}

// sampling is the question about a request, with everything that would be sent.
func sampling(now Situation, r client.SamplingRequest, estimate *int64) *SamplingQuestion {
	s := &SamplingQuestion{Provider: now.Provider, Model: now.Model, System: r.System, MaxTokens: r.MaxTokens, Estimate: estimate}
	for _, m := range r.Messages {
		for _, c := range m.Content {
			said := SamplingMessage{Role: m.Role, Text: c.Text}
			if c.Kind != client.ContentText {
				said.Kind, said.Text = string(c.Kind), cmp.Or(c.Text, c.MIME)
			}
			s.Messages = append(s.Messages, said)
		}
	}
	return s
}

// begin counts a question, and returns what decides about it. A question without
// a session is refused.
func (q *Questions) begin(ctx context.Context, from client.Caller) (Situation, error) {
	if from.Session == "" {
		return Situation{}, client.ErrRefused
	}
	q.mu.Lock()
	q.asked[from]++
	n := q.asked[from]
	q.mu.Unlock()
	if n == 1 {
		context.AfterFunc(ctx, func() { // the call has ended
			q.mu.Lock()
			defer q.mu.Unlock()
			delete(q.asked, from)
		})
	}
	if n > maxAsked {
		return Situation{}, fmt.Errorf("a call may ask %d times, and this one did", maxAsked)
	}
	return q.host.Situation(ctx, from.Session)
}

// ask has a question wait for its answer.
func (q *Questions) ask(ctx context.Context, from client.Caller, one *question) (ServerAnswer, error) {
	one.answer = make(chan ServerAnswer, 1)
	q.mu.Lock()
	if len(q.waiting) >= maxWaiting {
		q.mu.Unlock()
		return ServerAnswer{}, errors.New("too many questions wait for the user")
	}
	q.last++
	one.ID, one.At = "q"+strconv.Itoa(q.last), time.Now().UnixMilli()
	one.Server, one.Session, one.CallID = from.Server, from.Session, from.CallID
	q.waiting = append(q.waiting, one)
	q.mu.Unlock()
	q.host.Changed()
	select {
	case answer := <-one.answer:
		return answer, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *question) bool { return other == one })
	q.mu.Unlock()
	q.host.Changed()
	select {
	case answer := <-one.answer: // it was given meanwhile, but nobody waits for it
		_ = answer
	default:
	}
	return ServerAnswer{}, context.Cause(ctx)
}
