// Package tsgen writes TypeScript declarations for Go wire types, so that the
// front end's types cannot drift.
package tsgen

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Generator collects types and writes each once.
type Generator struct {
	// Enums holds the values of string types, as [Enums] returns them.
	Enums map[string][]string
	// Overrides has the declarations of types with their own encoding, by Go
	// type name.
	Overrides map[string]string
	decls     map[string]string
	owners    map[string]reflect.Type
}

// Declare returns the TypeScript type for t and records the declarations that
// it needs.
func (g *Generator) Declare(t reflect.Type) string {
	if t == reflect.TypeFor[json.RawMessage]() {
		return "unknown"
	}
	if t.Name() != "" && t.PkgPath() != "" {
		return g.named(t)
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return g.Declare(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "string" // base64
		}
		return g.Declare(t.Elem()) + "[]"
	case reflect.Map:
		return "Record<" + g.Declare(t.Key()) + ", " + g.Declare(t.Elem()) + ">"
	}
	panic("tsgen: no TypeScript for " + t.String())
}

func (g *Generator) named(t reflect.Type) string {
	name := t.Name()
	if g.decls == nil {
		g.decls, g.owners = map[string]string{}, map[string]reflect.Type{}
	}
	if owner, ok := g.owners[name]; ok {
		if owner != t {
			panic(fmt.Sprintf("tsgen: %s and %s share a name", owner, t))
		}
		return name
	}
	g.owners[name] = t
	switch {
	case g.Overrides[name] != "":
		g.decls[name] = g.Overrides[name]
	case t.Kind() == reflect.Struct:
		g.decls[name] = g.structure(t)
	case t.Kind() == reflect.String && len(g.Enums[name]) > 0:
		quoted := make([]string, 0, len(g.Enums[name]))
		for _, v := range g.Enums[name] {
			quoted = append(quoted, strconv.Quote(v))
		}
		g.decls[name] = strings.Join(quoted, " | ")
	default:
		panic("tsgen: no TypeScript for " + t.String() + ": a named type must be a struct or a string with constants")
	}
	return name
}

func (g *Generator) structure(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			continue // its fields follow, as encoding/json writes them
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			panic(fmt.Sprintf("tsgen: %s.%s has no json name", t, f.Name))
		}
		optional := ""
		if strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
			optional = "?"
		} else if k := f.Type.Kind(); k == reflect.Slice || k == reflect.Map || k == reflect.Pointer {
			if f.Type != reflect.TypeFor[json.RawMessage]() {
				panic(fmt.Sprintf("tsgen: %s.%s may be null: add omitempty", t, f.Name))
			}
		}
		fmt.Fprintf(&b, "  %s%s: %s\n", name, optional, g.Declare(f.Type))
	}
	b.WriteString("}")
	return b.String()
}

// Declarations returns all recorded declarations, sorted by name.
func (g *Generator) Declarations() string {
	names := make([]string, 0, len(g.decls))
	for n := range g.decls {
		names = append(names, n)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "export type %s = %s\n\n", n, g.decls[n])
	}
	return b.String()
}

// Enums reads the Go files of the given folders and returns the string
// constants of every named type, in source order, the empty string included.
func Enums(dirs ...string) (map[string][]string, error) {
	enums := map[string][]string{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return nil, fmt.Errorf("parse %s: %w", file, err)
			}
			collect(f, enums)
		}
	}
	return enums, nil
}

func collect(f *ast.File, enums map[string][]string) {
	for _, d := range f.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, s := range gen.Specs {
			v := s.(*ast.ValueSpec)
			typ, ok := v.Type.(*ast.Ident)
			if !ok {
				continue
			}
			for _, x := range v.Values {
				if lit, ok := x.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if s, err := strconv.Unquote(lit.Value); err == nil {
						enums[typ.Name] = append(enums[typ.Name], s)
					}
				}
			}
		}
	}
}
