package tool

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// maxHits (lines) and maxFound (characters) keep a result including its final
// remark below the limits of [Truncate], which would drop lines at the
// beginning or in the middle.
const (
	maxHits  = 199
	maxFound = 19_000
)

//go:embed grep.md
var grepDescription string

// GrepInput is the input of Grep.
type GrepInput struct {
	Pattern    string `json:"pattern" also:"query,regex" jsonschema:"the regular expression to search for"`
	Path       string `json:"path,omitempty" also:"dir_path,file_path,directory" jsonschema:"the file or directory to search, the working directory if left out"`
	Glob       string `json:"glob,omitempty" also:"include,include_pattern,glob_filter" jsonschema:"search only files that match, such as *.go or src/**/*.ts"`
	Type       string `json:"type,omitempty" jsonschema:"search only files of this type, such as go, py, js, rust"`
	OutputMode string `json:"output_mode,omitempty" jsonschema:"files_with_matches (the default), content or count"`
	IgnoreCase bool   `json:"-i,omitempty" also:"case_insensitive,ignore_case" jsonschema:"ignore the case of letters"`
	Multiline  bool   `json:"multiline,omitempty" jsonschema:"let a match span lines, with a dot for any character"`
	Fixed      bool   `json:"fixed_strings,omitempty" also:"-F,literal" jsonschema:"take the pattern as plain text"`
	GrepView
}

// GrepView selects how much of its findings Grep shows.
type GrepView struct {
	Numbers   *bool `json:"-n,omitempty" also:"line_numbers" jsonschema:"show line numbers, for content; true if left out"`
	After     int   `json:"-A,omitempty" also:"after" jsonschema:"lines to show after each match, for content"`
	Before    int   `json:"-B,omitempty" also:"before" jsonschema:"lines to show before each match, for content"`
	Context   int   `json:"-C,omitempty" also:"context" jsonschema:"lines to show around each match, for content"`
	Offset    int   `json:"offset,omitempty" jsonschema:"how many lines of results to leave out at the beginning"`
	HeadLimit int   `json:"head_limit,omitempty" also:"max_results,limit,total_max_matches" jsonschema:"how many lines of results to give, 199 if left out and at most"`
}

// grep implements the Grep tool (LOOP-27, OAS-305).
type grep struct {
	definition
	env env.Environment
}

// parse reads the input, with the names that files really have.
func (g *grep) parse(input json.RawMessage) (GrepInput, error) {
	in, err := parse(input, GrepInput{})
	if in.Path != "" {
		in.Path = env.Spelled(g.env, in.Path)
	}
	return in, err
}

// Access implements [agent.Accessor].
func (g *grep) Access(_ context.Context, input json.RawMessage) agent.Access {
	in, err := g.parse(input)
	if err != nil {
		return agent.Access{}
	}
	return agent.Access{Reads: []string{absolute(g.env, in.Path)}}
}

// Run implements [agent.Tool].
func (g *grep) Run(ctx context.Context, call agent.Invocation) agent.Result {
	in, err := g.parse(call.Input)
	if err != nil {
		return failed(err)
	}
	mode := env.GrepMode(in.OutputMode)
	unit := "file"
	switch mode {
	case "", env.GrepFiles, env.GrepCount:
	case env.GrepContent:
		unit = "match"
		if in.Before+in.After+in.Context > 0 {
			unit = "line"
		}
	default:
		return agent.Fail(fmt.Sprintf("The output_mode %q is unknown. Use files_with_matches, content or count.", in.OutputMode))
	}
	offset := min(max(in.Offset, 0), env.MaxHits)
	limit, advice := in.HeadLimit+offset, "Narrow the search with path, glob or type, or raise head_limit."
	if in.HeadLimit <= 0 || in.HeadLimit >= maxHits {
		limit, advice = 0, "Narrow the search with path, glob or type." // the search continued, to count all matches
	}
	hits, err := g.env.Grep(ctx, env.GrepQuery{
		Pattern: in.Pattern, Path: in.Path, Glob: in.Glob, Type: in.Type, Mode: mode, IgnoreCase: in.IgnoreCase,
		Fixed: in.Fixed, Multiline: in.Multiline, Before: max(in.Before, in.Context), After: max(in.After, in.Context), Limit: limit,
	})
	if err != nil {
		return failed(err)
	}
	offset = min(offset, len(hits.Lines))
	hits.Lines, hits.PathEnds = hits.Lines[offset:], hits.PathEnds[min(offset, len(hits.PathEnds)):]
	if in.Numbers != nil && !*in.Numbers {
		withoutNumbers(hits)
	}
	return found(hits, maxHits, unit, advice)
}

// withoutNumbers removes the line numbers between paths and texts, with the
// mark before each number, and leaves one mark.
func withoutNumbers(hits env.Hits) {
	for i, end := range hits.PathEnds {
		if end > 0 {
			line := hits.Lines[i]
			hits.Lines[i] = line[:end] + strings.TrimLeft(line[end+1:], "0123456789")
		}
	}
}

// found makes the result of a search from at most most lines and [maxFound]
// characters. Its data is the [env.Hits] that it shows.
func found(hits env.Hits, most int, unit, advice string) agent.Result {
	all := len(hits.Lines)
	hits.Lines = fitting(hits.Lines[:min(all, most)], maxFound)
	n := len(hits.Lines)
	hits.PathEnds = hits.PathEnds[:min(n, len(hits.PathEnds))]
	lines := slices.Clone(hits.Lines)
	switch {
	case hits.TimedOut:
		lines = append(lines, fmt.Sprintf("[The search stopped after %s and is incomplete. %s]", env.SearchTimeout, advice))
	case n < all && hits.More:
		lines = append(lines, fmt.Sprintf("[These are the first %d of more than %s. %s]", n, count(all, unit), advice))
	case n < all:
		lines = append(lines, fmt.Sprintf("[These are the first %d of %s. %s]", n, count(all, unit), advice))
	case hits.More:
		lines = append(lines, fmt.Sprintf("[Stopped after %s; there are more. %s]", count(n, unit), advice))
	case n == 0:
		lines = []string{"[Nothing was found.]"}
	}
	if len(hits.Withheld) > 0 {
		lines = append(lines, fmt.Sprintf("[Not searched, because they may hold secrets: %s. Read one of them by its name if you need it; the user is asked.]", strings.Join(hits.Withheld, ", ")))
	}
	if len(hits.Links) > 0 {
		lines = append(lines, fmt.Sprintf("[Links were not followed: %s. Search there by its path if you need it.]", strings.Join(hits.Links, ", ")))
	}
	hits.More = hits.More || n < all
	_, units, _ := strings.Cut(count(2, unit), " ")
	return agent.Result{
		Output:  strings.Join(lines, "\n"),
		Details: &agent.Details{Listing: &agent.Listing{Count: n, Unit: units}},
		Data:    hits,
	}
}

// fitting returns as many of the first lines as fit in chars characters.
func fitting(lines []string, chars int) []string {
	for i, line := range lines {
		if chars -= utf8.RuneCountInString(line) + 1; chars < 0 {
			return lines[:i]
		}
	}
	return lines
}
