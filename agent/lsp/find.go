package lsp

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/internal/text"
)

// Symbol is a definition in a project.
type Symbol struct {
	Name string
	Kind string // as in "function"; empty if a search found it
	Path string // relative to the project
	Line int    // from 1
}

// findTime limits how long a server is asked while a person types.
const findTime = 1500 * time.Millisecond

// lastName is the name at the end of what a pattern of definitions matched.
var lastName = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

// Find returns some definitions of the project of an environment whose names have a text, while a
// person types it. It asks the server of the project's language only if that runs already, because
// a start takes seconds; else it searches.
func Find(ctx context.Context, servers *Servers, e env.Environment, query string) ([]Symbol, error) {
	c := client{servers, e}
	language, ok := c.main(ctx)
	if !ok || strings.TrimSpace(query) == "" {
		return nil, nil
	}
	if servers.running(language, e.WorkingDirectory()) {
		if found, err := c.found(ctx, language, query); err == nil {
			return found, nil
		}
	}
	return searcher{e, language}.found(ctx, query)
}

// found asks the server of a language.
func (c client) found(ctx context.Context, l Language, query string) ([]Symbol, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	project := c.env.WorkingDirectory()
	s, release, err := c.servers.acquire(ctx, l, project)
	if err != nil {
		return nil, err
	}
	defer release()
	var list []symbol
	if err := s.call(ctx, "workspace/symbol", map[string]any{"query": query}, &list); err != nil {
		return nil, err
	}
	var out []Symbol
	for _, one := range list {
		if len(out) == maxSymbols || one.Location == nil {
			continue
		}
		path, err := one.Location.URI.Path()
		if err != nil || !within(project, path) {
			continue
		}
		out = append(out, Symbol{text.Shorten(one.Name, maxLine), kindName(one.Kind), printer{project: project}.short(path), int(one.Location.Range.Start.Line) + 1})
	}
	return out, nil
}

// found searches the lines that define something.
func (s searcher) found(ctx context.Context, query string) ([]Symbol, error) {
	pattern := strings.ReplaceAll(s.language.Definition, name, `\w*(?i:`+regexp.QuoteMeta(query)+`)\w*`)
	lines, err := s.grep(ctx, pattern)
	if err != nil {
		return nil, err
	}
	defined, want := regexp.MustCompile(s.language.defines("")), strings.ToLower(query)
	var out []Symbol
	for _, line := range lines {
		path, rest, _ := strings.Cut(line, ":")
		number, code, _ := strings.Cut(rest, ":")
		at, err := strconv.Atoi(number)
		if err != nil || len(out) == maxSymbols {
			continue
		}
		for _, name := range lastName.FindAllString(defined.FindString(code), -1) {
			if strings.Contains(strings.ToLower(name), want) {
				out = append(out, Symbol{Name: name, Path: filepath.ToSlash(path), Line: at})
				break
			}
		}
	}
	return out, nil
}
