package effect

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// loose are names of variables, or all of them.
type loose struct {
	names map[string]bool
	all   bool
}

func (l *loose) has(name string) bool { return l.all || l.names[name] }

// note adds the variables that functions and loops of a line change, because
// these run later than they are written, or again.
func (l *loose) note(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.FuncDecl:
			l.noteAll(n)
			return false
		case *syntax.ForClause:
			l.noteStmts(n.Do)
		case *syntax.WhileClause:
			l.noteStmts(n.Cond)
			l.noteStmts(n.Do)
		}
		return true
	})
}

// noteStmts is noteAll for the statements of a loop. The variables of loops
// within it have no other values where they are used; see [walker.repeated].
func (l *loose) noteStmts(stmts []*syntax.Stmt) {
	for _, stmt := range stmts {
		within := &loose{}
		within.noteAll(stmt)
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if n, ok := n.(*syntax.WordIter); ok {
				delete(within.names, n.Name.Value)
			}
			return true
		})
		l.all = l.all || within.all
		l.add(within.names)
	}
}

func (l *loose) add(names map[string]bool) {
	if l.names == nil {
		l.names = map[string]bool{}
	}
	maps.Copy(l.names, names)
}

// repeated looks at the statements of a loop, which may have run before.
func (w *walker) repeated(stmts []*syntax.Stmt, s *scope) {
	for _, stmt := range stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			if n, ok := n.(*syntax.WordIter); ok {
				delete(s.vars, n.Name.Value)
			}
			return true
		})
	}
	w.perhaps(stmts, s)
}

// noteAll adds the variables that a part of a line changes anywhere.
func (l *loose) noteAll(part syntax.Node) {
	l.add(nil)
	syntax.Walk(part, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				l.names[n.Name.Value] = true
			}
		case *syntax.WordIter:
			l.names[n.Name.Value] = true
		case *syntax.CallExpr:
			l.call(n)
		}
		return true
	})
}

// call adds what a builtin changes.
func (l *loose) call(c *syntax.CallExpr) {
	for _, word := range c.Args {
		name := word.Lit()
		l.all = l.all || slices.Contains([]string{"eval", "source", "."}, name)
		if before, _, _ := strings.Cut(name, "="); before != "" && slices.Contains(assigners, c.Args[0].Lit()) {
			l.names[before] = true
		}
	}
}

// forgets drops what is known about the variables and functions that an argument
// of a builtin names. Those of printf are named by the option -v.
func (w *walker) forgets(program string, arg value, named bool, s *scope) {
	if slices.Contains([]string{"test", "[", "let", "wait"}, program) || program == "printf" && !named {
		return
	}
	for _, p := range arg {
		name, _, given := strings.Cut(p.text, "=")
		switch declares := slices.Contains([]string{"export", "declare", "typeset", "local", "readonly"}, program); {
		case declares && strings.HasPrefix(p.text, "-") && strings.ContainsAny(p.text, "nluc"):
			w.loose.all = true // a name for another variable, or other letters
		case declares && !given: // it keeps its value
		case !p.exact:
			clear(s.vars)
			clear(s.functions)
		default:
			delete(s.vars, strings.TrimPrefix(name, "-v"))
			if program == "unset" {
				delete(s.functions, name)
			}
		}
	}
}
