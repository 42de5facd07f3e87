package tool

import (
	"cmp"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// maxManyChars limits the result of ReadMany below the limit of [Truncate], so
// that a file is either complete or left out. maxMany limits the files it looks
// at.
const (
	maxManyChars = 40_000
	maxMany      = 200
)

//go:embed readmany.md
var readManyDescription string

// ReadManyInput is the input of ReadMany.
type ReadManyInput struct {
	Paths   []string `json:"paths" also:"include,files,file_paths" jsonschema:"files, and patterns of files such as src/**/*.go"`
	Exclude []string `json:"exclude,omitempty" jsonschema:"patterns of files to leave out"`
}

// readMany implements the ReadMany tool (LOOP-31).
type readMany struct {
	definition
	env  env.Environment
	seen *Memory
}

// parse reads the input, with the names that files really have.
func (r *readMany) parse(input json.RawMessage) (ReadManyInput, error) {
	in, err := parse(input, ReadManyInput{})
	for i, path := range in.Paths {
		in.Paths[i] = env.Spelled(r.env, path)
	}
	return in, err
}

// Access implements [agent.Accessor].
func (r *readMany) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := r.parse(input)
	if err != nil {
		return agent.Access{}
	}
	var access agent.Access
	for _, path := range in.Paths { // each may be a file's name or a pattern
		access.Reads = append(access.Reads, absolute(r.env, path))
		if base := absolute(r.env, env.GlobQuery{Pattern: path}.Base()); !slices.Contains(access.Reads, base) {
			access.Reads = append(access.Reads, base)
		}
	}
	return access
}

// Run implements [agent.Tool].
func (r *readMany) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := r.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	paths, more, err := r.find(ctx, in)
	if err != nil {
		return failed(err)
	}
	if len(paths) == 0 {
		return agent.Fail("No file matches.")
	}
	var b strings.Builder
	var left []string
	read := 0
	for _, path := range paths {
		text, err := r.read(ctx, path, maxManyChars-utf8.RuneCountInString(b.String()))
		if err != nil {
			left = append(left, fmt.Sprintf("[Left out: %v.]", err))
			continue
		}
		read++
		b.WriteString(text)
	}
	if more {
		left = append(left, fmt.Sprintf("[More than %d files match. Narrow the patterns.]", maxMany))
	}
	return agent.Result{
		Output:  withRemarks(b.String(), left),
		IsError: read == 0,
		Details: &agent.Details{Listing: &agent.Listing{Count: read, Unit: "files"}},
	}
}

// find returns the requested files, once each, in the order of their paths.
// more says that there were too many.
func (r *readMany) find(ctx context.Context, in ReadManyInput) (paths []string, more bool, err error) {
	for _, pattern := range in.Paths {
		if info, err := r.env.Stat(ctx, pattern); err == nil && info.Mode.IsRegular() {
			paths = append(paths, relative(r.env, pattern))
			continue
		}
		hits, err := r.env.Glob(ctx, env.GlobQuery{Pattern: pattern, Limit: maxMany})
		if err != nil {
			return nil, false, err
		}
		more = more || hits.More
		paths = append(paths, slices.DeleteFunc(hits.Lines, sensitive.Secret)...)
	}
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return matchesAny(in.Exclude, path) })
	if len(paths) > maxMany {
		paths, more = paths[:maxMany], true
	}
	return paths, more, nil
}

// matchesAny reports whether one of the patterns matches a path or the name of a
// directory or file on it. An invalid pattern matches nothing.
func matchesAny(patterns []string, path string) bool {
	path = filepath.ToSlash(path)
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if whole, _ := doublestar.Match(pattern, path); whole {
			return true
		}
		for name := range strings.SplitSeq(path, "/") {
			if named, _ := doublestar.Match(pattern, name); named {
				return true
			}
		}
		return false
	})
}

// read returns a file's section if it has at most room characters.
func (r *readMany) read(ctx context.Context, path string, room int) (string, error) {
	info, err := r.env.Stat(ctx, path)
	if err == nil && info.Size > int64(utf8.UTFMax*cmp.Or(max(room, 0), 1)) {
		return "", fmt.Errorf("%s has %d bytes, more than there is room for", path, info.Size)
	}
	content, err := env.ReadText(ctx, r.env, path)
	if err != nil {
		return "", err
	}
	data, title := content.UTF8, path
	if !content.Charset.UTF8() {
		title += " (" + content.Name + ")"
	}
	text := fmt.Sprintf("--- %s ---\n%s", title, strings.ToValidUTF8(string(data), "\uFFFD"))
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if utf8.RuneCountInString(text) > room {
		return "", fmt.Errorf("%s has %d bytes, more than there is room for", path, len(data))
	}
	r.seen.saw(absolute(r.env, path), data)
	return text, nil
}
