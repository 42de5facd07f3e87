// Package generate asks a model for one thing and waits for it: a text, or a
// value of a Go type. It is for the small jobs around a session, such as a
// title or a summary, and for programs that need no session; the agent's loop
// does without it (LLM-33).
package generate

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// Model is what answers: an [llm.Client] or one of its adapters.
type Model interface {
	Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error]
}

// Call says what to ask.
type Call struct {
	// Request holds everything but the tools. Its messages are the
	// conversation, unless there is a Prompt.
	Request llm.Request
	// Prompt is a conversation of one message.
	Prompt string
	Tools  []Tool
	// MaxToolRounds is how often calls are run and the model asked again;
	// 0 is once.
	MaxToolRounds int
	// StopWhen ends the rounds early; it is asked after each step that calls
	// tools. May be nil.
	StopWhen func([]Step) bool
	// Retry is [llm.SpecRetries] where it is nil.
	Retry *llm.RetryPolicy
	// StepTimeout bounds each request; 0 leaves it to the context.
	StepTimeout time.Duration
}

// Step is one request, its answer, and what the tools gave that it called.
type Step struct {
	Answer  *llm.Answer
	Results []llm.ToolResult
}

// Result is what a [Call] came to.
type Result struct {
	Steps []Step
	// Usage sums those of all steps.
	Usage llm.Usage
	// Lost counts the requests whose answer broke off: each may have been
	// charged for.
	Lost int
}

// Charged are the usages of all requests that may have been charged for, one
// each; that of a lost one is not known.
func (r *Result) Charged() []llm.Usage {
	usages := make([]llm.Usage, r.Lost)
	for _, step := range r.Steps {
		usages = append(usages, step.Answer.Usage)
	}
	return usages
}

// Answer is the last step's; nil where there is none.
func (r *Result) Answer() *llm.Answer {
	if len(r.Steps) == 0 {
		return nil
	}
	return r.Steps[len(r.Steps)-1].Answer
}

// Text is what the model said last.
func (r *Result) Text() string {
	if a := r.Answer(); a != nil {
		return a.Message.Text()
	}
	return ""
}

// Text asks and waits. With an error, the result holds the steps before it. An
// error of a provider's is an [*llm.Error].
func Text(ctx context.Context, m Model, c Call) (*Result, error) {
	return ask(ctx, m, c, nil)
}

// Stream is [Text] with the events of all its steps as they come. What has been
// yielded of a step is true: no step is asked again after that (LLM-46).
func Stream(ctx context.Context, m Model, c Call) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		_, err := ask(ctx, m, c, func(ev llm.Event) bool { return yield(ev, nil) })
		if err != nil && !errors.Is(err, errLeft) {
			yield(llm.Event{}, err)
		}
	}
}

// errLeft says that nobody wants the rest.
var errLeft = errors.New("the caller left")

// ask goes from step to step. show is given every event, and says whether more
// is wanted; nil where nobody watches.
func ask(ctx context.Context, m Model, c Call, show func(llm.Event) bool) (*Result, error) {
	result := &Result{Usage: llm.Usage{Known: true}}
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

// step makes one request, again after failures that may pass, and adds to lost
// those whose answer broke off.
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

// attempt makes one request once. It reports whether anything of the answer
// was shown.
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

// sleep waits; it reports false when ctx ended meanwhile.
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
