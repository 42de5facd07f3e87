package hook

import (
	"context"

	"atelier.dev/atelier/agent"
)

// Func is a hook of a program that uses the library (OAS-662, COM-79). Nil means
// that it has nothing to say. An error, a panic or a function that does not
// return in its time counts as a failure of the hook.
type Func func(ctx context.Context, call agent.HookCall) (*Answer, error)
