package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // for the description
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
	"atelier.dev/atelier/agent/internal/notebook"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

//go:embed notebookedit.md
var notebookEditDescription string

// NotebookEditInput is the input of NotebookEdit.
type NotebookEditInput struct {
	FilePath string `json:"file_path" jsonschema:"the notebook to change, absolute or relative to the working directory"`
	Command  string `json:"command" jsonschema:"replace, insert or delete"`
	CellID   string `json:"cell_id,omitempty" jsonschema:"the id of the cell; an insertion stands after it"`
	// CellNumber counts from 0; an insertion gets this number.
	CellNumber *int   `json:"cell_number,omitempty" jsonschema:"the number of the cell from 0, instead of its id; an insertion gets this number"`
	CellType   string `json:"cell_type,omitempty" jsonschema:"code, markdown or raw"`
	Source     string `json:"source,omitempty" jsonschema:"the new source of the cell"`
}

// Validate says in a phrase for the model what is wrong with a call.
func (in NotebookEditInput) Validate() error {
	switch {
	case !slices.Contains([]string{"replace", "insert", "delete"}, in.Command):
		return fmt.Errorf("there is no command %.40q; use replace, insert or delete", in.Command)
	case !slices.Contains([]string{"", "code", "markdown", "raw"}, in.CellType):
		return fmt.Errorf("there is no type of cell %.40q; use code, markdown or raw", in.CellType)
	case in.CellNumber != nil && *in.CellNumber < 0:
		return errors.New("the number of the cell is negative")
	case !strings.HasSuffix(strings.ToLower(in.FilePath), ".ipynb"):
		return errors.New("the file is no notebook: its name does not end with .ipynb")
	}
	return nil
}

// notebookEdit implements the tool NotebookEdit (OAS-322).
type notebookEdit struct {
	definition
	env  env.Environment
	seen *Memory
}

func newNotebookEdit(e env.Environment, seen *Memory) *notebookEdit {
	d := define[NotebookEditInput]("NotebookEdit", notebookEditDescription)
	d.spec.Bindings = notebookBindings()
	return &notebookEdit{d, e, seen}
}

func (n *notebookEdit) parse(input json.RawMessage) (NotebookEditInput, error) {
	in, err := parse(input, NotebookEditInput{})
	in.FilePath = env.Spelled(n.env, in.FilePath)
	return in, err
}

// Validate implements [agent.Validator].
func (n *notebookEdit) Validate(input json.RawMessage) error {
	in, err := parse(input, NotebookEditInput{})
	if err != nil {
		return err
	}
	return in.Validate()
}

// Access implements [agent.Accessor].
func (n *notebookEdit) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := n.parse(input)
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{absolute(n.env, in.FilePath)}}
}

// Preview implements [agent.Previewer].
func (n *notebookEdit) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	in, err := n.parse(input)
	if err != nil {
		return nil, err
	}
	plan, err := n.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{plan.change}, nil
}

// Run implements [agent.Tool].
func (n *notebookEdit) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := n.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	plan, err := n.plan(ctx, in)
	if err == nil {
		err = n.env.WriteFile(ctx, in.FilePath, plan.encoded)
	}
	if err != nil {
		return failed(err)
	}
	n.seen.saw(absolute(n.env, in.FilePath), plan.after)
	verb := map[string]string{"replace": "Replaced the source of", "insert": "Inserted", "delete": "Deleted"}[in.Command]
	text := fmt.Sprintf("%s cell %d (counted from 0) of %s.", verb, plan.cell, plan.change.Path)
	return agent.Result{Output: text, Details: &agent.Details{Changes: []agent.FileChange{plan.change}}}
}

// notebookPlan is what a call will do.
type notebookPlan struct {
	after, encoded []byte
	cell           int
	change         agent.FileChange
}

// plan computes the edit without writing it. The model must have read the notebook.
func (n *notebookEdit) plan(ctx context.Context, in NotebookEditInput) (p notebookPlan, err error) {
	path, shown := absolute(n.env, in.FilePath), relative(n.env, in.FilePath)
	before, err := env.ReadText(ctx, n.env, in.FilePath)
	if err == nil {
		err = env.CheckWritable(n.env, in.FilePath)
	}
	if err == nil {
		err = n.seen.read(path, shown, before.UTF8)
	}
	if err == nil {
		err = n.seen.unchanged(path, shown, before.UTF8)
	}
	if err != nil {
		return p, err
	}
	p.after, p.cell, err = notebook.Apply(before.UTF8, in.edit(before.UTF8))
	if err != nil {
		return p, fmt.Errorf("%s was not changed: %w", shown, err)
	}
	p.change = filechange.Of(shown, before.UTF8, p.after, false)
	if p.encoded, err = before.Encode(p.after); err != nil {
		return p, fmt.Errorf("%s was not changed: %w", shown, err)
	}
	return p, nil
}

// edit returns the edit of a call. The id of a new cell follows from the notebook, so
// that what a person was shown is what is done.
func (in NotebookEditInput) edit(before []byte) notebook.Edit {
	sum := sha256.Sum256(append(slices.Clone(before), in.Source...))
	e := notebook.Edit{Mode: notebook.Mode(in.Command), Cell: in.CellID, Source: in.Source, Type: in.CellType, ID: hex.EncodeToString(sum[:4])}
	if in.CellNumber != nil && e.Cell == "" {
		at := *in.CellNumber
		if e.Mode == notebook.Insert {
			at--
		}
		if at >= 0 {
			e.Cell = "cell-" + strconv.Itoa(at)
		}
	}
	return e
}

// notebookWide is everything that models send.
type notebookWide struct {
	FilePath     string `json:"file_path,omitempty"`
	Command      string `json:"command,omitempty"`
	CellID       string `json:"cell_id,omitempty"`
	CellNumber   any    `json:"cell_number,omitempty"`
	CellType     string `json:"cell_type,omitempty"`
	Source       string `json:"source,omitempty"`
	NotebookPath string `json:"notebook_path,omitempty"`
	NewSource    string `json:"new_source,omitempty"`
	EditMode     string `json:"edit_mode,omitempty"`
}

func (w notebookWide) own() (NotebookEditInput, error) {
	in := NotebookEditInput{
		FilePath: cmp.Or(w.FilePath, w.NotebookPath), Command: strings.ToLower(cmp.Or(w.Command, w.EditMode, "replace")),
		CellID: w.CellID, CellType: w.CellType, Source: cmp.Or(w.Source, w.NewSource),
	}
	switch n := w.CellNumber.(type) {
	case float64:
		at := int(n)
		in.CellNumber = &at
	case string:
		at, err := strconv.Atoi(n)
		if err != nil {
			return in, fmt.Errorf("cell_number is no number: %.40q", n)
		}
		in.CellNumber = &at
	}
	return in, nil
}

type notebookClaude struct {
	NotebookPath string `json:"notebook_path" jsonschema:"the absolute path of the notebook"`
	NewSource    string `json:"new_source" jsonschema:"the new source of the cell"`
	CellID       string `json:"cell_id,omitempty" jsonschema:"the id of the cell, or cell-N for the N-th from 0; an insertion stands after it"`
	CellType     string `json:"cell_type,omitempty" jsonschema:"code, markdown or raw"`
	EditMode     string `json:"edit_mode,omitempty" jsonschema:"replace if left out, insert or delete"`
}

func notebookBindings() map[string][]agent.Binding {
	const name = "NotebookEdit"
	named := agent.Understand[NotebookEditInput](name, "notebook_edit", notebookWide.own)
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[notebookClaude](name, name, notebookWide.own)},
		"openai":    {named}, "gemini": {named}, "spec": {named},
		"": {agent.Understand[NotebookEditInput](name, name, notebookWide.own)},
	}
}

// maxCellPictures limits the pictures of a notebook that a model is shown.
const maxCellPictures = 10

// cells shows a notebook as its cells with their outputs. It reports false for another
// file, and for a notebook that cannot be read so: its text is shown like any other.
func (r *read) cells(ctx context.Context, path string) (agent.Result, bool) {
	if !strings.EqualFold(filepath.Ext(path), ".ipynb") {
		return agent.Result{}, false
	}
	content, err := env.ReadText(ctx, r.env, path)
	if err != nil {
		return agent.Result{}, false
	}
	cells, language, err := notebook.Cells(content.UTF8)
	if err != nil {
		return agent.Result{}, false
	}
	r.seen.saw(absolute(r.env, path), content.UTF8)
	result := agent.Result{Details: &agent.Details{Listing: &agent.Listing{Count: len(cells), Unit: "cells"}}}
	var b strings.Builder
	fmt.Fprintf(&b, "[A notebook of %s%s. NotebookEdit changes a cell; an offset shows the file's own lines.]\n", count(len(cells), "cell"), in(language))
	for i, c := range cells {
		fmt.Fprintf(&b, "\n[%s]\n%s\n", heading(i, c), c.Source)
		for _, out := range c.Outputs {
			switch kind := picture.Type(out.Data); {
			case kind != "" && len(result.Media) < maxCellPictures:
				name := fmt.Sprintf("cell-%d", i)
				result.Media = append(result.Media, llm.Media{MIME: kind, Name: name, Data: out.Data})
				fmt.Fprintf(&b, "[output: a picture, shown as %s]\n", name)
			case out.MIME != "":
				fmt.Fprintf(&b, "[output: %s of %d bytes, not shown]\n", out.MIME, len(out.Data))
			case out.IsError:
				fmt.Fprintf(&b, "[output: it failed]\n%s\n", out.Text)
			default:
				fmt.Fprintf(&b, "[output]\n%s\n", strings.TrimSuffix(out.Text, "\n"))
			}
		}
	}
	result.Output = b.String()
	return result, true
}

func in(language string) string {
	if language == "" {
		return ""
	}
	return " in " + language
}

// heading names a cell as NotebookEdit takes it.
func heading(at int, c notebook.Cell) string {
	name := fmt.Sprintf("cell-%d", at)
	if c.ID != "" {
		name = fmt.Sprintf("cell-%d, id %s", at, c.ID)
	}
	if c.Run > 0 {
		return fmt.Sprintf("%s, %s, run %d", name, c.Type, c.Run)
	}
	return name + ", " + c.Type
}
