package command

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
			if n, ok := n.(*syntax.WordIter); ok && w.reader == nil { // else each is set once
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
		case *syntax.CoprocClause:
			if n.Name != nil {
				l.names[n.Name.Lit()] = true
			}
		case *syntax.CallExpr:
			l.call(n)
		}
		return true
	})
}

// call adds what a builtin changes.
func (l *loose) call(c *syntax.CallExpr) {
	_, names, all := setBy(c)
	for _, name := range names {
		l.names[name] = true
	}
	l.all = l.all || all
}

// namers are builtins whose arguments name the variables that they set. Those of
// printf and wait do behind an option.
var namers = strings.Fields("read mapfile readarray getopts printf unset export declare typeset local readonly wait")

// setBy returns the builtin that a call runs and the variables among its
// arguments, if it is one that sets variables. It reports all if it may set any
// variable: a name is not known, or what runs is not.
func setBy(c *syntax.CallExpr) (builtin string, variables []string, all bool) {
	words := c.Args
	for len(words) > 0 {
		text, known := plainText(words[0])
		words = words[1:]
		switch {
		case !known || slices.Contains([]string{"eval", "source", "."}, text):
			return text, nil, true
		case slices.Contains([]string{"builtin", "command", "time"}, text) || strings.HasPrefix(text, "-"):
			continue
		case !slices.Contains(namers, text):
			return "", nil, false
		}
		for i, word := range words {
			argument, known := plainText(word)
			if i == 0 && known && (text == "printf" || text == "wait") && !strings.HasPrefix(argument, "-") {
				break
			}
			variables, all = append(variables, variableIn(argument)), all || !known
		}
		return text, variables, all
	}
	return "", nil, false
}

// variableIn returns the variable that an argument of a builtin names, which may
// stand behind an option or before a value, and be an element of it.
func variableIn(argument string) string {
	name, _, _ := strings.Cut(argument, "=")
	if strings.HasPrefix(name, "-") {
		if i := strings.IndexAny(name, "vap"); i > 0 { // printf -v, read -a, wait -p
			name = name[i+1:]
		}
	}
	name, _, _ = strings.Cut(name, "[")
	return strings.TrimSuffix(name, "+")
}

// plainText returns the text of a word that bash leaves as it is but for its
// quotes.
func plainText(word *syntax.Word) (text string, known bool) {
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "{*?~") {
				return "", false
			}
			text += strings.ReplaceAll(part.Value, `\`, "")
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			text += part.Value
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				literal, ok := inner.(*syntax.Lit)
				if !ok || part.Dollar {
					return "", false
				}
				text += literal.Value
			}
		default:
			return "", false
		}
	}
	return text, true
}

// forgets drops what is known about the variables and functions that an argument
// of a builtin names. Those of printf and wait are named by an option.
func (w *walker) forgets(program string, arg value, named bool, s *scope) {
	if slices.Contains([]string{"test", "[", "let", "shopt"}, program) || (program == "printf" || program == "wait") && !named {
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
			delete(s.vars, variableIn(name))
			if program == "unset" {
				delete(s.functions, name)
			}
		}
	}
}
