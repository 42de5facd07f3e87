package external

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent"
)

// The tools that only sessions of external agents have, by their canonical names.
const (
	// ConsentTool asks whether the agent may do something by itself.
	ConsentTool = "ExternalPermission"
	// StepTool records what the agent did by itself.
	StepTool = "ExternalStep"
)

// Consent is what an agent asks to be permitted, as the rules and a person judge it.
type Consent struct {
	Title   string   `json:"title" jsonschema:"what the agent wants to do, in its words"`
	Kind    string   `json:"kind,omitempty" jsonschema:"read, edit, delete, move, search, execute, fetch or other"`
	Command string   `json:"command,omitempty" jsonschema:"the command line that it wants to run"`
	Dir     string   `json:"dir,omitempty" jsonschema:"the folder in which it wants to run the command"`
	Paths   []string `json:"paths,omitempty" jsonschema:"the files that it wants to touch"`
	Detail  string   `json:"detail,omitempty" jsonschema:"what else the agent says of it"`
}

// Access says what the agent wants to touch, by its own account. The gate judges it like a call
// of ours that does the same, but not as confined: nothing confines it.
func (c *Consent) Access() agent.Access {
	var paths []string
	for _, p := range c.Paths {
		if filepath.IsAbs(p) {
			paths = append(paths, filepath.Clean(p))
		}
	}
	a := agent.Access{Command: c.Command, Dir: c.Dir}
	switch acp.ToolKind(c.Kind) {
	case acp.ToolKindRead, acp.ToolKindSearch:
		a.Reads = paths
	default:
		a.Writes = paths
	}
	return a
}

// Step is what an agent did by itself.
type Step struct {
	Title  string   `json:"title" jsonschema:"what the agent did, in its words"`
	Kind   string   `json:"kind,omitempty" jsonschema:"read, edit, delete, move, search, execute, fetch or other"`
	Paths  []string `json:"paths,omitempty" jsonschema:"the files that it names"`
	Output string   `json:"output,omitempty" jsonschema:"what it says came of it"`
	Failed bool     `json:"failed,omitempty" jsonschema:"that it says it failed"`
}

func (a *Adapter) consent() agent.Tool {
	return agent.Function(agent.Spec{
		Name: ConsentTool, Description: "Asks whether the external agent may do something by itself.", OpenWorld: true,
		Origin: &agent.ToolOrigin{Server: a.cfg.Name, Tool: ConsentTool, Title: "Permission", Destructive: true},
	}, func(_ context.Context, in Consent) (string, error) {
		return fmt.Sprintf("%s may do it, by itself: neither Atelier's sandbox nor its undo hold for it.", a.cfg.Name), nil
	})
}

func (a *Adapter) step() agent.Tool {
	return agent.Function(agent.Spec{
		Name: StepTool, Description: "Records what the external agent did by itself.", ReadOnly: true, Concurrent: true, Idempotent: true,
		Origin: &agent.ToolOrigin{Server: a.cfg.Name, Tool: StepTool, Title: "Done by itself", ReadOnly: true},
	}, func(_ context.Context, in Step) (string, error) {
		text := fmt.Sprintf("%s did this by itself, outside Atelier's rules, sandbox and undo.", a.cfg.Name)
		if in.Output != "" {
			text += "\n\n" + strings.TrimRight(in.Output, "\n")
		}
		if in.Failed {
			return "", fmt.Errorf("it failed. %s", text)
		}
		return text, nil
	})
}
