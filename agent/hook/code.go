package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
)

// Func is a hook of a program that uses the library (OAS-662). Nil means that it
// has nothing to say. An error, a panic or a function that does not return in
// its time counts as a failure of the hook. A function returns soon after ctx
// ends.
type Func func(ctx context.Context, call agent.HookCall) (*Answer, error)

// Code describes a function for [Registry.Register] (COM-79).
type Code struct {
	Point agent.HookPoint
	Func  Func
	// Matcher is a regular expression that may match a part; empty or "*" means
	// all.
	Matcher string
	// Order sorts the functions of a point; those with the same order run as
	// they were registered.
	Order int
	// Name is what logs call it; it has one of its own if this is empty.
	Name string
	// Timeout is 30 seconds if it is 0.
	Timeout time.Duration
}

// Registry has functions that are hooks. It is safe for concurrent use.
type Registry struct {
	mu  sync.Mutex
	all []Handler
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return &Registry{} }

// Register adds a function.
func (r *Registry) Register(c Code) error {
	_, limited := targets[c.Point]
	switch _, known := pointNamed(string(c.Point)); {
	case !known:
		return fmt.Errorf("register hook: there is no event %q", c.Point)
	case c.Func == nil:
		return errors.New("register hook: no function given")
	case !limited && !matchesAll(c.Matcher):
		return fmt.Errorf("register hook: %s has no matcher", c.Point)
	}
	if _, err := compile(c.Matcher, FormAgent); err != nil {
		return fmt.Errorf("register hook: read the matcher %q: %w", c.Matcher, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, Handler{
		Origin: Origin{Scope: ScopeCode, Line: len(r.all) + 1, Form: FormAgent}, Point: c.Point, Matcher: c.Matcher,
		Name: cmp.Or(c.Name, string(c.Point)+" "+strconv.Itoa(len(r.all)+1)), Kind: KindFunction, Func: c.Func,
		Terms: Terms{Timeout: min(cmp.Or(c.Timeout, functionTime), MostTime)}, rest: rest{order: c.Order},
	})
	return nil
}

// Handlers returns the functions, for [Options.Handlers].
func (r *Registry) Handlers() []Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Handler(nil), r.all...)
}

// returned is how a function ended.
type returned struct {
	answer   *Answer
	err      error
	panicked any
}

// function calls a function of the program. One that does not return in its time
// goes on without us; a few of them are put up with.
func (e *Engine) function(ctx context.Context, r *run) {
	select {
	case e.lost <- struct{}{}:
	default:
		r.fail(CauseBusy, strconv.Itoa(most))
		return
	}
	timed, cancel := context.WithTimeout(ctx, r.handler.Terms.Timeout)
	defer cancel()
	done := make(chan returned, 1)
	go func() { // ends with the function, which is told to by its context
		var out returned
		defer func() {
			out.panicked = recover()
			<-e.lost
			done <- out
		}()
		out.answer, out.err = r.handler.Func(timed, r.call)
	}()
	var out returned
	select {
	case out = <-done:
	case <-timed.Done():
	}
	switch {
	case out.panicked != nil:
		r.fail(CausePanic, firstLine(fmt.Sprint(out.panicked)))
	case ctx.Err() != nil:
		r.outcome = OutcomeInterrupted
	case timed.Err() != nil:
		r.outcome = OutcomeTimedOut
	case out.err != nil:
		r.fail(CauseFunction, firstLine(out.err.Error()))
	case out.answer != nil:
		r.read(*out.answer, nil)
	}
}
