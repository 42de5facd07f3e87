package permission_test

import (
	_ "embed"
	"math/rand/v2"
	"strings"
	"testing"
)

// grammarText describes command lines; its head says how.
//
//go:embed testdata/grammar.txt
var grammarText string

// grammar has the alternatives of each rule.
type grammar map[string][]string

func readGrammar(t testing.TB) grammar {
	t.Helper()
	g := grammar{"nl": {"\n"}, "cont": {"\\\n"}}
	rule := ""
	for line := range strings.Lines(grammarText) {
		line = strings.TrimSuffix(line, "\n")
		if alternative, ok := strings.CutPrefix(line, "\t"); ok {
			g[rule] = append(g[rule], alternative)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			rule = line
		}
	}
	for rule, alternatives := range g {
		for _, text := range alternatives {
			for name := range namesIn(text) {
				if g[name] == nil {
					t.Fatalf("the rule %s names %s, which does not exist", rule, name)
				}
			}
		}
	}
	return g
}

func namesIn(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, part := range strings.Split(text, "«")[1:] {
			if name, _, _ := strings.Cut(part, "»"); !yield(name) {
				return
			}
		}
	}
}

// maxNested is how deep a line grows before it ends.
const maxNested = 8

// say returns a random text of a rule.
func (g grammar) say(r *rand.Rand, rule string, depth int) string {
	alternatives := g[rule]
	text := alternatives[0]
	if depth < maxNested {
		text = alternatives[r.IntN(len(alternatives))]
	}
	var b strings.Builder
	for {
		before, rest, more := strings.Cut(text, "«")
		b.WriteString(before)
		if !more {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "»")
		b.WriteString(g.say(r, name, depth+1))
		text = after
	}
}

// some returns lines of a rule, which depend on the seed only.
func (g grammar) some(rule string, seed uint64, count int) []string {
	r := rand.New(rand.NewPCG(seed, 0))
	lines := make([]string, count)
	for i := range lines {
		lines[i] = g.say(r, rule, 0)
	}
	return lines
}
