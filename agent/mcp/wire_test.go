package mcp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
)

// hasty is a transport whose own timer is faster than that of the context.
type hasty struct {
	transport.Interface
	err error
}

func (h hasty) SendRequest(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	return nil, h.err
}

// overdue is a context whose deadline has passed before it knows.
type overdue struct{ context.Context }

func (overdue) Deadline() (time.Time, bool) { return time.Now(), true }

// A request always has an answer or an error, and one that ran out of time says so.
func TestNoAnswerInTime(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("timeout waiting for a response")} {
		for _, withResult := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				if withResult {
					ctx, _ = withExchange(ctx)
				}
				w := &wire{Interface: hasty{err: err}}
				if r, got := w.SendRequest(overdue{ctx}, transport.JSONRPCRequest{Method: "ping"}); r != nil || !errors.Is(got, context.DeadlineExceeded) {
					t.Errorf("%v: %v, %v", err, r, got)
				}
				if r, got := w.SendRequest(t.Context(), transport.JSONRPCRequest{Method: "ping"}); r != nil || got == nil || errors.Is(got, context.DeadlineExceeded) {
					t.Errorf("%v: without a deadline %v, %v", err, r, got)
				}
			})
		}
	}
}
