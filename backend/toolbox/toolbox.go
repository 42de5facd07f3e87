// Package toolbox has the tools with which a session's agent talks to its user and keeps track
// of its work, ready for a session, and the switches with which the user leaves tools out.
package toolbox

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/ask"
	"atelier.dev/atelier/agent/browser"
	"atelier.dev/atelier/agent/monitor"
	"atelier.dev/atelier/agent/network"
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
func ForSessions(bash agent.Tool, tasks *tool.Tasks, watch *Watch, pages *Browser) []agent.Tool {
	return []agent.Tool{monitor.Tool(bash, tasks, watch), browser.Tool(pages), ask.Tool(), todo.Tool()}
}
