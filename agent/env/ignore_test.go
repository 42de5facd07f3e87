package env

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// LOOP-27, LOOP-28, OAS-304: a search ignores the same files with ripgrep and
// without. Each archive has the project in tree, and queries with their
// results.
func TestSearchesSkipIgnoredFiles(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/search/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var queries []string
		var want string
		files := map[string]string{}
		for _, f := range archive.Files {
			switch f.Name {
			case "queries":
				queries = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			case "want":
				want = string(f.Data)
			default:
				files[f.Name] = string(f.Data)
			}
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			bothSearches(t, files, func(t *testing.T, l *Local) {
				inner, err := NewLocal(filepath.Join(l.dir, "tree"))
				if err != nil {
					t.Fatal(err)
				}
				inner.ripgrep = l.ripgrep
				var got strings.Builder
				for _, query := range queries {
					got.WriteString("> " + query + "\n")
					for _, line := range search(t, inner, strings.Fields(query)) {
						got.WriteString(filepath.ToSlash(line) + "\n")
					}
				}
				if diff := cmp.Diff(want, got.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// search runs a query that is written as in an archive, and returns the results
// in order.
func search(t *testing.T, l *Local, words []string) []string {
	t.Helper()
	options := map[string]string{}
	for _, word := range words[1 : len(words)-1] {
		name, value, _ := strings.Cut(word, "=")
		options[name] = value
	}
	pattern := words[len(words)-1]
	var hits Hits
	var err error
	if words[0] == "glob" {
		hits, err = l.Glob(t.Context(), GlobQuery{Pattern: pattern, Path: options["path"]})
	} else {
		hits, err = l.Grep(t.Context(), GrepQuery{Pattern: pattern, Path: options["path"], Glob: options["glob"], Type: options["type"]})
	}
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	slices.Sort(hits.Lines)
	return hits.Lines
}

// An ignore file that is too large, or whose lines would take long to match, is
// not used.
func TestIgnoreFilesAreBounded(t *testing.T) {
	t.Parallel()
	l := newLocal(t, map[string]string{
		".git/HEAD": "", ".gitignore": strings.Repeat("{a,a}", 40) + "b\n", strings.Repeat("a", 40): "x",
		"sub/.gitignore": "*\n#" + strings.Repeat("a", 256<<10), "sub/f": "x",
	})
	l.ripgrep = ""
	got, err := l.Grep(t.Context(), GrepQuery{Pattern: "x"})
	if want := []string{strings.Repeat("a", 40), "sub/f"}; err != nil || !cmp.Equal(want, got.Lines) {
		t.Errorf("%q, %v", got.Lines, err)
	}
}
