package lsp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/internal/text"
)

// searcher answers questions with patterns, where there is no language server.
type searcher struct {
	env      env.Environment
	language Language
}

// ask answers a question. The lines that it finds are where patterns match, not where a
// compiler would look.
func (s searcher) ask(ctx context.Context, q question) (string, error) {
	symbol := q.place.symbol
	switch q.Operation {
	case Definition, PrepareCalls:
		return s.lines(ctx, s.language.defines(symbol), "No line looks like a definition of "+symbol+".")
	case Implementation:
		return s.lines(ctx, implementing(symbol), "No line looks like an implementation of "+symbol+".")
	case References:
		return s.lines(ctx, word(symbol), "Nothing names "+symbol+".")
	case IncomingCalls:
		return s.callers(ctx, symbol)
	case WorkspaceSymbol:
		return s.lines(ctx, s.language.defines("")+"", "", q.Query)
	case Hover:
		return s.hover(ctx, q)
	case DocumentSymbol:
		return s.outline(q)
	}
	return s.called(q)
}

// word is a pattern of a whole word.
func word(symbol string) string { return `\b` + regexp.QuoteMeta(symbol) + `\b` }

// implementing is a pattern of what implements or extends a type.
func implementing(symbol string) string {
	name := regexp.QuoteMeta(symbol)
	return `\b(implements|extends|conforms|inherits)\b.*\b` + name + `\b|\bimpl\b.*\b` + name + `\b.*\bfor\b|\bclass\s+\w+.*[(:,<]\s*` + name + `\b` +
		`|\bfunc\s*\([^)]*\)\s*` + name + `\b`
}

// lines returns the lines that match a pattern, and that contain a text if one is given.
func (s searcher) lines(ctx context.Context, pattern, none string, containing ...string) (string, error) {
	found, err := s.grep(ctx, pattern)
	if err != nil {
		return "", err
	}
	if len(containing) > 0 {
		want := strings.ToLower(containing[0])
		defined := regexp.MustCompile(s.language.defines(""))
		found = slices.DeleteFunc(found, func(line string) bool {
			return !strings.Contains(strings.ToLower(defined.FindString(textOf(line))), want)
		})
		none = "No definition has " + containing[0] + " in its name."
	}
	if len(found) == 0 {
		return none, nil
	}
	return count(len(found), found), nil
}

// textOf returns the text of a line that was found.
func textOf(line string) string {
	parts := strings.SplitN(line, ":", 3)
	return parts[len(parts)-1]
}

func (s searcher) grep(ctx context.Context, pattern string) ([]string, error) {
	hits, err := s.env.Grep(ctx, env.GrepQuery{Pattern: pattern, Glob: s.language.glob(), Mode: env.GrepContent, Limit: env.MaxHits})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, line := range hits.Lines {
		out = append(out, text.Shorten(line, maxLine))
	}
	return out, nil
}

// callers returns the lines that call a function.
func (s searcher) callers(ctx context.Context, symbol string) (string, error) {
	found, err := s.grep(ctx, word(symbol)+`\s*\(`)
	if err != nil {
		return "", err
	}
	definition := regexp.MustCompile(s.language.defines(symbol))
	found = slices.DeleteFunc(found, func(line string) bool { return definition.MatchString(textOf(line)) })
	if len(found) == 0 {
		return "No line looks like a call of " + symbol + ".", nil
	}
	return "Lines that look like calls of " + symbol + ":\n" + count(len(found), found), nil
}

// definitions returns the numbers of the lines of a file that define something.
func (s searcher) definitions(lines []string, symbol string) (out []int) {
	pattern := regexp.MustCompile(s.language.defines(symbol))
	for i, line := range lines {
		if pattern.MatchString(line) {
			out = append(out, i)
		}
	}
	return out
}

// hover returns the definition in the same file, or else elsewhere, with its comment.
func (s searcher) hover(ctx context.Context, q question) (string, error) {
	at := s.definitions(q.lines, q.place.symbol)
	if len(at) == 0 {
		return s.lines(ctx, s.language.defines(q.place.symbol), "Nothing is known about "+q.place.symbol+".")
	}
	first := at[0]
	for first > 0 && at[0]-first < 20 && isComment(q.lines[first-1]) {
		first--
	}
	return text.Shorten(strings.Join(q.lines[first:at[0]+1], "\n"), maxHover), nil
}

func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return slices.ContainsFunc([]string{"//", "#", "*", "/*", "--", "\"\"\""}, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

func (s searcher) outline(q question) (string, error) {
	var lines []string
	for _, i := range s.definitions(q.lines, "") {
		lines = append(lines, fmt.Sprintf("line %d: %s", i+1, text.Shorten(strings.TrimRight(q.lines[i], " {"), maxLine)))
	}
	if len(lines) == 0 {
		return "No line looks like a definition.", nil
	}
	return cut(lines, maxOutline, "symbols"), nil
}

var calling = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*\(`)

// called returns what the function of a question seems to call: up to the next
// definition that is not further in.
func (s searcher) called(q question) (string, error) {
	at := s.definitions(q.lines, q.place.symbol)
	if len(at) == 0 {
		return "No line of the file looks like a definition of " + q.place.symbol + ".", nil
	}
	indent := indentOf(q.lines[at[0]])
	seen := map[string]int{}
	var names []string
	for i := at[0] + 1; i < len(q.lines); i++ {
		if len(s.definitions(q.lines[i:i+1], "")) > 0 && indentOf(q.lines[i]) <= indent {
			break
		}
		for _, match := range calling.FindAllStringSubmatch(q.lines[i], -1) {
			if _, known := seen[match[1]]; !known && !slices.Contains(keywords, match[1]) {
				seen[match[1]] = i + 1
				names = append(names, match[1])
			}
		}
	}
	if len(names) == 0 {
		return "Nothing looks called by " + q.place.symbol + ".", nil
	}
	var lines []string
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("%s, called in line %d", name, seen[name]))
	}
	return "What " + q.place.symbol + " seems to call:\n" + cut(lines, maxLocations, "functions"), nil
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

var keywords = []string{"if", "for", "while", "switch", "catch", "return", "func", "function", "match", "and", "or", "not", "in", "sizeof", "elif", "with"}
