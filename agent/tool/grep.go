package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// defaultHits is how many lines Grep gives unasked.
const defaultHits = 250

//go:embed grep.md
var grepDescription string

// GrepInput is what Grep is called with.
type GrepInput struct {
	Pattern    string `json:"pattern" jsonschema:"the regular expression to search for"`
	Path       string `json:"path,omitempty" jsonschema:"the file or directory to search, the working directory if left out"`
	Glob       string `json:"glob,omitempty" jsonschema:"search only files that match, such as *.go or src/**/*.ts"`
	Type       string `json:"type,omitempty" jsonschema:"search only files of this type, such as go, py, js, rust"`
	OutputMode string `json:"output_mode,omitempty" jsonschema:"files_with_matches (the default), content or count"`
	IgnoreCase bool   `json:"-i,omitempty" jsonschema:"ignore the case of letters"`
	After      int    `json:"-A,omitempty" jsonschema:"lines to show after each match, for content"`
	Before     int    `json:"-B,omitempty" jsonschema:"lines to show before each match, for content"`
	Context    int    `json:"-C,omitempty" jsonschema:"lines to show around each match, for content"`
	HeadLimit  int    `json:"head_limit,omitempty" jsonschema:"how many lines of results to give, 250 if left out, 0 for all"`
}

// grep implements the Grep tool (LOOP-27, OAS-305).
type grep struct {
	definition
	env env.Environment
}

// Access implements [agent.Accessor].
func (g *grep) Access(input json.RawMessage) agent.Access {
	in, err := parse(input, GrepInput{})
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Reads: []string{absolute(g.env, in.Path)}}
}

// Run implements [agent.Tool].
func (g *grep) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, GrepInput{HeadLimit: defaultHits})
	if err != nil {
		return failed(err)
	}
	mode := env.GrepMode(in.OutputMode)
	unit := "file"
	switch mode {
	case "", env.GrepFiles, env.GrepCount:
	case env.GrepContent:
		unit = "match"
		if in.Before+in.After+in.Context > 0 {
			unit = "line"
		}
	default:
		return agent.Fail(fmt.Sprintf("The output_mode %q is unknown. Use files_with_matches, content or count.", in.OutputMode))
	}
	hits, err := g.env.Grep(ctx, env.GrepQuery{
		Pattern: in.Pattern, Path: in.Path, Glob: in.Glob, Type: in.Type, Mode: mode, IgnoreCase: in.IgnoreCase,
		Before: max(in.Before, in.Context), After: max(in.After, in.Context), Limit: in.HeadLimit,
	})
	if err != nil {
		return failed(err)
	}
	return found(hits, unit, "Narrow the search with path, glob or type, or raise head_limit.")
}

// found makes the result of a search. Its data is the [env.Hits].
func found(hits env.Hits, unit, advice string) agent.Result {
	n := len(hits.Lines)
	lines := hits.Lines
	switch {
	case hits.TimedOut:
		lines = append(lines, fmt.Sprintf("[The search stopped after %s and is incomplete. %s]", env.SearchTimeout, advice))
	case hits.More:
		lines = append(lines, fmt.Sprintf("[Stopped after %s; there are more. %s]", count(n, unit), advice))
	case n == 0:
		lines = []string{"[Nothing was found.]"}
	}
	_, units, _ := strings.Cut(count(2, unit), " ")
	return agent.Result{
		Output:  strings.Join(lines, "\n"),
		Details: &agent.Details{Listing: &agent.Listing{Count: n, Unit: units}},
		Data:    hits,
	}
}
