package profile

import (
	"encoding/json"
	"fmt"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

// commandLimit is the time limit of a session's commands that name none: the
// user's, else the default (K-01, K-44).
type commandLimit struct {
	set      func() time.Duration // may be nil
	fallback time.Duration
}

// now is the limit that holds at this moment.
func (l commandLimit) now() time.Duration {
	limit := l.fallback
	if l.set != nil {
		if set := l.set(); set > 0 {
			limit = set
		}
	}
	return min(limit, tool.MaxCommandTimeout)
}

// bind makes a binding of the shell state a limit and give it to calls. The
// schema is that of all sessions but for the number.
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

// complete gives the shell's input a limit. A command that may run on beside
// its call has only the one that it names: to return early is not to end it.
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

// canonicalShell is the shell by its canonical name and as it is.
func canonicalShell() agent.Binding {
	b := call("Bash", "Bash")
	b.Description = tool.BashDescription
	return b
}
