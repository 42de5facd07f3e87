package delegation

import (
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
)

// The second of agents that begin alike is held back until the first was answered or has ended, or
// for a while; one of another kind is not.
func TestStagger(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event agent.Payload
		after time.Duration
	}{
		"text":    {agent.TextDelta{}, time.Second},
		"a call":  {agent.CallDraft{}, time.Second},
		"the end": {agent.ProcessingEnd{}, time.Second},
		"nothing": {nil, maxStagger},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tree, begun := newTree(), time.Now()
				tree.stagger(t.Context(), "first", "same", time.Now())
				tree.stagger(t.Context(), "other", "another", time.Now())
				if took := time.Since(begun); took > 0 {
					t.Errorf("the first waited %s", took)
				}
				time.AfterFunc(time.Second, func() {
					if c.event != nil {
						tree.observe(agent.Event{Session: "first", Data: c.event}, "root", time.Now())
					}
				})
				tree.stagger(t.Context(), "second", "same", time.Now())
				if took := time.Since(begun); took != c.after {
					t.Errorf("the second waited %s, want %s", took, c.after)
				}
				if c.event == nil {
					return
				}
				begun = time.Now()
				tree.stagger(t.Context(), "third", "same", time.Now()) // what is warm holds nobody back
				time.Sleep(warmFor + time.Second)
				tree.stagger(t.Context(), "fourth", "same", time.Now()) // what was in the cache is gone
				if f := tree.alike["same"]; f.session != "fourth" || time.Since(begun) != warmFor+time.Second {
					t.Errorf("%s is the first again", f.session)
				}
			})
		})
	}
}

// A model that starts agents without end is refused, until the first of them are a while ago.
func TestTooManyStarts(t *testing.T) {
	t.Parallel()
	tree, now := newTree(), time.Now()
	for i := range maxBegun {
		if err := tree.count(now.Add(time.Duration(i) * time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	if tree.count(now.Add(time.Minute)) == nil {
		t.Error("one more was started")
	}
	if err := tree.count(now.Add(begunTime + time.Second)); err != nil {
		t.Error(err)
	}
}
