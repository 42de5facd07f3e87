package project

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/goccy/go-yaml"
)

const (
	maxRules     = 200 // files of one folder of rules
	maxRuleDepth = 5   // folders below it
)

func isRules(name string) bool { return strings.HasSuffix(name, "/") }

// readRules adds the Markdown files of a folder of rules, such as .claude/rules,
// in the order of their names. A rule whose front matter has "paths" is for files
// that match: it is added if work matches, or if it was told before. The others
// are added if work is empty.
func (r *reader) readRules(dir, name, work string) {
	for _, path := range r.ruleFiles(filepath.Join(dir, name), maxRuleDepth) {
		before := len(r.seen)
		d, ok := r.load(path)
		if !ok {
			continue
		}
		patterns, body := frontMatter(d.Text)
		switch {
		case d.Problem != "":
			if work != "" {
				continue
			}
		case len(patterns) == 0 && work != "", len(patterns) > 0 && !r.holds(d.Path, dir, patterns, work):
			r.seen = r.seen[:before]
			continue
		}
		d.Size -= len(d.Text) - len(body)
		d.Text, d.For = body, patterns
		r.add(path, d, 0)
	}
}

// holds reports whether a rule for files that match patterns is to be told.
func (r *reader) holds(path, dir string, patterns []string, work string) bool {
	if r.every || r.told != nil && r.told(path) {
		return true
	}
	rel, err := filepath.Rel(dir, work)
	return work != "" && err == nil && filepath.IsLocal(rel) && slices.ContainsFunc(patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"), filepath.ToSlash(rel))
	})
}

// ruleFiles lists the Markdown files below a folder, at most [maxRules].
func (r *reader) ruleFiles(dir string, depth int) []string {
	f, err := r.openFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, err := f.Readdirnames(maxRules)
	if err != nil && err != io.EOF {
		return nil
	}
	slices.Sort(names)
	var paths []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := r.stat(path)
		switch {
		case err == nil && info.IsDir() && depth > 0:
			paths = append(paths, r.ruleFiles(path, depth-1)...)
		case strings.EqualFold(filepath.Ext(name), ".md"):
			paths = append(paths, path)
		}
	}
	return paths[:min(len(paths), maxRules)]
}

var (
	front = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A---[ \t]*\r?\n((?s:.*?))(?m:^---[ \t]*(?:\r?\n|\z))`)
	})
	// bare is a pattern that people leave without quotes, which YAML takes for an alias.
	bare = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^([ \t]*(?:paths:|-)[ \t]*)([*{!][^\r\n]*?)[ \t]*(\r?)$`)
	})
)

// frontMatter returns the patterns of "paths" and the text below the front matter.
// A rule whose front matter cannot be read is for all files.
func frontMatter(document string) (patterns []string, body string) {
	m := front().FindStringSubmatch(document)
	if m == nil {
		return nil, document
	}
	var head struct {
		Paths any `yaml:"paths"`
	}
	_ = yaml.Unmarshal([]byte(bare().ReplaceAllString(m[1], "$1'$2'$3")), &head)
	switch paths := head.Paths.(type) {
	case string:
		patterns = splitPatterns(paths)
	case []any:
		for _, p := range paths {
			if s, ok := p.(string); ok {
				patterns = append(patterns, splitPatterns(s)...)
			}
		}
	}
	return patterns, document[len(m[0]):]
}

// splitPatterns splits a list at the commas outside braces.
func splitPatterns(list string) []string {
	depth := 0
	parts := strings.FieldsFunc(list, func(c rune) bool {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		return depth <= 0 && c == ','
	})
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" })
}
