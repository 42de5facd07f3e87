package tool

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// maxDepth limits the depth of a listing.
const maxDepth = 10

//go:embed listdir.md
var listDirDescription string

// ListDirInput is the input of ListDir.
type ListDirInput struct {
	Path   string   `json:"path,omitempty" also:"dir_path,directory" jsonschema:"the directory, the working directory if left out"`
	Depth  int      `json:"depth,omitempty" jsonschema:"how many levels to list, 1 if left out"`
	Ignore []string `json:"ignore,omitempty" jsonschema:"patterns of names or paths to leave out"`
}

// listDir implements the ListDir tool (LOOP-31). The data of its results is
// []env.Entry.
type listDir struct {
	definition
	env env.Environment
}

// Access implements [agent.Accessor].
func (l *listDir) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := parse(input, ListDirInput{})
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Reads: []string{absolute(l.env, in.Path)}}
}

// Run implements [agent.Tool].
func (l *listDir) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, ListDirInput{})
	if err != nil {
		return failed(err)
	}
	dir := cmp.Or(in.Path, ".")
	if info, err := l.env.Stat(ctx, dir); err == nil && !info.Mode.IsDir() {
		return agent.Fail(dir + " is a file, not a directory.")
	}
	entries, err := l.env.ListDirectory(ctx, dir, min(max(in.Depth, 1), maxDepth))
	if err != nil {
		return failed(err)
	}
	more := len(entries) == env.MaxEntries
	entries = slices.DeleteFunc(entries, func(e env.Entry) bool { return matchesAny(in.Ignore, e.Path) })
	slices.SortStableFunc(entries, func(a, b env.Entry) int {
		switch {
		case a.Dir == b.Dir:
			return cmp.Compare(a.Path, b.Path)
		case a.Dir:
			return -1
		}
		return 1
	})
	var b strings.Builder
	for _, e := range entries {
		switch {
		case e.Unreadable:
			fmt.Fprintf(&b, "%s/ (cannot be read)\n", e.Path)
		case e.Dir:
			fmt.Fprintf(&b, "%s/\n", e.Path)
		default:
			fmt.Fprintf(&b, "%s (%s)\n", e.Path, count(int(e.Size), "byte"))
		}
	}
	var notes []string
	switch {
	case more:
		notes = []string{fmt.Sprintf("[Stopped after %d entries; there may be more.]", env.MaxEntries)}
	case len(entries) == 0:
		notes = []string{"[The directory is empty.]"}
	}
	return agent.Result{
		Output:  withRemarks(b.String(), notes),
		Details: &agent.Details{Listing: &agent.Listing{Count: len(entries), Unit: "entries"}},
		Data:    entries,
	}
}
