package output

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

// writes notes every write to it.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(b))
	return len(b), nil
}

// take returns what was written since it was last called.
func (w *writes) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

func TestDeltasAreWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out writes
		g := NewGather(&out)
		o := Observer{report: &textReport{out: g}, out: g}
		say := func(text string) { o.Event(agent.Event{Data: agent.TextDelta{Text: text}}) }
		check := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, out.take()); diff != "" {
				t.Errorf("written %s (-want +got):\n%s", when, diff)
			}
		}

		for _, word := range []string{"The ", "quick ", "brown "} {
			say(word)
		}
		check("before the next piece could come")
		time.Sleep(gatherTime)
		synctest.Wait()
		check("after a moment", "The quick brown ")

		say("fox ")
		o.Event(agent.Event{Data: agent.Title{Text: "Foxes"}})
		check("with an event that is stored", "fox ")

		long := strings.Repeat("x", gatherSize+1)
		say(long)
		check("if it is long", long)
	})
}

func TestProgressComesAfterTheTextBeforeIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // in which no time passes
		var terminal bytes.Buffer
		g := NewGather(&terminal)
		r := textReport{out: g, progress: Flushed{&terminal, g}}
		r.Event(agent.Event{Data: agent.TextDelta{Text: "half of it"}}, true)
		r.Event(agent.Event{Data: agent.Retrying{Message: "The connection broke.", DelayMs: 2000, Attempt: 1, Of: 3}}, true)
		r.Event(agent.Event{Data: agent.TextDelta{Text: "all"}}, true)
		if err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		want := "half of it\nThe connection broke. Asking again in 2 s (1 of 3); the answer begins anew.\nall"
		if diff := cmp.Diff(want, terminal.String()); diff != "" {
			t.Errorf("on the terminal (-want +got):\n%s", diff)
		}
	})
}

func TestTheErrorOfALaterWriteIsReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("the reader has left")
		g := NewGather(broken{left})
		if _, err := g.Write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(gatherTime)
		synctest.Wait()
		if _, err := g.Write([]byte("b")); !errors.Is(err, left) {
			t.Errorf("the next write returned %v, want %v", err, left)
		}
	})
}

// broken is a writer that fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }
