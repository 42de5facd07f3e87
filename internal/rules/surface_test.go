package rules

import (
	"bytes"
	"flag"
	"go/ast"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/surface.txt")

// TestSurface holds what programs that use the library can name: nothing of testdata/surface.txt
// is removed or changed without -update, which also records what is new.
func TestSurface(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, f := range sources(t) {
		if f.test || f.pkg != "agent" && !strings.HasPrefix(f.pkg, "agent/") && f.pkg != "storage/sessionlog" || strings.Contains(f.pkg, "internal") {
			continue
		}
		for _, decl := range f.syntax.Decls {
			for _, line := range exported(f.fset, decl) {
				lines = append(lines, f.pkg+": "+line)
			}
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "\n") + "\n"
	const file = "internal/rules/testdata/surface.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	now := map[string]bool{}
	for line := range strings.Lines(got) {
		now[line] = true
	}
	for line := range strings.Lines(string(want)) {
		if !now[line] {
			t.Errorf("a program that names this no longer compiles; if it should, run this test with -update: %s", line)
		}
	}
}

// exported lists what a declaration exports, each on a line without its comments and bodies.
func exported(fset *token.FileSet, decl ast.Decl) (lines []string) {
	show := func(node any) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, node); err != nil {
			return err.Error()
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiver(d.Recv.List[0].Type)) {
			return nil
		}
		of := ""
		if d.Recv != nil {
			of = "(" + show(d.Recv.List[0].Type) + ") "
		}
		return []string{"func " + of + d.Name.Name + strings.TrimPrefix(show(d.Type), "func")}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if name.IsExported() {
						lines = append(lines, d.Tok.String()+" "+name.Name)
					}
				}
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					lines = append(lines, typeLines(show, s)...)
				}
			}
		}
	}
	return lines
}

// typeLines lists a type and its exported fields or methods.
func typeLines(show func(any) string, s *ast.TypeSpec) (lines []string) {
	members := func(kind string, list *ast.FieldList) {
		lines = append(lines, "type "+s.Name.Name+" "+kind)
		for _, field := range list.List {
			for _, name := range field.Names {
				if name.IsExported() {
					lines = append(lines, "type "+s.Name.Name+": "+name.Name+" "+show(field.Type))
				}
			}
			if len(field.Names) == 0 {
				lines = append(lines, "type "+s.Name.Name+": "+show(field.Type))
			}
		}
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		members("struct", t.Fields)
	case *ast.InterfaceType:
		members("interface", t.Methods)
	default:
		equals := ""
		if s.Assign.IsValid() {
			equals = "= "
		}
		lines = append(lines, "type "+s.Name.Name+" "+equals+show(s.Type))
	}
	return lines
}
