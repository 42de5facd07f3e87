package rules

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Budgets of the pages that people read.
const (
	maxProseLine     = 100 // characters, outside of tables
	maxProseSentence = 25  // words, at the median of a page
	maxParagraph     = 80  // words
)

// maxPage limits the pages that everybody begins with, in bytes.
var maxPage = map[string]int{"README.md": 8 << 10, "ARCHITECTURE.md": 14 << 10, "docs/performance.md": 4 << 10}

// pages returns the pages that people read, by path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names := []string{"README.md", "ARCHITECTURE.md", "docs/library.md", "docs/performance.md", "frontend/README.md"}
	for _, dir := range []string{"docs/guide", "docs/decisions"} {
		found, err := filepath.Glob(dir + "/*.md")
		if err != nil || len(found) < 2 {
			t.Fatalf("%s has %d pages: %v", dir, len(found), err)
		}
		names = append(names, found...)
	}
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(name)] = string(text)
	}
	return out
}

var (
	codeBlock   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan    = regexp.MustCompile("`[^`\n]*`")
	listItem    = regexp.MustCompile(`(?m)^ *([-*]|\d+\.) `)
	sentenceEnd = regexp.MustCompile(`[.!?]["”)]?\s+`)
	notProse    = regexp.MustCompile(`^(#|\||<|!\[)`)
	pageLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	namedPage   = regexp.MustCompile(`\bdocs/[\w./-]+\.md\b`)
)

// paragraphs returns the paragraphs and the list items of a page, without code
// blocks, tables and headings. A code span counts as one word.
func paragraphs(text string) (out []string) {
	text = codeSpan.ReplaceAllString(codeBlock.ReplaceAllString(text, ""), "code")
	text = listItem.ReplaceAllString(text, "\n\n")
	for _, block := range strings.Split(text, "\n\n") {
		if block = strings.TrimSpace(block); block != "" && !notProse.MatchString(block) {
			out = append(out, block)
		}
	}
	return out
}

// TestPagesAreReadable holds the length of lines, sentences and paragraphs.
func TestPagesAreReadable(t *testing.T) {
	t.Parallel()
	for name, text := range pages(t) {
		if limit := maxPage[name]; limit > 0 && len(text) > limit {
			t.Errorf("%s has %d bytes, more than %d", name, len(text), limit)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > maxProseLine && !strings.HasPrefix(line, "|") && name != "docs/library.md" {
				t.Errorf("%s:%d has %d characters, more than %d", name, i+1, n, maxProseLine)
			}
		}
		var sentences []int
		for _, paragraph := range paragraphs(text) {
			if n := len(strings.Fields(paragraph)); n > maxParagraph {
				t.Errorf("%s: a paragraph has %d words, more than %d: %.60s…", name, n, maxParagraph, paragraph)
			}
			for _, sentence := range sentenceEnd.Split(paragraph, -1) {
				sentences = append(sentences, len(strings.Fields(sentence)))
			}
		}
		slices.Sort(sentences)
		if n := len(sentences); n > 0 && sentences[n/2] > maxProseSentence {
			t.Errorf("%s: the median sentence has %d words, more than %d", name, sentences[n/2], maxProseSentence)
		}
	}
}

// anchor returns the fragment that leads to a heading, as hosts of repositories make it.
func anchor(heading string) string {
	heading = strings.ToLower(strings.ReplaceAll(heading, "`", ""))
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N}\- ]`).ReplaceAllString(heading, ""), " ", "-")
}

// TestLinksLeadSomewhere checks the links between pages, with their fragments, and the
// pages that the program and its comments name.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	all := pages(t)
	for _, more := range []string{"AGENTS.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(more)
		if err != nil {
			t.Fatal(err)
		}
		all[more] = string(text)
	}
	for name, text := range all {
		for _, link := range pageLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			file, fragment, _ := strings.Cut(link[1], "#")
			if strings.Contains(file, ":") {
				continue
			}
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, link[1])
				continue
			}
			if fragment == "" {
				continue
			}
			found := false
			for _, h := range heading.FindAllStringSubmatch(all[target], -1) {
				found = found || anchor(h[1]) == fragment
			}
			if !found {
				t.Errorf("%s links to %s, which has no such heading", name, link[1])
			}
		}
	}
	named := map[string]string{}
	for _, f := range sources(t) {
		if !f.test {
			for _, group := range f.syntax.Comments {
				named[f.name] += group.Text()
			}
		}
	}
	messages, err := filepath.Glob("frontend/src/lib/*/messages*.ts")
	if err != nil || len(messages) < 20 {
		t.Fatalf("%d files of messages: %v", len(messages), err)
	}
	for _, name := range messages {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		named[name] = string(text)
	}
	seen := 0
	for name, text := range named {
		for _, target := range namedPage.FindAllString(text, -1) {
			seen++
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s names %s, which does not exist", name, target)
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d names of pages were found", seen)
	}
}

var codeWord = regexp.MustCompile("`([^`]+)`")

// TestTreeIsComplete compares the tree in ARCHITECTURE.md with the folders that have packages.
func TestTreeIsComplete(t *testing.T) {
	t.Parallel()
	_, tree, _ := strings.Cut(pages(t)["ARCHITECTURE.md"], "\n## The tree\n")
	tree, _, _ = strings.Cut(tree, "\n## ")
	listed := map[string]bool{}
	var below []string // folders whose packages are not listed one by one
	for _, row := range strings.Split(tree, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		first := ""
		for _, word := range codeWord.FindAllStringSubmatch(row, -1) {
			name := strings.TrimSuffix(word[1], "/")
			if folder, ok := strings.CutSuffix(name, "/…"); ok {
				below = append(below, folder+"/")
				continue
			}
			if first == "" {
				first = name
			}
			there := false
			for _, place := range []string{name, path.Join(path.Dir(first), name), path.Join(first, name)} {
				if _, err := os.Stat(place); err == nil {
					listed[place], there = true, true
				}
			}
			if !there && strings.Contains(cells[1], word[0]) {
				t.Errorf("%s is listed and does not exist", name)
			}
		}
	}
	for _, f := range sources(t) {
		dir, under := path.Dir(f.name), func(folder string) bool { return strings.HasPrefix(f.name, folder) }
		if dir == "." || listed[dir] || slices.ContainsFunc(below, under) || strings.HasPrefix(dir, "scripts/") || f.test {
			continue
		}
		t.Errorf("%s is not listed", dir)
		listed[dir] = true
	}
}
