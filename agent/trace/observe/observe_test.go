package observe_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier.dev/atelier/agent/trace/observe"
)

// COM-91: a function and a manual span in it.
func ExampleFunc() {
	ctx := observe.With(context.Background(), &observe.Watcher{Ended: func(s observe.Span) {
		fmt.Println(s.ID, s.Parent, s.Kind, s.Name, s.Input, s.Output)
	}})
	_, _ = observe.Func(ctx, "report", func(ctx context.Context) (string, error) {
		_, span := observe.Start(ctx, observe.Span{Name: "look up", Kind: observe.Tool, Input: 7})
		span.Output("Lisbon")
		span.End(nil)
		return "done", nil
	})
	// Output:
	// 2 1 TOOL look up 7 Lisbon
	// 1 0 DEFAULT report <nil> done
}

// COM-91: debug spans are seen only by who wants them, errors and panics end a span, and
// nothing happens if nobody watches.
func TestObserve(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	fail := func(context.Context) (int, error) { return 0, broken }
	for _, debug := range []bool{false, true} {
		var names []string
		now := time.Unix(0, 0)
		w := &observe.Watcher{Debug: debug, Now: func() time.Time { now = now.Add(time.Second); return now }, Ended: func(s observe.Span) {
			names = append(names, fmt.Sprint(s.Name, " ", s.Err, " ", s.End.Sub(s.Start)))
		}}
		ctx := observe.With(t.Context(), w)
		if _, err := observe.Func(ctx, "one", fail); !errors.Is(err, broken) {
			t.Errorf("the error was lost: %v", err)
		}
		_, _ = observe.Debug(ctx, "two", fail)
		func() {
			defer func() { _ = recover() }()
			_, _ = observe.Func(ctx, "three", func(context.Context) (int, error) { panic("x") })
		}()
		_, open := observe.Start(ctx, observe.Span{Name: "four"})
		open.End(nil)
		open.End(broken)
		want := []string{"one broken 1s", "two broken 1s", "three three did not return 1s", "four <nil> 1s"}
		if !debug {
			want = append(want[:1], want[2:]...)
		}
		if diff := cmp.Diff(want, names, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	n, err := observe.Func(t.Context(), "alone", func(context.Context) (int, error) { return 3, nil })
	ctx, open := observe.Start(t.Context(), observe.Span{Name: "alone"})
	open.Output(1)
	open.End(nil)
	if n != 3 || err != nil || ctx != t.Context() {
		t.Errorf("without a watcher: %d, %v", n, err)
	}
}
