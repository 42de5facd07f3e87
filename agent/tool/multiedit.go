package tool

import (
	"cmp"
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

//go:embed multiedit.md
var multiEditDescription string

// MultiEditInput is the input of MultiEdit.
type MultiEditInput struct {
	FilePath string `json:"file_path" jsonschema:"the file to change, absolute or relative to the working directory"`
	Edits    []struct {
		OldString  string `json:"old_string" jsonschema:"the text to replace, exactly as it stands in the file"`
		NewString  string `json:"new_string" jsonschema:"the text to put in its place"`
		ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence instead of the only one"`
	} `json:"edits" jsonschema:"the replacements, in their order"`
}

// multiEdit implements the tool MultiEdit.
type multiEdit struct{ edit }

func newMultiEdit(e env.Environment, seen *Memory) *multiEdit {
	d := define[MultiEditInput]("MultiEdit", multiEditDescription)
	same := func(in MultiEditInput) (MultiEditInput, error) { return in, nil }
	named := agent.Understand[MultiEditInput]("MultiEdit", "multi_edit", same)
	hidden := named
	hidden.Hidden = true // these models write patches
	d.spec.Bindings = map[string][]agent.Binding{
		"anthropic": {agent.Understand[MultiEditInput]("MultiEdit", "MultiEdit", same)}, "openai": {hidden}, "gemini": {named}, "spec": {named},
	}
	return &multiEdit{edit{d, e, seen}}
}

// Validate implements [agent.Validator].
func (m *multiEdit) Validate(input json.RawMessage) error {
	const maxEdits = 100
	in, err := parse(input, MultiEditInput{})
	if err == nil && (len(in.Edits) == 0 || len(in.Edits) > maxEdits) {
		err = fmt.Errorf("there are %d edits: give 1 to %d", len(in.Edits), maxEdits)
	}
	return err
}

// Preview implements [agent.Previewer].
func (m *multiEdit) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	plan, _, err := m.plan(ctx, input)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{plan.change}, nil
}

// Run implements [agent.Tool].
func (m *multiEdit) Run(ctx context.Context, call agent.Invocation) agent.Result {
	plan, known, err := m.plan(ctx, call.Input)
	if err == nil {
		err = m.env.WriteFile(ctx, plan.change.Path, plan.encoded)
	}
	if err != nil {
		return failed(err)
	}
	m.seen.adopt(known)
	text := fmt.Sprintf("Replaced %s in %s.", count(plan.count, "occurrence"), plan.change.Path)
	if plan.fold != exact {
		text += fmt.Sprintf(" A text was not there exactly; it matched with %s ignored.", plan.fold)
	}
	return agent.Result{Output: text, Details: &agent.Details{Changes: []agent.FileChange{plan.change}}}
}

// plan makes the edits one after the other without writing them. known is what the model
// knows of the file once they are written.
func (m *multiEdit) plan(ctx context.Context, input json.RawMessage) (p editing, known *Memory, err error) {
	in, err := parse(input, MultiEditInput{})
	if err != nil {
		return p, nil, err
	}
	in.FilePath = env.Spelled(m.env, in.FilePath)
	path, shown := absolute(m.env, in.FilePath), relative(m.env, in.FilePath)
	before, err := env.ReadText(ctx, m.env, in.FilePath)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil, fmt.Errorf("%w. To create a file use Write", err)
	}
	if err == nil {
		err = cmp.Or(env.CheckWritable(m.env, in.FilePath), m.seen.read(path, shown, before.UTF8))
	}
	if err != nil {
		return p, nil, err
	}
	known, p.content = m.seen.fork(), before.UTF8
	for i, each := range in.Edits {
		done, _, err := find(ctx, p.content, EditInput{OldString: each.OldString, NewString: each.NewString, ReplaceAll: each.ReplaceAll})
		if err == nil {
			err = known.covers(path, shown, p.content, done.spans)
		}
		if err != nil {
			return p, nil, fmt.Errorf("edit %d of %d: %s. Nothing in %s was changed", i+1, len(in.Edits), strings.TrimSuffix(err.Error(), "."), shown)
		}
		known.changed(path, p.content, done.content, known.linesSeen(path, p.content))
		p.content, p.count, p.fold = done.content, p.count+done.count, max(p.fold, done.fold)
	}
	p.change = filechange.Of(shown, before.UTF8, p.content, false)
	if p.encoded, err = before.Encode(p.content); err != nil {
		return p, nil, fmt.Errorf("%s was not changed: %w", shown, err)
	}
	return p, known, nil
}
