package main

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/tsgen"
	"github.com/google/go-cmp/cmp"
)

// The page words in Chinese what Go words in English. That each id has an entry is
// checked with the page's types; here, that both say as much and take the same
// arguments.
const chineseTable = "frontend/src/lib/i18n/problems.zh-CN.ts"

var (
	tableEntry = regexp.MustCompile(`(?m)^  (\w+):`)
	tableField = regexp.MustCompile(`\b(message|kept|next): *\n? *'([^']*)'`)
	argument   = regexp.MustCompile(`\{\d\}`)
)

// chinese reads one of the page's tables: sentences by id and field.
func chinese(t *testing.T, table string) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile(chineseTable)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "export const "+table+":")
	if !ok {
		t.Fatalf("%s has no table %s", chineseTable, table)
	}
	text, _, _ = strings.Cut(text, "\n}")
	out := map[string]map[string]string{}
	entries := tableEntry.FindAllStringSubmatchIndex(text, -1)
	for i, at := range entries {
		end := len(text)
		if i+1 < len(entries) {
			end = entries[i+1][0]
		}
		fields := map[string]string{}
		for _, f := range tableField.FindAllStringSubmatch(text[at[1]:end], -1) {
			fields[f[1]] = f[2]
		}
		out[text[at[2]:at[3]]] = fields
	}
	return out
}

// marks are the arguments of each sentence that there is.
func marks(fields map[string]string) map[string][]string {
	out := map[string][]string{}
	for name, sentence := range fields {
		if sentence != "" {
			found := argument.FindAllString(sentence, -1)
			slices.Sort(found)
			out[name] = slices.Compact(found)
		}
	}
	return out
}

func constants(t *testing.T, dir, name string) []string {
	t.Helper()
	enums, err := tsgen.Enums(dir)
	if err != nil || len(enums[name]) == 0 {
		t.Fatalf("%s in %s: %d constants, %v", name, dir, len(enums[name]), err)
	}
	return enums[name]
}

func TestProblemsAreWordedInBothLanguages(t *testing.T) {
	t.Parallel()
	table := chinese(t, "problems")
	for _, id := range constants(t, "backend", "ProblemID") {
		e := backend.Problem(backend.ProblemID(id), "{0}", "{1}", "{2}")
		if e.Message == "" || e.Code == "" {
			t.Errorf("%s has no English sentence or no code", id)
		}
		english := marks(map[string]string{"message": e.Message, "kept": e.Kept, "next": e.Next})
		if diff := cmp.Diff(english, marks(table[id])); diff != "" {
			t.Errorf("%s differs between English and Chinese (-en +zh):\n%s", id, diff)
		}
		delete(table, id)
	}
	if len(table) > 0 {
		t.Errorf("Chinese without English: %v", table)
	}
}

// What is worded in one place alone is worded in both languages.
func TestSentencesComeFromTheTables(t *testing.T) {
	t.Parallel()
	literals := map[string]string{ // the type, and where it is made
		"backend.Error": "backend/problem.go",
	}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok || len(lit.Elts) == 0 {
				return true
			}
			if home, watched := literals[typeName(f.pkg, lit.Type)]; watched && f.name != home {
				t.Errorf("%s: a literal of what %s makes", f.fset.Position(lit.Pos()), home)
			}
			return true
		})
	}
}

// typeName is a type as package.Name.
func typeName(pkg string, x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return pkg + "." + x.Name
	case *ast.SelectorExpr:
		if from, ok := x.X.(*ast.Ident); ok {
			return from.Name + "." + x.Sel.Name
		}
	}
	return ""
}
