package rules

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/tsgen"
	"github.com/google/go-cmp/cmp"
)

// The page has the Chinese sentences and Go has the English ones. The page's
// types ensure that each id has an entry; these tests, that both have the same
// parts and arguments.
const chineseTable = "frontend/src/lib/i18n/problems.zh-CN.ts"

var (
	tableEntry = regexp.MustCompile(`(?m)^  (\w+):`)
	tableField = regexp.MustCompile(`\b(\w+):\s*'([^']*)'`)
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
		for _, f := range tableField.FindAllStringSubmatch(text[at[0]:end], -1) {
			fields[f[1]] = f[2]
		}
		id := text[at[2]:at[3]]
		if sentence, alone := fields[id]; alone { // an entry that is one sentence
			fields = map[string]string{"message": sentence}
		}
		out[id] = fields
	}
	return out
}

// marks returns the arguments of each sentence.
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

// compare checks that each id has an English sentence, and that the page's table
// has the same sentences with the same arguments, and no others.
func compare(t *testing.T, table string, ids []string, english func(id string, marks ...string) map[string]string) {
	t.Helper()
	said := chinese(t, table)
	for _, id := range ids {
		fields := english(id, "{0}", "{1}", "{2}")
		if fields["message"] == "" {
			t.Errorf("%s: %s has no English sentence", table, id)
		}
		if diff := cmp.Diff(marks(fields), marks(said[id])); diff != "" {
			t.Errorf("%s: %s differs between English and Chinese (-en +zh):\n%s", table, id, diff)
		}
		delete(said, id)
	}
	if len(said) > 0 {
		t.Errorf("%s: Chinese without English: %v", table, said)
	}
}

func TestSentencesAreInBothLanguages(t *testing.T) {
	t.Parallel()
	compare(t, "problems", constants(t, "backend", "ProblemID"), func(id string, marks ...string) map[string]string {
		e := backend.Problem(backend.ProblemID(id), marks...)
		if e.Code == "" {
			t.Errorf("%s has no code", id)
		}
		return map[string]string{"message": e.Message, "kept": e.Kept, "next": e.Next}
	})
	compare(t, "failures", constants(t, "agent", "FailureID"), func(id string, marks ...string) map[string]string {
		f := agent.Failed(agent.FailureID(id), marks...)
		return map[string]string{"message": f.Message, "next": f.Next}
	})
	compare(t, "warnings", constants(t, "agent", "WarningID"), func(id string, marks ...string) map[string]string {
		w := agent.Warn(agent.WarningID(id), marks...)
		if w.Code == "" {
			t.Errorf("%s has no code", id)
		}
		return map[string]string{"message": w.Message}
	})
	compare(t, "repairs", constants(t, "agent", "Repair"), func(id string, marks ...string) map[string]string {
		return map[string]string{"message": agent.Repaired(agent.Repair(id), marks...).Message}
	})
	compare(t, "documentProblems", constants(t, "agent", "DocumentProblemID"), func(id string, marks ...string) map[string]string {
		return map[string]string{"message": agent.DocumentLeftOut("AGENTS.md", agent.DocumentProblemID(id), marks...).Problem}
	})
	compare(t, "pictureChanges", constants(t, "agent", "PictureChangeID"), func(id string, marks ...string) map[string]string {
		return map[string]string{"message": agent.PictureChange{ID: agent.PictureChangeID(id), Args: marks}.String()}
	})
}

// The page finds the words of a problem or a failure by the id alone.
func TestProblemsAndFailuresDiffer(t *testing.T) {
	t.Parallel()
	problems := constants(t, "backend", "ProblemID")
	for _, id := range constants(t, "agent", "FailureID") {
		if slices.Contains(problems, id) {
			t.Errorf("%s names a problem and a failure", id)
		}
	}
}

func TestEveryClassIsExplained(t *testing.T) {
	t.Parallel()
	for _, class := range constants(t, "agent/llm", "Class") {
		for _, pause := range []time.Duration{0, time.Second} {
			f := agent.Explain(&llm.Error{Class: llm.Class(class), RetryAfter: pause})
			if f.Message == "" || f.Next == "" || f.Code != class {
				t.Errorf("%s is explained as %+v", class, f)
			}
		}
	}
}

// Sentences for users are made only where both languages have them.
func TestSentencesComeFromTheTables(t *testing.T) {
	t.Parallel()
	literals := map[string]string{ // the type, and the file that makes it
		"backend.Error":         "backend/problem.go",
		"agent.Warning":         "agent/warning.go",
		"agent.HistoryRepaired": "agent/warning.go",
		"agent.Failure":         "agent/failure.go",
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
			if f.name == "backend/error.go" { // this literal has the same sentences
				return false
			}
			if home, watched := literals[typeName(f.pkg, lit.Type)]; watched && f.name != home {
				t.Errorf("%s: only %s may make this literal", f.fset.Position(lit.Pos()), home)
			}
			return true
		})
	}
}

// typeName returns a type as package.Name.
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

// The command line and the page call an effect the same.
func TestEffectsHaveOneName(t *testing.T) {
	data, err := os.ReadFile("frontend/src/lib/i18n/en.ts")
	if err != nil {
		t.Fatal(err)
	}
	entries := regexp.MustCompile(`'effect\.(\w+)': '([^']*)'`).FindAllStringSubmatch(string(data), -1)
	for _, entry := range entries {
		if id, name := entry[1], entry[2]; id != "more" && (agent.Effect{ID: agent.EffectID(id)}).String() != name {
			t.Errorf("the page calls %s %q, Go %q", id, name, agent.Effect{ID: agent.EffectID(id)})
		}
	}
	if len(entries) < 30 {
		t.Errorf("only %d effects were found", len(entries))
	}
}
