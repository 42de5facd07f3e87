package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
)

//go:embed write.md
var writeDescription string

// WriteInput is the input of Write.
type WriteInput struct {
	FilePath string `json:"file_path" also:"path,file,filename" jsonschema:"the file to write, absolute or relative to the working directory"`
	Content  string `json:"content" also:"contents,text,file_text" jsonschema:"the whole new content"`
}

// write implements the Write tool (LOOP-24, OAS-302).
type write struct {
	definition
	env  env.Environment
	seen *Memory
}

// Access implements [agent.Accessor].
func (w *write) Access(_ context.Context, input json.RawMessage) agent.Access {
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
	plan, err := w.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{plan.change}, nil
}

// Run implements [agent.Tool].
func (w *write) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := parse(call.Input, WriteInput{})
	if err != nil {
		return failed(err)
	}
	plan, err := w.plan(ctx, in)
	if err == nil {
		err = w.env.WriteFile(ctx, in.FilePath, plan.encoded)
	}
	if err != nil {
		return failed(err)
	}
	w.seen.saw(absolute(w.env, in.FilePath), plan.text)
	verb := "Replaced"
	if plan.change.Created {
		verb = "Created"
	}
	text := fmt.Sprintf("%s %s: %s, %s written.", verb, plan.change.Path, count(filechange.Lines(string(plan.text)), "line"), count(len(plan.encoded), "byte"))
	if len(plan.kept) > 0 {
		text += fmt.Sprintf(" It has %s.", strings.Join(plan.kept, " and "))
	}
	return agent.Result{Output: text, Details: &agent.Details{Changes: []agent.FileChange{plan.change}}}
}

// writing is what a call of Write will do.
type writing struct {
	text    []byte // as UTF-8
	encoded []byte // as it is written
	change  agent.FileChange
	kept    []string // what the file has beyond the given text, as phrases
}

// plan computes the new content without writing it.
func (w *write) plan(ctx context.Context, in WriteInput) (p writing, err error) {
	path, shown := absolute(w.env, in.FilePath), relative(w.env, in.FilePath)
	before, err := env.ReadText(ctx, w.env, in.FilePath)
	created := errors.Is(err, fs.ErrNotExist)
	if err == nil || created {
		err = env.CheckWritable(w.env, in.FilePath)
	}
	if err != nil {
		return p, err
	}
	if err := w.seen.current(path, shown, before.UTF8); err != nil {
		return p, err
	}
	if !before.Certain() {
		return p, fmt.Errorf("%s was not replaced: it is not UTF-8, and its encoding is not certain. Name the encoding as charset in .editorconfig, "+
			"or convert the file to UTF-8 first", shown)
	}
	text, kept := formed(ctx, w.env, in.FilePath, before, in.Content)
	p.kept = kept
	p.text = []byte(text)
	p.change = filechange.Of(shown, before.UTF8, p.text, created)
	if p.encoded, err = before.Encode(p.text); err != nil {
		return p, fmt.Errorf("%s was not replaced: %w", shown, err)
	}
	return p, nil
}
