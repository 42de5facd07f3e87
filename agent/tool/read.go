package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/document"
	"atelier.dev/atelier/agent/env"
)

// defaultLines is the default number of lines of Read.
const defaultLines = 2000

//go:embed read.md
var readDescription string

// ReadInput is the input of Read.
type ReadInput struct {
	FilePath string `json:"file_path" also:"path,file,filename,absolute_path" jsonschema:"the file to read, absolute or relative to the working directory"`
	Offset   int    `json:"offset,omitempty" also:"start_line" jsonschema:"number of the first line to read, counted from 1"`
	Limit    int    `json:"limit,omitempty" jsonschema:"how many lines to read, 2000 if left out"`
}

// read implements the Read tool (LOOP-23, OAS-301, K-03). The data of its results
// is an [env.Page]; a picture has none.
type read struct {
	definition
	env  env.Environment
	seen *Memory
}

// parse reads the input, with the names that files really have.
func (r *read) parse(input json.RawMessage) (ReadInput, error) {
	in, err := parse(input, ReadInput{})
	in.FilePath = env.Spelled(r.env, in.FilePath)
	return in, err
}

// Access implements [agent.Accessor].
func (r *read) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := r.parse(input)
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Reads: []string{absolute(r.env, in.FilePath)}}
}

// Run implements [agent.Tool].
func (r *read) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := r.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	if seen, ok := r.look(ctx, in.FilePath); ok {
		return seen
	}
	if in.Offset <= 0 && in.Limit <= 0 {
		if cells, ok := r.cells(ctx, in.FilePath); ok {
			return cells
		}
		if err := r.tooLarge(ctx, in.FilePath); err != nil {
			return failed(err)
		}
	}
	wanted := 0
	if in.Limit > 0 {
		wanted = maxWanted
	} else {
		in.Limit = defaultLines
	}
	page, err := r.env.ReadLines(ctx, in.FilePath, in.Offset, in.Limit)
	if err != nil {
		return failed(err)
	}
	r.seen.sawPage(absolute(r.env, in.FilePath), page.Hash, slices.Values(page.Lines))
	return agent.Result{
		Output:  numbered(page) + page.Note(),
		Details: &agent.Details{Listing: &agent.Listing{Count: len(page.Lines), Unit: "lines"}},
		Data:    page,
		Wanted:  wanted,
	}
}

// look shows a document to the model, such as a picture (LOOP-23). It reports false if the
// file is none, whatever its name.
func (r *read) look(ctx context.Context, path string) (agent.Result, bool) {
	if !document.Known(path) {
		return agent.Result{}, false
	}
	data, err := r.env.ReadFile(ctx, path)
	if err != nil {
		return agent.Result{}, false
	}
	return document.Show(ctx, path, data)
}

// tooLarge refuses to read a huge file from its start unless the call asks for
// a part of it.
func (r *read) tooLarge(ctx context.Context, path string) error {
	info, err := r.env.Stat(ctx, path)
	if err != nil || !info.Mode.IsRegular() || info.Size <= env.MaxWhole {
		return err
	}
	return fmt.Errorf("%s has %d MB, too much to read whole. Read a part of it with offset and limit, or search it with Grep", path, info.Size>>20)
}

// numbered writes the page's lines with their numbers, and notes what was left
// out.
func numbered(page env.Page) string {
	switch {
	case page.Total == 0:
		return "[The file is empty.]"
	case len(page.Lines) == 0:
		return fmt.Sprintf("[The file has %s; line %d is past its end.]", count(page.Total, "line"), page.First)
	}
	var b strings.Builder
	for i, line := range page.Lines {
		fmt.Fprintf(&b, "%d | %s\n", page.First+i, line)
	}
	last := page.First + len(page.Lines) - 1
	switch {
	case page.More && page.Total >= 0:
		fmt.Fprintf(&b, "[Lines %d to %d of %d. Read on with offset %d.]\n", page.First, last, page.Total, last+1)
	case page.More:
		fmt.Fprintf(&b, "[Lines %d to %d of more. Read on with offset %d.]\n", page.First, last, last+1)
	}
	return b.String()
}
