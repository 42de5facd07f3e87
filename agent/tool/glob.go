package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// maxPaths keeps a result below the limits of [Truncate], like maxHits.
const maxPaths = 499

//go:embed glob.md
var globDescription string

// GlobInput is the input of Glob.
type GlobInput struct {
	Pattern string `json:"pattern" also:"glob,query" jsonschema:"the pattern that paths must match, such as **/*.go"`
	Path    string `json:"path,omitempty" also:"dir_path,directory" jsonschema:"the directory to search, the working directory if left out"`
}

// glob implements the Glob tool (LOOP-28, OAS-304).
type glob struct {
	definition
	env env.Environment
}

// parse reads the input, with the names that files really have.
func (g *glob) parse(input json.RawMessage) (GlobInput, error) {
	in, err := parse(input, GlobInput{})
	if in.Path != "" {
		in.Path = env.Spelled(g.env, in.Path)
	}
	return in, err
}

// Access implements [agent.Accessor].
func (g *glob) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := g.parse(input)
	if err != nil {
		return agent.Access{}
	}
	base := env.GlobQuery{Pattern: in.Pattern, Path: in.Path}.Base()
	return agent.Access{Reads: []string{absolute(g.env, base)}}
}

// Run implements [agent.Tool].
func (g *glob) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := g.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	hits, err := g.env.Glob(ctx, env.GlobQuery{Pattern: in.Pattern, Path: in.Path, Limit: maxPaths})
	if err != nil {
		return failed(err)
	}
	return found(hits, maxPaths, "file", "Narrow the pattern or the path.")
}
