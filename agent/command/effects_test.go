package command

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table")

func place() Place {
	return Place{
		Dir: "/work/shop", Project: "/work/shop", Home: "/home/ada",
		Exists: func(path string) bool {
			return slices.Contains([]string{"/work/shop/main.go", "/work/shop/node_modules/.bin/vitest"}, path)
		},
	}
}

// said writes the risk and the effects of a line, the gravest first.
func said(line string) string {
	o := agent.OutlookOf(Of(line, place())...)
	var all []string
	for _, e := range o.Effects {
		all = append(all, strings.Join(append([]string{string(e.ID)}, e.Args...), " "))
	}
	return string(o.Risk) + ": " + strings.Join(all, ", ")
}

const table = "testdata/lines.txt"

// TestTable compares what each line of the table does with what stands under it.
// K-38.
func TestTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	cases := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		got.WriteString(line)
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			cases++
			got.WriteString("\t" + said(line) + "\n")
		}
	}
	if *update {
		if err := os.WriteFile(table, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(strings.Split(string(data), "\n"), strings.Split(got.String(), "\n")); diff != "" && !*update {
		t.Error(diff)
	}
	if cases < 250 {
		t.Errorf("only %d cases", cases)
	}
}

// A line of nothing but wrappers is read a limited number of times.
func TestWrappersLimited(t *testing.T) {
	t.Parallel()
	w := &walker{at: place()}
	w.script(strings.Repeat("sudo ", 6000)+"ls", &scope{dirs: []string{"/work/shop"}, vars: map[string]value{}, functions: map[string]bool{}})
	if most := maxLooked + 2*maxText; w.looked == 0 || w.looked > most {
		t.Errorf("%d bytes were looked at, at most %d are wanted", w.looked, most)
	}
}

// A variable that doubles again and again is given up, and so is what it stands for.
func TestTextsLimited(t *testing.T) {
	t.Parallel()
	w := &walker{at: place()}
	s := &scope{dirs: []string{"/work/shop"}, vars: map[string]value{}, functions: map[string]bool{}}
	w.script(strings.Repeat("a=x$a$a;", 20), s)
	if n := len(s.vars["a"].text()); n == 0 || n > maxText || s.vars["a"].exact() {
		t.Errorf("the text has %d bytes, at most %d are wanted", n, maxText)
	}
}
