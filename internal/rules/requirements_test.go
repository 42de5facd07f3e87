package rules

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const requirements = "docs/requirements.md"

var (
	requirementCode = regexp.MustCompile(`\b(?:LOOP|OAS|COM|LLM|OC|LIVE|SKILLV|K)-[0-9]+\b`)
	requirementLine = regexp.MustCompile(`(?m)^\| ((?:LOOP|OAS|COM|LLM|OC|LIVE|SKILLV|K)-[0-9]+) \| (.*) \|$`)
)

// mentionedRequirements returns each code of a requirement that the repository
// mentions, with the first file that does.
func mentionedRequirements(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"node_modules", "dist"}, d.Name()) || d.Name() != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		kinds := []string{".go", ".md", ".ts", ".svelte", ".css", ".sql", ".sh", ".mjs", ".txtar"}
		if !slices.Contains(kinds, filepath.Ext(file)) || filepath.ToSlash(file) == requirements {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "-") { // most lines, which the expression would read slowly
				continue
			}
			for _, code := range requirementCode.FindAllString(line, -1) {
				if out[code] == "" {
					out[code] = file
				}
			}
		}
		return nil
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("found %d codes: %v", len(out), err)
	}
	return out
}

// Every code that is mentioned can be looked up, and the page lists no code
// that is not mentioned.
func TestRequirementCodesResolve(t *testing.T) {
	page, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, m := range requirementLine.FindAllStringSubmatch(string(page), -1) {
		lines[m[1]]++
		if len(m[2]) < 10 {
			t.Errorf("%s: the line of %s says nothing: %q", requirements, m[1], m[2])
		}
	}
	mentioned := mentionedRequirements(t)
	for code, file := range mentioned {
		if lines[code] != 1 {
			t.Errorf("%s names %s, which has %d lines in %s instead of one", file, code, lines[code], requirements)
		}
	}
	for code := range lines {
		if mentioned[code] == "" {
			t.Errorf("%s: no file names %s: remove its line", requirements, code)
		}
	}
}
