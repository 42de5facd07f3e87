package applypatch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Plan is what a patch will do to the files in the state in which they were
// read.
type Plan struct {
	// Changes are in the order of the patch.
	Changes []Change
}

// Change is the change of one file. Paths are spelled as in the patch.
type Change struct {
	Kind   Kind
	Path   string
	MoveTo string // empty if the file keeps its path
	// Before and After are the whole contents, for a diff.
	Before, After string
	// Overwrites says that a file exists at the path of an added file, or at
	// the new path of a moved one.
	Overwrites bool
	// Added and Removed count lines.
	Added, Removed int
	// Context has the lines of Before, counted from 0, that the patch names
	// exactly and keeps.
	Context []int
	// Fold is the loosest fold that a chunk needed.
	Fold Fold
	// displaced is the content of the file that a move overwrites.
	displaced string
}

// Unchanged reports whether the file already is as the patch requires.
func (c *Change) Unchanged() bool {
	existed := c.Kind == Update || c.Kind == Add && c.Overwrites
	return existed && c.MoveTo == "" && c.Before == c.After
}

// Plan finds the place of every edit in the current files. It gets them from
// read, by clean paths; if there is no file, read's error must be
// [fs.ErrNotExist]. Nothing is written. The error holds one [*Error] for each
// file with a problem, so that all can be fixed at once.
func (p Patch) Plan(read func(path string) ([]byte, error)) (*Plan, error) {
	if len(p.Operations) == 0 {
		return nil, &Error{Problem: "the patch names no file, so no files were modified"}
	}
	if err := p.onePerFile(); err != nil {
		return nil, err
	}
	plan := &Plan{}
	var problems []error
	changed := false
	for _, op := range p.Operations {
		change, err := op.plan(read)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		changed = changed || !change.Unchanged()
		plan.Changes = append(plan.Changes, change)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if !changed {
		return nil, &Error{Problem: "the files already read as the patch wants them, so no files were modified"}
	}
	return plan, nil
}

// Encoded returns the plan with the contents as they stand on disk, for [Plan.Commit].
// encode returns the bytes of a text that stands at a path or comes from there.
func (p *Plan) Encoded(encode func(path, text string) ([]byte, error)) (*Plan, error) {
	encoded := &Plan{Changes: slices.Clone(p.Changes)}
	for i := range encoded.Changes {
		c := &encoded.Changes[i]
		for _, content := range []struct {
			path string
			text *string
		}{{c.Path, &c.Before}, {c.Path, &c.After}, {c.MoveTo, &c.displaced}} {
			data, err := encode(filepath.Clean(content.path), *content.text)
			if err != nil {
				return nil, &Error{Path: c.Path, Problem: "it cannot be written", Err: err}
			}
			*content.text = string(data)
		}
	}
	return encoded, nil
}

// onePerFile refuses several operations on one path, because their order would
// matter, while each is placed in the current file.
func (p Patch) onePerFile() error {
	lines := map[string]int{}
	for _, op := range p.Operations {
		paths := []string{op.Path}
		if op.moves() {
			paths = append(paths, op.MoveTo)
		}
		for _, path := range paths {
			clean := filepath.Clean(path)
			if line := lines[clean]; line > 0 {
				return &Error{Line: op.Line, Path: path, Problem: fmt.Sprintf(
					"multiple operations target this file, the first in line %d. Put all that is done to it into one operation", line)}
			}
			lines[clean] = op.Line
		}
	}
	return nil
}

// moves reports whether the file gets another path.
func (op Operation) moves() bool {
	return op.MoveTo != "" && filepath.Clean(op.MoveTo) != filepath.Clean(op.Path)
}

func (op Operation) plan(read func(string) ([]byte, error)) (Change, error) {
	c := Change{Kind: op.Kind, Path: op.Path}
	before, err := read(filepath.Clean(op.Path))
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && op.Kind == Update:
		return c, op.problem(op.Path, "the file does not exist, so it cannot be updated", nil)
	case missing && op.Kind == Delete:
		return c, op.problem(op.Path, "the file does not exist, so it cannot be deleted", nil)
	case err != nil && !missing:
		return c, op.problem(op.Path, "this path cannot be used", err)
	}
	c.Before = string(before)
	switch op.Kind {
	case Add:
		c.Overwrites = !missing
		c.After = op.content()
		c.Added, c.Removed = op.Added, len(newDocument(c.Before).lines)
		return c, nil
	case Delete:
		c.Removed = len(newDocument(c.Before).lines)
		return c, nil
	}
	if op.moves() {
		c.MoveTo = op.MoveTo
		displaced, err := read(filepath.Clean(op.MoveTo))
		c.Overwrites, c.displaced = err == nil, string(displaced)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return c, op.problem(op.MoveTo, "no file can be moved here", err)
		}
	}
	e := editor{doc: newDocument(c.Before), path: op.Path}
	if err := e.edit(op.Chunks); err != nil {
		return c, err
	}
	c.After = e.doc.with(e.splices)
	c.Added, c.Removed, c.Fold, c.Context = e.added, e.removed, e.fold, e.context
	return c, nil
}

func (op Operation) problem(path, problem string, err error) error {
	return &Error{Line: op.Line, Path: path, Problem: problem, Err: err}
}

// content returns the content of an added file.
func (op Operation) content() string {
	var b strings.Builder
	for _, c := range op.Chunks {
		for _, line := range texts(c.Lines, Added) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Summary is the message to the model about a committed plan: one line for each
// file, added ones first and deleted ones last. It says where lines were not
// found exactly, and which files needed no change.
func (p *Plan) Summary() string {
	var b strings.Builder
	b.WriteString("Success. Updated the following files:\n")
	var unchanged []string
	for _, kind := range []struct {
		kind   Kind
		letter string
	}{{Add, "A"}, {Update, "M"}, {Delete, "D"}} {
		for _, c := range p.Changes {
			if c.Kind != kind.kind {
				continue
			}
			if c.Unchanged() {
				unchanged = append(unchanged, c.Path)
				continue
			}
			path := c.Path
			if c.MoveTo != "" {
				path = c.MoveTo
			}
			b.WriteString(kind.letter + " " + path)
			if c.Fold != Exact {
				fmt.Fprintf(&b, " (matched with %s ignored)", c.Fold)
			}
			b.WriteByte('\n')
		}
	}
	for _, path := range unchanged {
		b.WriteString("Unchanged, for it reads so already: " + path + "\n")
	}
	return b.String()
}
