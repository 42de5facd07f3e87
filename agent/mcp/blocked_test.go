package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"atelier.dev/atelier/agent/internal/stdin"
)

// A server that does not read its input is named for that: one that asks and does not
// take the answers at once, one that closed its input when it has had the time to end.
func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers int
		closed  bool
		wait    time.Duration
		want    FaultKind
	}{
		"as many answers as wait": {stdin.Capacity, false, time.Hour, ""},
		"one answer more":         {stdin.Capacity + 2, false, 0, FaultBlocked}, // one is being written
		"closed, and may yet end": {1, true, inputTime - 1, ""},
		"closed, and lives on":    {1, true, inputTime, FaultBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				if tt.closed {
					_ = in.Close()
				}
				p := newProgram(Server{}, Config{}, &recorder{})
				p.in.Open(out)
				for range tt.answers {
					p.answer(transport.NewJSONRPCResultResponse(protocol.NewRequestId(int64(1)), json.RawMessage("{}")))
					synctest.Wait()
				}
				if !tt.closed && !p.blocked() {
					t.Error("it is not said that the server does not read")
				}
				time.Sleep(tt.wait)
				synctest.Wait()
				var fault *Fault
				if err := p.failure(); errors.As(err, &fault) != (tt.want != "") || fault != nil && fault.Kind != tt.want {
					t.Errorf("the program failed with %v", err)
				}
				_ = p.Close()
			})
		})
	}
}
