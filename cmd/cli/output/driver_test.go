package output

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
)

// busy is a session that works until it is told to end.
type busy struct {
	Host
	begun []string
}

func (b *busy) Begin(_ context.Context, text string) error {
	b.begun = append(b.begun, text)
	return nil
}

func (b *busy) Rest(context.Context) (bool, error) { return false, nil }

// A program that sends messages faster than they are answered is told so; those that wait are
// answered in their order.
func TestMessagesThatWaitAreLimited(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range maxWaiting + 2 { // the first one begins a turn
		fmt.Fprintf(&in, "{\"type\":\"user\",\"text\":\"%d\"}\n", i)
	}
	ended := make(chan agent.ProcessingEnd, maxWaiting+1)
	d, host := NewDriver(), &busy{}
	d.Ended = ended
	refused := 0
	d.Refused = func(number int, err error) {
		if refused = number; !strings.Contains(err.Error(), "wait already") {
			t.Errorf("line %d: %v", number, err)
		}
		for range maxWaiting + 1 {
			ended <- agent.ProcessingEnd{Reason: agent.EndDone}
		}
	}
	if _, err := d.Run(t.Context(), host, "", strings.NewReader(in.String())); err != nil {
		t.Fatal(err)
	}
	if refused != maxWaiting+2 || len(host.begun) != maxWaiting+1 || host.begun[maxWaiting] != fmt.Sprint(maxWaiting) {
		t.Errorf("line %d was refused, %d turns began", refused, len(host.begun))
	}
}
