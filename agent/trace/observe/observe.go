// Package observe lets a program that uses the library see what took its own time (COM-91):
// functions and manual spans, one inside the other, beside the spans of sessions that package
// trace has. Without somebody who watches, nothing is measured or kept.
package observe

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Kind is what a span is about.
type Kind string

// The kinds of spans.
const (
	Default Kind = "DEFAULT"
	Tool    Kind = "TOOL"
	Model   Kind = "LLM"
)

// Span is a part of a program's time that has ended.
type Span struct {
	ID     int64
	Parent int64 // the span that it was begun in; 0 for none
	Name   string
	Kind   Kind
	// Input and Output are what the program gave; they may hold anything, so that whoever
	// sends them somewhere takes secrets out first.
	Input, Output any
	Start, End    time.Time
	Err           error
	Debug         bool
}

// Watcher is told of spans.
type Watcher struct {
	// Ended is called with each span that has ended, from the goroutine that ended it.
	Ended func(Span)
	// Debug lets those of [Debug] be seen as well.
	Debug bool
	// Now is the clock; nil means the system's.
	Now func() time.Time

	last atomic.Int64
}

func (w *Watcher) now() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

type (
	watcherKey struct{}
	spanKey    struct{}
)

// With has a watcher see the spans that are begun in the context.
func With(ctx context.Context, w *Watcher) context.Context {
	return context.WithValue(ctx, watcherKey{}, w)
}

// Open is a span that has not ended. A nil one, as Start returns if nobody watches, takes all
// calls and does nothing.
type Open struct {
	watcher *Watcher
	span    Span
	ended   atomic.Bool
}

// Start begins a span, of which Name, Kind, Input and Debug count. What is begun in the context
// that it returns is a part of the span.
func Start(ctx context.Context, span Span) (context.Context, *Open) {
	w, _ := ctx.Value(watcherKey{}).(*Watcher)
	if w == nil || w.Ended == nil || span.Debug && !w.Debug {
		return ctx, nil
	}
	span.Parent, _ = ctx.Value(spanKey{}).(int64)
	span.ID, span.Start = w.last.Add(1), w.now()
	if span.Kind == "" {
		span.Kind = Default
	}
	return context.WithValue(ctx, spanKey{}, span.ID), &Open{watcher: w, span: span}
}

// Output says what came of the span. It is called before End.
func (o *Open) Output(v any) {
	if o != nil {
		o.span.Output = v
	}
}

// End ends the span, with an error if it failed. A later call does nothing.
func (o *Open) End(err error) {
	if o == nil || o.ended.Swap(true) {
		return
	}
	o.span.End, o.span.Err = o.watcher.now(), err
	o.watcher.Ended(o.span)
}

// Func is a span around a function, whose result is its output. A panic ends the span as well.
func Func[T any](ctx context.Context, name string, do func(context.Context) (T, error)) (T, error) {
	return around(ctx, Span{Name: name}, do)
}

// Debug is [Func] for what is seen only by a watcher with Debug.
func Debug[T any](ctx context.Context, name string, do func(context.Context) (T, error)) (T, error) {
	return around(ctx, Span{Name: name, Debug: true}, do)
}

func around[T any](ctx context.Context, span Span, do func(context.Context) (T, error)) (out T, err error) {
	ctx, open := Start(ctx, span)
	done := false
	defer func() {
		if !done {
			open.End(fmt.Errorf("%s did not return", span.Name))
		}
	}()
	out, err = do(ctx)
	done = true
	open.Output(out)
	open.End(err)
	return out, err
}
