package env

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"atelier.dev/atelier/agent/internal/ignore"
)

// Conventions are what .editorconfig and .gitattributes say about a file.
type Conventions struct {
	// Charset is the name of its encoding; empty if nothing is said.
	Charset string
	// LineEnd is its line ending, "\n" or "\r\n"; empty if nothing is said.
	LineEnd string
}

const (
	// maxConventions is the size in bytes of the largest file of conventions that is
	// read.
	maxConventions = 64 << 10
	// maxParents limits how many folders above a file are looked at.
	maxParents = 40
)

// ConventionsOf reads what the files of conventions say about a path, those nearest to it
// first. .gitattributes counts before .editorconfig, because git rewrites line endings.
func ConventionsOf(ctx context.Context, files Files, path string) Conventions {
	if !filepath.IsAbs(path) {
		if host, ok := files.(Host); ok {
			path = filepath.Join(host.WorkingDirectory(), path)
		}
	}
	var git, editor Conventions
	root, repository := false, false
	for dir, n := filepath.Dir(path), 0; n < maxParents && ctx.Err() == nil && !(root && repository); n++ {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			break
		}
		if !root {
			var found Conventions
			found, root = editorConfig(smallText(ctx, files, filepath.Join(dir, ".editorconfig")), slash(rel))
			editor = editor.or(found)
		}
		if !repository {
			git = git.or(attributes(smallText(ctx, files, filepath.Join(dir, ".gitattributes")), slash(rel)))
			_, err := files.Stat(ctx, filepath.Join(dir, ".git"))
			repository = err == nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return git.or(editor)
}

// or returns the conventions with what others say about the rest.
func (c Conventions) or(others Conventions) Conventions {
	if c.Charset == "" {
		c.Charset = others.Charset
	}
	if c.LineEnd == "" {
		c.LineEnd = others.LineEnd
	}
	return c
}

// smallText returns the text of a file of conventions; empty if there is none.
func smallText(ctx context.Context, files Files, path string) string {
	info, err := files.Stat(ctx, path)
	if err != nil || !info.Mode.IsRegular() || info.Size > maxConventions {
		return ""
	}
	data, err := files.ReadFile(ctx, path)
	if err != nil || len(data) > maxConventions {
		return ""
	}
	return strings.TrimPrefix(string(data), "\uFEFF")
}

// lineEnds are the names of line endings in both kinds of files.
var lineEnds = map[string]string{"lf": "\n", "crlf": "\r\n"}

// editorConfig reads an .editorconfig for a path relative to its folder. Later sections
// count before earlier ones. root says that files above do not count.
func editorConfig(text, rel string) (c Conventions, root bool) {
	matches, section := false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			pattern := line[1 : len(line)-1]
			if !strings.Contains(pattern, "/") {
				pattern = "**/" + pattern
			}
			section = true
			matches, _ = doublestar.Match(strings.TrimPrefix(pattern, "/"), rel)
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case !section && name == "root":
			root = value == "true"
		case !matches:
		case name == "charset":
			c.Charset = value
		case name == "end_of_line":
			c.LineEnd = lineEnds[value]
		}
	}
	return c, root
}

// attributes reads a .gitattributes for a path relative to its folder. Later lines count
// before earlier ones.
func attributes(text, rel string) (c Conventions) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		rule, ok := ignore.ReadRule(fields[0])
		if !ok || ignore.Judge([]ignore.Rule{rule}, rel, false) != ignore.Ignored {
			continue
		}
		for _, attribute := range fields[1:] {
			name, value, _ := strings.Cut(attribute, "=")
			switch name {
			case "eol":
				c.LineEnd = lineEnds[strings.ToLower(value)]
			case "working-tree-encoding":
				c.Charset = value
			case "-text", "binary", "-eol":
				c.LineEnd = ""
			}
		}
	}
	return c
}
