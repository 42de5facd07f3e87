// Package toolbox has the tools with which a session's agent talks to its user and keeps track
// of its work, ready for a session, and the switches with which the user leaves tools out.
package toolbox

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/ask"
	"atelier.dev/atelier/agent/browser"
	"atelier.dev/atelier/agent/config"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/monitor"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/remind"
	"atelier.dev/atelier/agent/todo"
	"atelier.dev/atelier/agent/tool"
)

// Watch gathers the lines of a session's watched commands; see [monitor.Watch].
type Watch = monitor.Watch

// NewWatch returns a watch that calls wake when there are news for a session at rest.
func NewWatch(wake func()) *Watch { return monitor.New(wake) }

// Browser is a session's browser; see [browser.Browser].
type Browser = browser.Browser

// NewBrowser returns a browser that starts when it is needed. Hosts returns which hosts the
// session's settings allow and deny.
func NewBrowser(hosts func(context.Context) (network.Settings, error)) *Browser {
	return browser.New(browser.Config{Hosts: hosts})
}

// ForAgents returns the tools of an agent that another one started: nobody asks or wakes it.
func ForAgents() []agent.Tool { return []agent.Tool{todo.Tool()} }

// ForSessions returns the tools of a session that a person uses. Its watched commands are run
// by bash and listed in tasks.
func ForSessions(bash agent.Tool, tasks *tool.Tasks, watch *Watch, pages *Browser, choices Choices) []agent.Tool {
	return []agent.Tool{monitor.Tool(bash, tasks, watch), browser.Tool(pages), config.Tool(choices), ask.Tool(), todo.Tool()}
}

// Remind reminds a model of its list of tasks, if it once made one (COM-26).
func Remind(c *contextir.Conversation) []string { return ofTasks(c) }

var ofTasks = remind.All(remind.Reminder{
	Tools: []string{todo.Name, "todo_write", "update_plan", "write_todos"}, Gap: 10, CoolDown: 10, Used: true,
	Text: "You have not updated your list of tasks for a while. If it still helps, bring it up to date; else ignore this. Do not mention it to the user.",
})
