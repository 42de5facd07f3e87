package lsp

import (
	"bytes"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
)

//go:embed rename.md
var renameDescription string

// RenameName is the canonical name of the tool that renames.
const RenameName = "RenameSymbol"

// The limits of a renaming.
const (
	maxRenamed = 200    // files
	maxEdits   = 20_000 // places
	maxPlans   = 16     // that wait for an answer
)

// RenameInput is what is renamed.
type RenameInput struct {
	File    string `json:"file_path" jsonschema:"a file in which the symbol stands"`
	Line    int    `json:"line" jsonschema:"a line where it stands, from 1"`
	Symbol  string `json:"symbol" jsonschema:"its name, as it stands in the line"`
	NewName string `json:"new_name" jsonschema:"the name that it gets"`
}

// Validate says in a phrase for the model what is wrong with an input.
func (in RenameInput) Validate() error {
	name := strings.TrimLeft(in.NewName, "#@$'!") // of private fields, instance variables, lifetimes and macros
	switch {
	case in.File == "" || in.Symbol == "" || in.Line < 1:
		return errors.New("it takes a file_path, a line from 1, and the symbol in it")
	case name == "" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return !isWord(r) && r != '-' && r != '?' && r != '!' }):
		return fmt.Errorf("%.40q is no name", in.NewName)
	case in.NewName == in.Symbol:
		return errors.New("it has this name already")
	}
	return nil
}

// renaming is one file before and after.
type renaming struct {
	path          string
	before, after []byte // as UTF-8
	encoded       []byte
}

// renamer implements the tool. What the user sees and the gate judges is what is written: each
// renaming is asked of the server once, and kept until the call runs.
type renamer struct {
	agent.Tool
	client
	mu    sync.Mutex
	plans map[string][]renaming
}

// RenameTool returns the tool for a session that works in an environment.
func RenameTool(servers *Servers, e env.Environment) agent.Tool {
	r := &renamer{client: client{servers, e}, plans: map[string][]renaming{}}
	r.Tool = agent.Function(agent.Spec{Name: RenameName, Description: strings.TrimSpace(renameDescription), Bindings: renameBindings()},
		func(context.Context, RenameInput) (agent.Result, error) { panic("Run is replaced") })
	return r
}

func renameBindings() map[string][]agent.Binding {
	same := func(in RenameInput) (RenameInput, error) { return in, nil }
	named := []agent.Binding{agent.Understand[RenameInput](RenameName, "rename_symbol", same)}
	return map[string][]agent.Binding{"openai": named, "gemini": named, "spec": named}
}

// Validate implements [agent.Validator].
func (r *renamer) Validate(input json.RawMessage) error {
	return r.Tool.(agent.Validator).Validate(input)
}

// Access implements [agent.Accessor]: it reads the project, and writes the files that the server
// names.
func (r *renamer) Access(ctx context.Context, input json.RawMessage) agent.Access {
	access := agent.Access{Reads: []string{r.env.WorkingDirectory()}}
	var in RenameInput
	if json.Unmarshal(input, &in) == nil && in.File != "" {
		access.Writes = []string{r.absolute(in.File)}
	}
	if plan, err := r.plan(ctx, input); err == nil {
		access.Writes = nil
		for _, each := range plan {
			access.Writes = append(access.Writes, each.path)
		}
	}
	return access
}

// Preview implements [agent.Previewer].
func (r *renamer) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	plan, err := r.plan(ctx, input)
	if err != nil {
		return nil, err
	}
	return r.changes(plan), nil
}

func (r *renamer) changes(plan []renaming) (all []agent.FileChange) {
	show := printer{project: r.env.WorkingDirectory()}
	for _, each := range plan {
		all = append(all, filechange.Of(filepath.FromSlash(show.short(each.path)), each.before, each.after, false))
	}
	return all
}

// Run implements [agent.Tool]: it writes what was judged, if the files are still the same.
func (r *renamer) Run(ctx context.Context, call agent.Invocation) agent.Result {
	r.mu.Lock()
	plan, ok := r.plans[string(call.Input)]
	delete(r.plans, string(call.Input))
	r.mu.Unlock()
	switch {
	case !ok:
		return agent.Fail("nothing was renamed: call it again")
	case !r.current(ctx, plan):
		return agent.Fail("nothing was renamed, because a file was changed meanwhile: call it again")
	}
	if err := r.write(ctx, plan); err != nil {
		return agent.Fail(err.Error())
	}
	changes, places := r.changes(plan), 0
	for _, c := range changes {
		places += c.Added
	}
	names := make([]string, 0, len(changes))
	for _, c := range changes {
		names = append(names, filepath.ToSlash(c.Path))
	}
	return agent.Result{
		Output:  fmt.Sprintf("Renamed in %d lines of %d files:\n%s", places, len(changes), cut(names, maxLocations, "files")),
		Details: &agent.Details{Changes: changes},
	}
}

// write writes all files, or puts back those that it wrote.
func (r *renamer) write(ctx context.Context, plan []renaming) error {
	var old [][]byte
	for i, each := range plan {
		data, err := r.env.ReadFile(ctx, each.path)
		if err == nil {
			err = r.env.WriteFile(ctx, each.path, each.encoded)
		}
		if err == nil {
			old = append(old, data)
			continue
		}
		for n, data := range old {
			if back := r.env.WriteFile(context.WithoutCancel(ctx), plan[n].path, data); back != nil {
				err = errors.Join(err, fmt.Errorf("put back %s: %w", plan[n].path, back))
			}
		}
		return fmt.Errorf("rename in %s, file %d of %d; the others were put back: %w", each.path, i+1, len(plan), err)
	}
	return nil
}

// current reports whether the files of a plan are as they were.
func (r *renamer) current(ctx context.Context, plan []renaming) bool {
	return !slices.ContainsFunc(plan, func(each renaming) bool {
		now, err := env.ReadText(ctx, r.env, each.path)
		return err != nil || !bytes.Equal(now.UTF8, each.before)
	})
}

// plan returns what a call would write.
func (r *renamer) plan(ctx context.Context, input json.RawMessage) ([]renaming, error) {
	r.mu.Lock()
	plan, known := r.plans[string(input)]
	r.mu.Unlock()
	if known && r.current(ctx, plan) {
		return plan, nil
	}
	var in RenameInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	plan, err := r.foresee(ctx, in)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.plans) >= maxPlans {
		clear(r.plans)
	}
	r.plans[string(input)] = plan
	return plan, nil
}

// foresee asks the server.
func (r *renamer) foresee(ctx context.Context, in RenameInput) ([]renaming, error) {
	q, language, err := r.question(ctx, Input{Operation: References, File: in.File, Line: in.Line - 1, Query: in.Symbol})
	if err != nil {
		return nil, err
	}
	if q.place.symbol != in.Symbol {
		return nil, fmt.Errorf("line %d of %s has no %s", in.Line, in.File, in.Symbol)
	}
	edits, err := r.edits(ctx, language, q, in.NewName)
	switch {
	case errors.Is(err, ErrNone):
		return nil, fmt.Errorf("no language server for %s was found: find the uses with Grep, and change them with Edit", language.Name)
	case err != nil:
		return nil, err
	}
	paths := make([]string, 0, len(edits))
	for path := range edits {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var plan []renaming
	for _, path := range paths {
		if !within(r.env.WorkingDirectory(), path) {
			return nil, fmt.Errorf("%s is used in %s, outside of the project: nothing was renamed", in.Symbol, path)
		}
		before, err := env.ReadText(ctx, r.env, path)
		if err == nil {
			err = env.CheckWritable(r.env, path)
		}
		if err != nil {
			return nil, err
		}
		each := renaming{path: path, before: before.UTF8}
		if each.after, err = apply(before.UTF8, edits[path]); err == nil {
			each.encoded, err = before.Encode(each.after)
		}
		if err != nil {
			return nil, fmt.Errorf("rename in %s: %w", path, err)
		}
		if !bytes.Equal(each.before, each.after) {
			plan = append(plan, each)
		}
	}
	if len(plan) == 0 {
		return nil, fmt.Errorf("the language server changes nothing for %s", in.Symbol)
	}
	return plan, nil
}

// edits makes the request, and returns the edits of each file.
func (r *renamer) edits(ctx context.Context, l Language, q question, name string) (map[string][]protocol.TextEdit, error) {
	s, release, err := r.servers.acquire(ctx, l, rootOf(r.env.WorkingDirectory(), q.path, l))
	if err != nil {
		return nil, err
	}
	defer release()
	if err := r.watch(ctx, s, l); err != nil {
		return nil, s.reason(err)
	}
	if _, err := s.open(ctx, q.path, l.IDs[strings.ToLower(filepath.Ext(q.path))], strings.Join(q.lines, "\n")); err != nil {
		return nil, s.reason(err)
	}
	if s.can.RenameProvider == nil || s.can.RenameProvider == false {
		return nil, fmt.Errorf("%s cannot rename: find the uses with Grep, and change them with Edit", s.command.Program)
	}
	params := q.target()
	params["newName"] = name
	var answer struct {
		Changes   map[protocol.DocumentURI][]protocol.TextEdit `json:"changes"`
		Documents []struct {
			Kind     string `json:"kind"`
			Document struct {
				URI protocol.DocumentURI `json:"uri"`
			} `json:"textDocument"`
			Edits []protocol.TextEdit `json:"edits"`
		} `json:"documentChanges"`
	}
	if err := s.call(ctx, "textDocument/rename", params, &answer); err != nil {
		return nil, err
	}
	files, places := map[string][]protocol.TextEdit{}, 0
	add := func(uri protocol.DocumentURI, edits []protocol.TextEdit) error {
		path, err := uri.Path()
		if err != nil {
			return fmt.Errorf("read the language server's answer: %w", err)
		}
		files[filepath.Clean(path)] = append(files[filepath.Clean(path)], edits...)
		if places += len(edits); len(files) > maxRenamed || places > maxEdits {
			return fmt.Errorf("%s is used in more than %d files or %d places: nothing was renamed", q.place.symbol, maxRenamed, maxEdits)
		}
		return nil
	}
	for uri, edits := range answer.Changes {
		if err := add(uri, edits); err != nil {
			return nil, err
		}
	}
	for _, d := range answer.Documents {
		if d.Kind != "" {
			return nil, fmt.Errorf("the language server would %s a file as well, which this tool does not do", d.Kind)
		}
		if err := add(d.Document.URI, d.Edits); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// apply makes edits in a text. None may overlap another or reach beyond the text.
func apply(text []byte, edits []protocol.TextEdit) ([]byte, error) {
	lines := []int{0} // where they begin
	for i, b := range text {
		if b == '\n' {
			lines = append(lines, i+1)
		}
	}
	type span struct {
		from, to int
		text     string
	}
	var spans []span
	for _, e := range edits {
		from, to := offset(text, lines, e.Range.Start), offset(text, lines, e.Range.End)
		if from < 0 || to < from {
			return nil, errors.New("the language server names a place that is not there")
		}
		spans = append(spans, span{from, to, e.NewText})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, s := range spans {
		if s.from < at {
			return nil, errors.New("the language server changes a place twice")
		}
		out = append(append(out, text[at:s.from]...), s.text...)
		at = s.to
	}
	return append(out, text[at:]...), nil
}

// offset returns where a position of the protocol is in a text; -1 if nowhere.
func offset(text []byte, lines []int, at protocol.Position) int {
	if int64(at.Line) >= int64(len(lines)) {
		return -1
	}
	i := lines[at.Line]
	for units := 0; units < int(at.Character); {
		if i >= len(text) || text[i] == '\n' {
			return -1
		}
		r, size := utf8.DecodeRune(text[i:])
		units += max(1, utf16.RuneLen(r))
		i += size
	}
	return i
}
