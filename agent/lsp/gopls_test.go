package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/sandbox"
)

// gopls returns the server for Go that scripts/setup.sh installs, or skips the test.
func gopls(t *testing.T) string {
	t.Helper()
	installed, err := filepath.Abs("../../.cache/tools/gopls")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	if found := sandbox.LookPath("gopls"); found != "" {
		return found
	}
	t.Skip("scripts/setup.sh has not installed gopls")
	return ""
}

const library = `package shapes

// Shape has an area.
type Shape interface{ Area() float64 }

// Square is a shape.
type Square struct{ Side float64 }

// Area implements Shape.
func (s Square) Area() float64 { return s.Side * s.Side }

func Total(all []Shape) (sum float64) {
	for _, s := range all {
		sum += s.Area()
	}
	return sum
}
`

const program = `package shapes

func demo() float64 {
	return Total([]Shape{Square{2}})
}
`

// OAS-326, OC-01: a real server answers all nine operations, knows what was changed since,
// and says what is wrong with a change.
func TestGopls(t *testing.T) {
	t.Parallel()
	server := gopls(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	golang := Languages[0]
	golang.Servers = []Command{{Program: server, Args: []string{"serve"}, Env: []string{"GOFLAGS=-mod=mod", "GOPROXY=off", "XDG_CACHE_HOME=" + t.TempDir()}}}
	p := &project{Servers: New(Config{Languages: func(context.Context) []Language { return []Language{golang} }}), dir: dir}
	t.Cleanup(p.Close)
	p.times.request, p.times.start = time.Minute, time.Minute // a machine that is busy
	p.write(t, "go.mod", "module example.com/shapes\n\ngo 1.26\n")
	path := p.write(t, "shapes.go", library)
	p.write(t, "demo.go", program)
	if p.env, err = env.NewLocal(dir); err != nil {
		t.Fatal(err)
	}
	p.tool = Tool(p.Servers, p.env)
	area := func(operation Operation) Input {
		return Input{Operation: operation, File: "shapes.go", Line: 13, Query: "Area"}
	}
	total := func(operation Operation) Input {
		return Input{Operation: operation, File: "demo.go", Line: 3, Character: 8}
	}
	for _, tt := range []struct {
		in   Input
		want []string
	}{
		{total(Definition), []string{"shapes.go:12:6: func Total(all []Shape)"}},
		{total(References), []string{"demo.go:4:9: return Total(", "shapes.go:12:6"}},
		{total(Hover), []string{"func Total(all []Shape) (sum float64)"}},
		{Input{Operation: DocumentSymbol, File: "shapes.go"}, []string{"interface Shape (line 4)", "function Total (line 12)"}},
		{Input{Operation: WorkspaceSymbol, Query: "Squar"}, []string{"shapes.go:7:6 struct", "Square"}},
		{area(Implementation), []string{"shapes.go:10:17: func (s Square) Area()"}},
		{total(PrepareCalls), []string{"shapes.go:12:6 function Total"}},
		{total(IncomingCalls), []string{"Callers of Total", "demo.go:3:6 function demo, called in line 4"}},
		{total(OutgoingCalls), []string{"Area"}},
	} {
		got := p.ask(t, tt.in)
		for _, want := range append(tt.want, "[Answered by ") {
			if got.IsError || !strings.Contains(got.Output, want) {
				t.Errorf("%s: %v %q, without %q", tt.in.Operation, got.IsError, got.Output, want)
			}
		}
	}
	renamed := run(t, RenameTool(p.Servers, p.env), RenameInput{File: "demo.go", Line: 4, Symbol: "Total", NewName: "Sum"})
	for name, want := range map[string]string{"shapes.go": strings.Replace(library, "Total", "Sum", 1), "demo.go": strings.Replace(program, "Total", "Sum", 1)} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%+v: %s is %s, %v", renamed, name, got, err)
		}
	}
	if refused := run(t, RenameTool(p.Servers, p.env), RenameInput{File: "demo.go", Line: 4, Symbol: "Sum", NewName: "Square"}); !refused.IsError {
		t.Errorf("a name that is taken: %+v", refused)
	}
	p.write(t, "shapes.go", library)
	p.write(t, "demo.go", program)
	p.write(t, "more.go", "package shapes\n\nvar again = Total(nil)\n") // by others, as a command does
	if got := p.ask(t, total(References)); !strings.Contains(got.Output, "more.go:3:13") {
		t.Errorf("a file that was created is not known: %q", got.Output)
	}
	p.write(t, "shapes.go", strings.Replace(library, "return sum\n", "return summ\n", 1))
	if got := Diagnose(t.Context(), p.Servers, p.env, []string{path}); !strings.Contains(got, "shapes.go:16:9: error: undefined: summ") {
		t.Errorf("diagnostics of a wrong change: %q", got)
	}
	p.write(t, "shapes.go", library)
	if got := Diagnose(t.Context(), p.Servers, p.env, []string{path}); got != "" {
		t.Errorf("diagnostics of a right change: %q", got)
	}
}

var _ agent.Accessor = (*tool)(nil)
