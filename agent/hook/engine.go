package hook

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/network"
)

// Options are what an [Engine] asks of its host. All but Handlers may be left
// out.
type Options struct {
	// Folder is where hooks run: the session's working folder.
	Folder string
	// Agent is set for the session of an agent. Its start and its end are those
	// of a subagent, and it has no end of a session.
	Agent *Agent
	// Handlers returns the hooks, which may change from call to call. Hooks of
	// one scope run in the order in which they are returned.
	Handlers func() []Handler
	// Ready says whether a hook may run. It is asked just before it would. Without
	// it, all may.
	Ready func(Handler) Readiness
	// Applies says whether a permission rule in "if" is about a call. Without it,
	// or after an error, the hook runs.
	Applies func(rule string, call agent.HookTool) (bool, error)
	// Runner starts commands. Without it, no command runs.
	Runner Runner
	// Allow names variables of the environment that hooks always get.
	Allow []string
	// Network returns settings whose DeniedDomains hold for requests, too.
	Network func() network.Settings
	// Log receives each hook that was considered. It must not block.
	Log func(Entry)
	// Update changes the session's rules. Without it, a hook that asks for a
	// change fails.
	Update func(PermissionUpdate) error
}

// Agent is the agent whose session fires hooks.
type Agent struct {
	ID, Parent, Task string
	// Type is what matchers of subagents look at; empty means
	// "general-purpose".
	Type string
}
