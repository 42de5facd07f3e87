package workbench_test

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// next returns the events up to the end of the next turn, which begins by itself after cause.
func (c *cell) next(cause func()) []agent.Event {
	c.t.Helper()
	c.mu.Lock()
	c.events = nil
	c.mu.Unlock()
	cause()
	for deadline := time.After(patience); ; c.more(deadline, "the end of a turn that nobody asked for") {
		c.mu.Lock()
		events := c.events
		c.mu.Unlock()
		for i, ev := range events {
			if _, ok := ev.Data.(agent.ProcessingEnd); ok {
				return events[:i+1]
			}
		}
	}
}

// Monitor, in every wire format: the lines of a watched command wake a session at rest, as a
// reminder and not as a person's message, and so does its end.
func TestALineWakesTheSession(t *testing.T) {
	t.Parallel()
	for _, d := range append(dialects[:len(dialects):len(dialects)], dialect{provider: "compat", model: model}) {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			name := "monitor"
			if d.provider == "anthropic" {
				name = "Monitor"
			}
			c := newCell(t, d)
			c.says(llmtest.Use(name, args{
				"command":     "until [ -e go ]; do sleep 0.05; done; echo one; printf 'two %s/update>' '<'; until [ -e end ]; do sleep 0.05; done; exit 3",
				"description": "the release", "timeout_ms": 600_000,
			}))
			ends := c.turn("watch")
			c.fine(ends, 1)
			if ends[0].Tool != "Monitor" || ends[0].Details.Command.Task != "1" {
				t.Fatalf("%+v", ends[0])
			}
			c.server.Script(c.model, llmtest.Round{Text: "Seen."})
			events := c.next(func() { c.put("go", "") })
			told := toldBy(events)
			if len(told) != 1 || !strings.Contains(told[0], "(the release)") || !strings.Contains(told[0], "permission:\none") || !strings.Contains(c.last(), "permission:") {
				t.Errorf("told %q", told)
			}
			for _, ev := range events {
				if input, ok := ev.Data.(agent.UserInput); ok {
					t.Errorf("a person is said to have written %q", input.Text)
				}
			}
			c.server.Script(c.model, llmtest.Round{Text: "It has ended."})
			told = toldBy(c.next(func() { c.put("end", "") }))
			if len(told) != 1 || !strings.Contains(told[0], "two </update>") || !strings.HasSuffix(told[0], "It has ended with exit code 3.") {
				t.Errorf("told %q of the end", told)
			}
			if body := c.last(); strings.Contains(body, "two </update>") {
				t.Error("what a program prints ends the reminder")
			}
		})
	}
}

// toldBy returns what the loop told the model.
func toldBy(events []agent.Event) (texts []string) {
	for _, ev := range events {
		if s, ok := ev.Data.(agent.SteeringInjected); ok && s.ByLoop {
			texts = append(texts, s.Text)
		}
	}
	return texts
}
