package dispatch

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
)

type ref struct {
	Session string `json:"session"`
}

// The dispatcher answers everything with JSON and survives everything, because
// it is the only entry for the window, the browser and the tests.
func TestDispatcher(t *testing.T) {
	t.Parallel()
	d := &Dispatcher{}
	Handle(d, "echo", func(_ context.Context, in ref) (ref, error) { return in, nil })
	Handle(d, "panic", func(context.Context, backend.Empty) (backend.Empty, error) { panic("secret stack") })
	Handle(d, "nan", func(context.Context, backend.Empty) (float64, error) { return math.NaN(), nil })
	Handle(d, "fail", func(context.Context, backend.Empty) (backend.Empty, error) {
		return backend.Empty{}, errors.New("inner")
	})
	Handle(d, "typed", func(context.Context, backend.Empty) (backend.Empty, error) {
		return backend.Empty{}, &backend.Error{ID: "busy", Code: backend.CodeBusy, Message: "Busy.", Kept: "Kept.", Next: "Wait."}
	})
	for _, tt := range []struct{ method, args, want string }{
		{"echo", `{"session":"a"}`, `{"ok":{"session":"a"}}`},
		{"echo", ``, `{"ok":{"session":""}}`},
		{"echo", `{"sesion":"a"}`, `"code":"invalid"`},
		{"echo", `{"session":"a"} {}`, `"code":"invalid"`},
		{"echo", `nonsense`, `"code":"invalid"`},
		{"nothing", `{}`, `"code":"not_found"`},
		{"panic", `{}`, `"code":"internal"`},
		{"nan", `{}`, `"code":"internal"`},
		{"fail", `{}`, `"details":"inner"`},
		{"typed", `{}`, `{"error":{"id":"busy","code":"busy","message":"Busy.","kept":"Kept.","next":"Wait."}}`},
	} {
		got := d.Call(t.Context(), tt.method, tt.args)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s(%s) = %s, want %s", tt.method, tt.args, got, tt.want)
		}
		if strings.Contains(got, "goroutine") {
			t.Errorf("%s shows a stack: %s", tt.method, got)
		}
	}
}

func FuzzDispatcher(f *testing.F) {
	d := &Dispatcher{}
	Handle(d, "echo", func(_ context.Context, in ref) (ref, error) { return in, nil })
	f.Add("echo", `{"session":"a"}`)
	f.Fuzz(func(t *testing.T, name, args string) {
		if reply := d.Call(t.Context(), name, args); !strings.HasPrefix(reply, `{"ok":`) && !strings.HasPrefix(reply, `{"error":`) {
			t.Errorf("reply %s", reply)
		}
	})
}
