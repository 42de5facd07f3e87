package tool

import (
	"context"
	_ "embed" // embeds the description and the grammar
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/applypatch"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
	"atelier.dev/atelier/agent/llm"
)

var (
	//go:embed applypatch.md
	applyPatchDescription string
	//go:embed applypatch.lark
	applyPatchGrammar string
)

type applyPatchInput struct {
	Input string `json:"input" jsonschema:"the whole patch, from its first marker line to its last"`
}

// applyPatch implements the ApplyPatch tool (LOOP-29, LOOP-50, LOOP-51).
//
// An update needs no earlier read. The old lines that it names place it and
// prove that the model knows what it changes, even if the file has changed
// elsewhere. A change without old lines is guarded like a write (K-28): a file
// that is replaced must have been read in its current state, and a file that is
// deleted must not have changed since it was read.
type applyPatch struct {
	definition
	env  env.Environment
	tree env.Tree
	seen *Memory
}

func newApplyPatch(e env.Environment, tree env.Tree, seen *Memory) *applyPatch {
	d := define[applyPatchInput]("ApplyPatch", applyPatchDescription)
	d.spec.Freeform = &llm.Freeform{Grammar: applyPatchGrammar}
	return &applyPatch{d, e, tree, seen}
}

// Validate implements [agent.Validator]: it checks that the patch can be
// parsed.
func (a *applyPatch) Validate(input json.RawMessage) error {
	_, err := a.readPatch(input)
	return err
}

// Access implements [agent.Accessor].
func (a *applyPatch) Access(_ context.Context, input json.RawMessage) agent.Access {
	patch, err := a.readPatch(input)
	if err != nil {
		return agent.Access{}
	}
	var access agent.Access
	for _, op := range patch.Operations {
		access.Writes = append(access.Writes, absolute(a.env, op.Path))
		if op.MoveTo != "" {
			access.Writes = append(access.Writes, absolute(a.env, op.MoveTo))
		}
	}
	return access
}

// Preview implements [agent.Previewer].
func (a *applyPatch) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	plan, _, err := a.plan(ctx, input)
	if err != nil {
		return nil, notApplied(err)
	}
	return a.changes(plan), nil
}

// Run implements [agent.Tool].
func (a *applyPatch) Run(ctx context.Context, call agent.Invocation) agent.Result {
	plan, encoded, err := a.plan(ctx, call.Input)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return failed(notApplied(err))
	}
	err = encoded.Commit(a.tree)
	if only := encoded.Changes[0]; len(encoded.Changes) == 1 && only.Kind != applypatch.Delete && only.MoveTo == "" && env.NotReplaceable(err) {
		err = a.env.WriteFile(ctx, only.Path, []byte(only.After)) // which may write in place
	}
	if err != nil {
		return failed(err)
	}
	a.remember(plan)
	return agent.Result{Output: plan.Summary(), Details: &agent.Details{Changes: a.changes(plan)}}
}

func notApplied(err error) error {
	return fmt.Errorf("the patch was not applied, no file was changed:\n%w", err)
}

// readPatch parses a patch. Files that it updates, moves or deletes get the names that
// they really have.
func (a *applyPatch) readPatch(input json.RawMessage) (applypatch.Patch, error) {
	in, err := parse(input, applyPatchInput{})
	if err != nil {
		return applypatch.Patch{}, err
	}
	patch, err := applypatch.Parse(in.Input)
	for i, op := range patch.Operations {
		if op.Kind != applypatch.Add {
			patch.Operations[i].Path = env.Spelled(a.env, op.Path)
		}
	}
	return patch, err
}

// plan computes the new contents of the files without writing them: as texts, and as they
// are written.
func (a *applyPatch) plan(ctx context.Context, input json.RawMessage) (plan, encoded *applypatch.Plan, err error) {
	patch, err := a.readPatch(input)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]env.Text{}
	plan, err = patch.Plan(func(path string) ([]byte, error) {
		info, err := a.tree.Lstat(path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = env.IsLink(a.env, path)
		}
		if err != nil {
			return nil, err
		}
		text, err := env.ReadText(ctx, a.env, path)
		found[path] = text
		return text.UTF8, err
	})
	if err != nil {
		return nil, nil, err
	}
	for i := range plan.Changes {
		c := &plan.Changes[i]
		if c.Kind == applypatch.Add {
			c.After, _ = formed(ctx, a.env, c.Path, found[filepath.Clean(c.Path)], c.After)
		}
		if c.Kind != applypatch.Delete && !c.Unchanged() {
			if err := env.CheckWritable(a.env, c.Path); err != nil {
				return nil, nil, err
			}
		}
		if err := a.guard(*c, found); err != nil {
			return nil, nil, err
		}
	}
	encoded, err = plan.Encoded(func(path, text string) ([]byte, error) { return found[path].Encode([]byte(text)) })
	return plan, encoded, err
}

// guard refuses to overwrite or delete what the model does not know (K-28).
func (a *applyPatch) guard(c applypatch.Change, found map[string]env.Text) error {
	lost, check := c.Path, a.seen.current
	switch {
	case c.Unchanged():
		return nil
	case c.Kind == applypatch.Delete:
		check = a.seen.unchanged
	case c.Overwrites && c.MoveTo != "":
		lost = c.MoveTo
	case !c.Overwrites:
		return nil
	}
	return check(absolute(a.env, lost), relative(a.env, lost), found[filepath.Clean(lost)].UTF8)
}

// remember records what the model knows after a patch: the files that it wrote
// whole, and in changed files the lines that it knew before, the context lines
// of its patch, and the lines that it wrote.
func (a *applyPatch) remember(plan *applypatch.Plan) {
	for _, c := range plan.Changes {
		path := c.Path
		if c.MoveTo != "" {
			path = c.MoveTo
		}
		switch c.Kind {
		case applypatch.Add:
			a.seen.saw(absolute(a.env, path), []byte(c.After))
		case applypatch.Update:
			known := a.seen.linesSeen(absolute(a.env, c.Path), []byte(c.Before))
			for _, line := range c.Context {
				if line < len(known) { // a patch counts carriage returns too
					known[line] = true
				}
			}
			a.seen.changed(absolute(a.env, path), []byte(c.Before), []byte(c.After), known)
		}
	}
}

// changes describes a plan for the window.
func (a *applyPatch) changes(plan *applypatch.Plan) []agent.FileChange {
	var out []agent.FileChange
	for _, c := range plan.Changes {
		if c.Unchanged() {
			continue
		}
		change := filechange.Of(relative(a.env, c.Path), []byte(c.Before), []byte(c.After), c.Kind == applypatch.Add && !c.Overwrites)
		change.Deleted = c.Kind == applypatch.Delete
		if c.MoveTo != "" {
			change.MovedTo = relative(a.env, c.MoveTo)
		}
		out = append(out, change)
	}
	return out
}

// Redirect implements [agent.Redirector]: a command that only passes a patch to
// apply_patch becomes a patch, because that program does not exist here.
func (b *bash) Redirect(input json.RawMessage) (tool string, instead json.RawMessage, ok bool) {
	in, err := parse(input, BashInput{})
	if err != nil {
		return "", nil, false
	}
	dir, text, ok := applypatch.FromScript(in.Command)
	if !ok {
		return "", nil, false
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(in.Workdir, dir)
	}
	if patch, err := applypatch.Parse(text); err == nil && dir != "" { // an invalid patch is refused as a command
		text = within(dir, patch).String()
	}
	instead, err = json.Marshal(applyPatchInput{text})
	return "ApplyPatch", instead, err == nil
}

// within returns the patch with its relative paths resolved against dir.
func within(dir string, patch applypatch.Patch) applypatch.Patch {
	from := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for i := range patch.Operations {
		op := &patch.Operations[i]
		op.Path, op.MoveTo = from(op.Path), from(op.MoveTo)
	}
	return patch
}
