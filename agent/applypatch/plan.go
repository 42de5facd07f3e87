package applypatch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Plan is what a patch will do to the files as they were when it was made.
type Plan struct {
	// Changes are in the order of the patch.
	Changes []Change
}

// Change is what becomes of one file. Paths are as the patch spells them.
type Change struct {
	Kind   Kind
	Path   string
	MoveTo string // empty if the file keeps its path
	// Before and After are the whole contents, for a diff.
	Before, After string
	// Overwrites says that the path of an added file, or the new path of a
	// moved one, is that of a file that exists.
	Overwrites bool
	// Added and Removed count lines.
	Added, Removed int
	// Context are the lines of Before, counted from 0, that the patch gives
	// exactly and leaves as they are.
	Context []int
	// Fold is the loosest that a chunk needed to be placed.
	Fold Fold
	// displaced is the content of the file that a move overwrites.
	displaced string
}

// Unchanged says that the file already is as the patch wants it.
func (c *Change) Unchanged() bool {
	existed := c.Kind == Update || c.Kind == Add && c.Overwrites
	return existed && c.MoveTo == "" && c.Before == c.After
}

// Plan finds the place of every edit in the present files. It gets them from
// read, by clean paths; where there is no file, read's error must be
// [fs.ErrNotExist]. Nothing is written. The error holds one [*Error] for each file that something is
// wrong with, so that all can be put right at once.
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

// onePerFile refuses several operations on one path: which comes first would
// matter, and each is placed in the file as it is now.
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

// moves says that the file gets another path than it has.
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

// content is that of an added file.
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

// Summary is what the model is told of a plan that was carried out: one line a
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
