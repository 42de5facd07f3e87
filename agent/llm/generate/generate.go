// Package generate asks a model for one result and waits for it: a text, or a
// value of a Go type. It is for the small jobs beside a session, such as a
// title or a summary, and for programs without sessions. The agent's loop does
// not use it (LLM-33).
package generate

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Model is an [llm.Client] or one of its adapters.
type Model interface {
	Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error]
}

// Call is one request for a result.
type Call struct {
	// Request has everything but the tools. Its messages are the conversation,
	// unless Prompt is set.
	Request llm.Request
	// Prompt is a conversation of one message.
	Prompt string
	Tools  []Tool
	// MaxToolRounds is how often calls are run and the model asked again; 0
	// means once.
	MaxToolRounds int
	// StopWhen ends the rounds early. It is called after each step that calls
	// tools, and may be nil.
	StopWhen func([]Step) bool
	// Retry defaults to [llm.SpecRetries].
	Retry *llm.RetryPolicy
	// StepTimeout limits each request; 0 leaves it to the context.
	StepTimeout time.Duration
}

// Step is one request, its answer, and the results of the tools that it called.
type Step struct {
	Answer  *llm.Answer
	Results []llm.ToolResult
}

// Result is the result of a [Call].
type Result struct {
	Steps []Step
	// Usage sums the usage of all steps.
	Usage llm.Usage
	// Lost counts the requests whose answer broke off. Each may have been
	// charged for.
	Lost int
}

// Charged returns the usages of all requests that may have been charged for.
// That of a lost request is unknown.
func (r *Result) Charged() []llm.Usage {
	usages := make([]llm.Usage, r.Lost)
	for _, step := range r.Steps {
		usages = append(usages, step.Answer.Usage)
	}
	return usages
}

// Answer returns that of the last step; nil if there is none.
func (r *Result) Answer() *llm.Answer {
	if len(r.Steps) == 0 {
		return nil
	}
	return r.Steps[len(r.Steps)-1].Answer
}

// Text returns the model's last text.
func (r *Result) Text() string {
	if a := r.Answer(); a != nil {
		return a.Message.Text()
	}
	return ""
}

// Text asks and waits. If it fails, the result holds the steps before the
// error. A provider's error is an [*llm.Error].
func Text(ctx context.Context, m Model, c Call) (*Result, error) {
	return ask(ctx, m, c, nil)
}

// Stream is [Text], and also yields the events of all steps as they come.
// Yielded events are final: a step that has yielded is not requested again
// (LLM-46).
func Stream(ctx context.Context, m Model, c Call) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		_, err := ask(ctx, m, c, func(ev llm.Event) bool { return yield(ev, nil) })
		if err != nil && !errors.Is(err, errLeft) {
			yield(llm.Event{}, err)
		}
	}
}

// errLeft means that the caller stopped ranging.
var errLeft = errors.New("the caller left")

// ask runs the steps. show gets every event and returns whether more are
// wanted; nil if nobody watches.
func ask(ctx context.Context, m Model, c Call, show func(llm.Event) bool) (*Result, error) {
	result := &Result{Usage: llm.Usage{Known: true}}
	if m == nil {
		return result, &llm.Error{Class: llm.ClassConfig, Provider: c.Request.Provider, Message: "there is no model to ask"}
	}
	req, tools, err := c.prepare()
	if err != nil {
		return result, err
	}
	for left := max(c.MaxToolRounds, 1); ; left-- {
		answer, err := c.step(ctx, m, req, show, &result.Lost)
		if err != nil {
			return result, err
		}
		result.Usage = result.Usage.Add(answer.Usage)
		step := Step{Answer: answer}
		calls := answer.Message.Calls()
		run := len(calls) > 0 && left > 0 && tools.active(calls)
		if run {
			step.Results = tools.run(ctx, calls)
		}
		result.Steps = append(result.Steps, step)
		if !run || c.StopWhen != nil && c.StopWhen(result.Steps) {
			return result, nil
		}
		req.Messages = append(req.Messages, answer.Message, message(step.Results))
	}
}

// prepare turns a call into its first request.
func (c *Call) prepare() (llm.Request, toolset, error) {
	req := c.Request
	switch {
	case c.Prompt != "" && len(req.Messages) > 0:
		return req, nil, &llm.Error{Class: llm.ClassConfig, Provider: req.Provider, Message: "a prompt and messages exclude each other"}
	case c.Prompt != "":
		req.Messages = []llm.Message{llm.Text(llm.RoleUser, c.Prompt)}
	case len(req.Messages) == 0:
		return req, nil, &llm.Error{Class: llm.ClassConfig, Provider: req.Provider, Message: "there is nothing to ask: neither a prompt nor messages"}
	default:
		req.Messages = append([]llm.Message(nil), req.Messages...)
	}
	tools, err := newToolset(c.Tools)
	if err != nil {
		return req, nil, err
	}
	for _, t := range c.Tools {
		req.Tools = append(req.Tools, t.ToolSpec)
	}
	return req, tools, nil
}

// step makes one request, with retries after failures that may pass, and adds
// lost answers to lost.
func (c *Call) step(ctx context.Context, m Model, req llm.Request, show func(llm.Event) bool, lost *int) (*llm.Answer, error) {
	policy := llm.SpecRetries
	if c.Retry != nil {
		policy = *c.Retry
	}
	for n := 1; ; n++ {
		answer, shown, err := c.attempt(ctx, m, req, show)
		if err == nil {
			return answer, nil
		}
		if e := (*llm.Error)(nil); errors.As(err, &e) && e.Sent {
			*lost++
		}
		wait, again := policy.Delay(n, err, rand.Float64())
		if !again || shown || ctx.Err() != nil || !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// attempt makes one request once. It reports whether any part of the answer was
// shown.
func (c *Call) attempt(ctx context.Context, m Model, req llm.Request, show func(llm.Event) bool) (answer *llm.Answer, shown bool, err error) {
	if c.StepTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.StepTimeout)
		defer cancel()
	}
	answer, err = llm.Complete(func(yield func(llm.Event, error) bool) {
		for ev, err := range m.Stream(ctx, req) {
			if err == nil && show != nil {
				if shown = true; !show(ev) {
					yield(ev, errLeft)
					return
				}
			}
			if !yield(ev, err) {
				return
			}
		}
	})
	return answer, shown, err
}

// sleep waits. It reports false if ctx ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
