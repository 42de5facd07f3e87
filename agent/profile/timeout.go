package profile

import (
	"encoding/json"
	"fmt"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// commandLimit is a session's default time limit for commands: the user's, else
// the built-in one (K-01, K-44).
type commandLimit struct {
	set      func() time.Duration // may be nil
	fallback time.Duration
}

// now returns the current limit.
func (l commandLimit) now() time.Duration {
	limit := l.fallback
	if l.set != nil {
		if set := l.set(); set > 0 {
			limit = set
		}
	}
	return min(limit, tool.MaxCommandTimeout)
}

// bind makes a binding of the shell state a limit and apply it to calls. Apart
// from the number, the schema is the same in all sessions.
func (l commandLimit) bind(b agent.Binding, told time.Duration) agent.Binding {
	b.Description = tool.StateTimeout(b.Description, told)
	if b.Schema != nil {
		b.Schema = json.RawMessage(tool.StateTimeout(string(b.Schema), told))
	}
	read := b.Input
	b.Input = func(args json.RawMessage) (json.RawMessage, error) {
		if read != nil {
			own, err := read(args)
			if err != nil {
				return nil, err
			}
			args = own
		}
		return l.complete(args)
	}
	return b
}

// complete adds a limit to the shell's input. A command that may keep running
// after its call has only the limit that it names, because an early return is
// not an end.
func (l commandLimit) complete(input json.RawMessage) (json.RawMessage, error) {
	var in tool.BashInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	if in.Timeout > 0 || in.RunInBackground || in.YieldTimeMs > 0 {
		return input, nil
	}
	in.Timeout = l.now().Milliseconds()
	return json.Marshal(in)
}

// canonicalShell shows the shell under its canonical name, unchanged.
func canonicalShell() agent.Binding {
	b := agent.Called("Bash", "Bash")
	b.Description = tool.BashDescription
	return b
}
