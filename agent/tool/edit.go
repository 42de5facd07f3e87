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

//go:embed edit.md
var editDescription string

// EditInput is the input of Edit.
type EditInput struct {
	FilePath   string `json:"file_path" jsonschema:"the file to change, absolute or relative to the working directory"`
	OldString  string `json:"old_string" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewString  string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence instead of the only one"`
	Fuzzy      bool   `json:"fuzzy,omitempty" jsonschema:"where the text is not there, take the part of the file that resembles it most; with an empty old_string, create the file"`
}

// edit implements the Edit tool (LOOP-25, OAS-303).
type edit struct {
	definition
	env  env.Environment
	seen *fileMemory
}

// Access implements [agent.Accessor].
func (e *edit) Access(input json.RawMessage) agent.Access {
	in, err := parse(input, EditInput{})
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{absolute(e.env, in.FilePath)}}
}

// Preview implements [agent.Previewer]. Like that of Write, it shows a change of a
// file that the model has not read.
func (e *edit) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	in, err := parse(input, EditInput{})
	if err != nil {
		return nil, err
	}
	_, _, change, err := e.plan(ctx, in, true)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{change}, nil
}

// Run implements [agent.Tool].
func (e *edit) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, EditInput{})
	if err != nil {
		return failed(err)
	}
	before, done, change, err := e.plan(ctx, in, false)
	if err != nil {
		return failed(err)
	}
	if err := e.env.WriteFile(ctx, in.FilePath, done.content); err != nil {
		return failed(err)
	}
	path := absolute(e.env, in.FilePath)
	e.seen.changed(path, before, done.content, e.seen.linesSeen(path, before))
	text := fmt.Sprintf("Replaced %s in %s.", count(done.count, "occurrence"), change.Path)
	switch {
	case change.Created:
		text = fmt.Sprintf("Created %s.", change.Path)
	case done.resembles != "":
		text += fmt.Sprintf(" The text was not there exactly; what was replaced %s.", done.resembles)
	case done.fold != exact:
		text += fmt.Sprintf(" The text was not there exactly; it matched with %s ignored.", done.fold)
	}
	return agent.Result{Output: text, Details: &agent.Details{Changes: []agent.FileChange{change}}}
}

// plan computes the edit without writing it. The model must have seen what it
// changes, unless unseen says otherwise.
func (e *edit) plan(ctx context.Context, in EditInput, unseen bool) (before []byte, done replacement, change agent.FileChange, err error) {
	path := relative(e.env, in.FilePath)
	before, err = readText(ctx, e.env, in.FilePath)
	if errors.Is(err, fs.ErrNotExist) && in.Fuzzy && in.OldString == "" {
		made := replacement{content: []byte(in.NewString)}
		return nil, made, changeOf(path, nil, made.content, true), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, replacement{}, agent.FileChange{}, fmt.Errorf("%w. To create a file use Write", err)
	}
	if err != nil {
		return nil, replacement{}, agent.FileChange{}, err
	}
	if err := e.seen.fresh(absolute(e.env, in.FilePath), path, before); err != nil && !unseen {
		return nil, replacement{}, agent.FileChange{}, err
	}
	done, err = replace(before, in.OldString, in.NewString, in.ReplaceAll)
	if errors.Is(err, errNotFound) && in.Fuzzy {
		done, err = replaceLike(newBudget(ctx), before, in.OldString, in.NewString, in.ReplaceAll)
	}
	if err != nil {
		return nil, replacement{}, agent.FileChange{}, fmt.Errorf("%s was not changed: %w", path, err)
	}
	if err := e.seen.covers(absolute(e.env, in.FilePath), path, before, done.spans); err != nil && !unseen {
		return nil, replacement{}, agent.FileChange{}, err
	}
	return before, done, changeOf(path, before, done.content, false), nil
}
