package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
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
		"as many answers as wait": {queued, false, time.Hour, ""},
		"one answer more":         {queued + 2, false, 0, FaultBlocked}, // one is being written
		"closed, and may yet end": {1, true, deafTime - 1, ""},
		"closed, and lives on":    {1, true, deafTime, FaultBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				if tt.closed {
					_ = in.Close()
				}
				l := newLineLink(nil)
				l.to.WriteCloser = out
				go l.write()
				for range tt.answers {
					l.reply(json.RawMessage("1"), reply{})
					synctest.Wait()
				}
				if !tt.closed && !l.blocked() {
					t.Error("it is not said that the server does not read")
				}
				time.Sleep(tt.wait)
				synctest.Wait()
				var fault *Fault
				if err := l.failure(); errors.As(err, &fault) != (tt.want != "") || fault != nil && fault.Kind != tt.want {
					t.Errorf("the link failed with %v", err)
				}
				l.close()
			})
		})
	}
}
