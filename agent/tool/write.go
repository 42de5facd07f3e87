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

// Preview implements [agent.Previewer]. It also shows a change that Run would
// refuse because the model has not read the file: the person who is asked sees
// what the call is meant to do.
func (w *write) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	in, err := parse(input, WriteInput{})
	if err != nil {
		return nil, err
	}
	_, change, err := w.plan(ctx, in)
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
	before, change, err := w.plan(ctx, in)
	if err == nil {
		err = w.seen.current(absolute(w.env, in.FilePath), change.Path, before)
	}
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

// plan describes the change without making it.
func (w *write) plan(ctx context.Context, in WriteInput) (before []byte, change agent.FileChange, err error) {
	before, err = readText(ctx, w.env, in.FilePath)
	created := errors.Is(err, fs.ErrNotExist)
	if err != nil && !created {
		return nil, agent.FileChange{}, err
	}
	return before, changeOf(relative(w.env, in.FilePath), before, []byte(in.Content), created), nil
}
