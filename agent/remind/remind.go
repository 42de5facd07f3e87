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
	told := strings.TrimSpace(r.Text)
	rounds, items := 0, 0
	for it := range c.Backward() {
		if items++; items > most {
			break
		}
		if it.Type == contextir.SystemReminder && rounds < r.CoolDown && strings.Contains(it.Text(), told) {
			return false
		}
		if it.Type != contextir.AssistantMessage {
			continue
		}
		for _, call := range it.Message.Calls() {
			if slices.Contains(r.Tools, call.Name) {
				return rounds >= r.Gap && !r.lately(c, told)
			}
		}
		rounds++
	}
	return !r.Used && rounds >= r.Gap
}

// lately reports whether it was told less than CoolDown rounds ago.
func (r Reminder) lately(c *contextir.Conversation, told string) bool {
	rounds := 0
	for it := range c.Backward() {
		switch {
		case rounds >= r.CoolDown:
			return false
		case it.Type == contextir.AssistantMessage:
			rounds++
		case it.Type == contextir.SystemReminder && strings.Contains(it.Text(), told):
			return true
		}
	}
	return false
}
