package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/applypatch"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/filechange"
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
	seen *Memory
}

// parse reads the input, with the names that files really have.
func (e *edit) parse(input json.RawMessage) (EditInput, error) {
	in, err := parse(input, EditInput{})
	in.FilePath = env.Spelled(e.env, in.FilePath)
	return in, err
}

// Access implements [agent.Accessor].
func (e *edit) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := e.parse(input)
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{absolute(e.env, in.FilePath)}}
}

// Preview implements [agent.Previewer].
func (e *edit) Preview(ctx context.Context, input json.RawMessage) ([]agent.FileChange, error) {
	in, err := e.parse(input)
	if err != nil {
		return nil, err
	}
	plan, err := e.plan(ctx, in)
	if err != nil {
		return nil, err
	}
	return []agent.FileChange{plan.change}, nil
}

// Run implements [agent.Tool].
func (e *edit) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := e.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	plan, err := e.plan(ctx, in)
	if err == nil {
		err = e.env.WriteFile(ctx, in.FilePath, plan.encoded)
	}
	if err != nil {
		return failed(err)
	}
	path, before := absolute(e.env, in.FilePath), plan.before
	text := fmt.Sprintf("Replaced %s in %s.", count(plan.count, "occurrence"), plan.change.Path)
	switch {
	case plan.change.Created:
		text = fmt.Sprintf("Created %s.", plan.change.Path)
	case plan.resembles != "":
		text += fmt.Sprintf(" The text was not there exactly; what was replaced %s.", plan.resembles)
	case plan.fold != exact:
		text += fmt.Sprintf(" The text was not there exactly; it matched with %s ignored.", plan.fold)
	}
	if plan.unnumbered {
		text += " The line numbers of Read, which are not part of the file, were left out."
	}
	if e.seen.stale(path, before) {
		text += " The file had changed elsewhere since you read it. " + e.seen.news(path, before, 0, math.MaxInt)
	}
	e.seen.changed(path, before, plan.content, e.seen.linesSeen(path, before))
	return agent.Result{Output: text, Details: &agent.Details{Changes: []agent.FileChange{plan.change}}}
}

// editing is what a call of Edit will do.
type editing struct {
	replacement
	before     []byte // as UTF-8, like the new content
	encoded    []byte // the new content as it is written
	change     agent.FileChange
	unnumbered bool // the texts were given with Read's line numbers
}

// plan computes the edit without writing it. The model must have seen what it changes.
func (e *edit) plan(ctx context.Context, in EditInput) (p editing, err error) {
	path, shown := absolute(e.env, in.FilePath), relative(e.env, in.FilePath)
	before, err := env.ReadText(ctx, e.env, in.FilePath)
	if errors.Is(err, fs.ErrNotExist) && in.Fuzzy && in.OldString == "" {
		text := []byte(withEnding(in.NewString, env.ConventionsOf(ctx, e.env, path).LineEnd))
		return editing{replacement: replacement{content: text}, encoded: text, change: filechange.Of(shown, nil, text, true)}, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("%w. To create a file use Write", err)
	}
	if err == nil {
		err = env.CheckWritable(e.env, in.FilePath)
	}
	if err == nil {
		err = e.seen.read(path, shown, before.UTF8)
	}
	if err != nil {
		return p, err
	}
	p.before = before.UTF8
	if p.replacement, p.unnumbered, err = find(ctx, p.before, in); err != nil {
		err = fmt.Errorf("%s was not changed: %w", shown, err)
		if errors.Is(err, errNotFound) && e.seen.stale(path, p.before) {
			err = fmt.Errorf("%w. The file has changed on disk since it was last read. %s", err, e.seen.news(path, p.before, 0, math.MaxInt))
		}
		return p, err
	}
	if err := e.seen.covers(path, shown, p.before, p.spans); err != nil {
		return p, err
	}
	p.change = filechange.Of(shown, p.before, p.content, false)
	if p.encoded, err = before.Encode(p.content); err != nil {
		return p, fmt.Errorf("%s was not changed: %w", shown, err)
	}
	return p, nil
}

// find replaces the text of a call: as it is given, else without the line numbers that
// Read puts in front, else, if the call allows it, a text that resembles it.
func find(ctx context.Context, content []byte, in EditInput) (done replacement, unnumbered bool, err error) {
	done, err = replace(ctx, content, in.OldString, in.NewString, in.ReplaceAll)
	if !errors.Is(err, errNotFound) {
		return done, false, err
	}
	if old, ok := withoutLineNumbers(in.OldString); ok {
		text := in.NewString
		if plain, ok := withoutLineNumbers(text); ok {
			text = plain
		}
		if done, err := replace(ctx, content, old, text, in.ReplaceAll); !errors.Is(err, errNotFound) {
			return done, true, err
		}
	}
	if in.Fuzzy {
		done, err = replaceLike(newBudget(ctx), content, in.OldString, in.NewString, in.ReplaceAll)
	}
	if errors.Is(err, errNotFound) && len(content) <= maxFolded {
		err = fmt.Errorf("%w. %s", err, applypatch.Resembling(string(content), in.OldString))
	}
	return done, false, err
}

// lineNumber matches what Read puts in front of a line, for any of the models.
var lineNumber = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *[0-9]+(?: \| |\t|→)`) })

// withoutLineNumbers removes the line numbers of Read from a text. It reports false unless
// every line that is not blank has one.
func withoutLineNumbers(text string) (string, bool) {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !lineNumber().MatchString(line) {
			return "", false
		}
	}
	plain := lineNumber().ReplaceAllString(text, "")
	return plain, plain != text
}
