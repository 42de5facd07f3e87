package subagent

import (
	"context"

	"atelier.dev/atelier/agent"
)

// Spawner starts an agent on a task and returns its report (OAS-501). It is safe for
// concurrent use.
type Spawner interface {
	Spawn(ctx context.Context, base Base) (Report, error)
}

// Enhanced is a [Spawner] that takes all that can be said of an agent.
type Enhanced interface {
	Spawner
	SpawnEnhanced(ctx context.Context, in Enhancement) (Report, error)
}

// Base is what every [Spawner] takes: five parameters, of which only Prompt is needed.
type Base struct {
	Prompt       string
	Model        string // empty means the parent's
	SystemPrompt string // empty means that of the agent's type
	// AllowedTools are canonical names; nil means all of the parent's.
	AllowedTools []string
	MaxTurns     int // rounds of tools; 0 means [DefaultMaxTurns]
}

// Enhancement adds nine more.
type Enhancement struct {
	Base
	DisallowedTools []string
	MCPServers      []string
	Skills          []string
	// Background returns at once; the report has no output then.
	Background bool
	Isolation  string // [Worktree] or empty
	Name       string
	Team       string
	Mode       agent.Mode // the parent's holds if it is tighter
	Resume     string     // the id or name of an agent that goes on with Prompt
}

// Spawn starts an agent with all that can be said of it. A spawner that is not [Enhanced] is
// given the base form, so that one written for that goes on working.
func Spawn(ctx context.Context, s Spawner, in Enhancement) (Report, error) {
	if enhanced, ok := s.(Enhanced); ok {
		return enhanced.SpawnEnhanced(ctx, in)
	}
	return s.Spawn(ctx, in.Base)
}
