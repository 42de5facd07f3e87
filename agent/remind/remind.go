// Package remind reminds models of a tool that they have not called for a while (COM-26), such
// as their list of tasks. When to remind follows from the conversation alone, so it is the
// same after a restart, a fork and a rewind.
package remind

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
)

// Reminder is one reminder. A round is an answer of a model.
type Reminder struct {
	// Tools are the names of the tool, as all models know it.
	Tools []string
	// Gap is how many rounds have to pass since its last call, and CoolDown how many since the
	// reminder was told last.
	Gap, CoolDown int
	// Used says that it is told only once the tool was called.
	Used bool
	Text string
}

// most is how many items are looked at, from the newest.
const most = 2000

// All returns what [agent.Config.Remind] takes.
func All(reminders ...Reminder) func(*contextir.Conversation) []string {
	return func(c *contextir.Conversation) (due []string) {
		for _, r := range reminders {
			if r.Text != "" && r.due(c) {
				due = append(due, agent.Reminder(r.Text))
			}
		}
		return due
	}
}

func (r Reminder) due(c *contextir.Conversation) bool {
	text := strings.TrimSpace(r.Text)
	rounds, items := 0, 0
	called, told := -1, -1 // how many rounds ago; -1 means not
	for it := range c.Backward() {
		if items++; items > most || called >= 0 && rounds >= r.CoolDown {
			break
		}
		switch it.Type {
		case contextir.SystemReminder:
			if told < 0 && strings.Contains(it.Text(), text) {
				told = rounds
			}
		case contextir.AssistantMessage:
			for _, call := range it.Message.Calls() {
				if called < 0 && slices.Contains(r.Tools, call.Name) {
					called = rounds
				}
			}
			rounds++
		}
	}
	if told >= 0 && told < r.CoolDown {
		return false
	}
	if called < 0 {
		return !r.Used && rounds >= r.Gap
	}
	return called >= r.Gap
}
