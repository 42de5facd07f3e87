package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

//go:embed write.md
var writeDescription string

// WriteInput is the input of Write.
type WriteInput struct {
	FilePath string `json:"file_path" also:"path,file,filename" jsonschema:"the file to write, absolute or relative to the working directory"`
	Content  string `json:"content" also:"contents,text,file_text" jsonschema:"the whole new content, written exactly as given"`
}

// write implements the Write tool (LOOP-24, OAS-302).
type write struct {
	definition
	env  env.Environment
	seen *fileMemory
}

// Access implements [agent.Accessor].
func (w *write) Access(input json.RawMessage) agent.Access {
	in, err := parse(input, WriteInput{})
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{absolute(w.env, in.FilePath)}}
}

// Preview implements [agent.Previewer].
func (w *write) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	in, err := parse(input, WriteInput{})
	if err != nil {
		return nil, err
	}
	change, err := w.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{change}, nil
}

// Run implements [agent.Tool].
func (w *write) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, WriteInput{})
	if err != nil {
		return failed(err)
	}
	change, err := w.plan(ctx, in)
	if err != nil {
		return failed(err)
	}
	if err := w.env.WriteFile(ctx, in.FilePath, []byte(in.Content)); err != nil {
		return failed(err)
	}
	w.seen.saw(absolute(w.env, in.FilePath), env.Hash([]byte(in.Content)))
	verb := "Replaced"
	if change.Created {
		verb = "Created"
	}
	return agent.Result{
		Output:  fmt.Sprintf("%s %s: %s, %s written.", verb, change.Path, count(lineCount(in.Content), "line"), count(len(in.Content), "byte")),
		Details: &agent.Details{Changes: []agent.FileChange{change}},
	}
}

// plan checks that the file may be written and describes the change.
func (w *write) plan(ctx context.Context, in WriteInput) (agent.FileChange, error) {
	path := relative(w.env, in.FilePath)
	before, err := readText(ctx, w.env, in.FilePath)
	created := errors.Is(err, fs.ErrNotExist)
	if err != nil && !created {
		return agent.FileChange{}, err
	}
	if err := w.seen.current(absolute(w.env, in.FilePath), path, before); err != nil {
		return agent.FileChange{}, err
	}
	return changeOf(path, before, []byte(in.Content), created), nil
}
