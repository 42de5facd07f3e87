package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"mvdan.cc/sh/v3/syntax"
)

// calculations notes what the calculations of a script do besides: they set
// variables, and bash takes a text in them for an expression, in which an index of an
// array runs commands. Only numbers are certain not to.
func (w *walker) calculations(file *syntax.File) {
	w.texts.note(file)
	w.calculating(file, 0)
}

// calculating looks at the calculations below a node.
func (w *walker) calculating(n syntax.Node, depth int) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ArithmExp:
			w.expression(n.X, depth)
		case *syntax.ArithmCmd:
			w.expression(n.X, depth)
		case *syntax.LetClause:
			w.expressions(depth, n.Exprs...)
		case *syntax.CStyleLoop:
			w.expressions(depth, n.Init, n.Cond, n.Post)
		case *syntax.ArrayElem:
			w.expression(n.Index, depth)
		case *syntax.Assign:
			w.expression(n.Index, depth)
		case *syntax.ParamExp:
			w.indexed(n, depth)
		case *syntax.BinaryTest:
			if slices.Contains(calculatingTests, n.Op) {
				w.tested(n.X, depth)
				w.tested(n.Y, depth)
			}
		case *syntax.UnaryTest:
			if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
				w.tested(n.X, depth)
			}
		case *syntax.DeclClause:
			w.declared(n, depth)
		case *syntax.Redirect:
			if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
				w.steers(strings.Trim(n.N.Value, "{}"), value{{text: unnamed}})
			}
		case *syntax.CoprocClause:
			if n.Name != nil {
				w.steers(n.Name.Lit(), value{{text: unnamed}})
			}
		}
		return true
	})
}

// calculatingTests are the operators of [[ ]] that compare numbers.
var calculatingTests = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

func (w *walker) tested(x syntax.TestExpr, depth int) {
	if word, ok := x.(*syntax.Word); ok {
		w.operand(word.Parts, depth)
	}
}

// indexed looks at the calculations of an expansion. One that is indirect takes its
// value for a name, which may have an index.
func (w *walker) indexed(p *syntax.ParamExp, depth int) {
	w.expression(p.Index, depth)
	if p.Slice != nil {
		w.expressions(depth, p.Slice.Offset, p.Slice.Length)
	}
	if p.Excl && p.Names == 0 && p.Param != nil {
		w.variable(p.Param.Value)
	}
}

// declared looks at values of variables that are declared to be numbers.
func (w *walker) declared(d *syntax.DeclClause, depth int) {
	numbers := false
	for _, a := range d.Args {
		switch {
		case a.Value == nil:
		case a.Name == nil:
			numbers = numbers || strings.HasPrefix(a.Value.Lit(), "-") && strings.Contains(a.Value.Lit(), "i")
		case numbers:
			w.operand(a.Value.Parts, depth)
		}
	}
}

func (w *walker) expressions(depth int, all ...syntax.ArithmExpr) {
	for _, x := range all {
		w.expression(x, depth)
	}
}

func (w *walker) expression(x syntax.ArithmExpr, depth int) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if assigning(x.Op) {
			w.calculated(x.X)
		}
		w.expressions(depth, x.X, x.Y)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			w.calculated(x.X)
		}
		w.expression(x.X, depth)
	case *syntax.ParenArithm:
		w.expression(x.X, depth)
	case *syntax.Word:
		if text := x.Lit(); text != "@" && text != "*" { // all elements of an array
			w.operand(x.Parts, depth)
		}
	}
}

func assigning(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

// calculated notes that a variable is set to a number, which may be the name of a
// file.
func (w *walker) calculated(x syntax.ArithmExpr) {
	word, ok := x.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return
	}
	name := word.Lit()
	if element, ok := word.Parts[0].(*syntax.ParamExp); ok && element.Param != nil {
		name = element.Param.Value
	}
	w.steers(name, value{{text: unnamed}})
}

var (
	isName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	isNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^-?(0[xX][0-9A-Fa-f]+|[0-9]*|[0-9]+#[0-9A-Za-z@_]+)$`)
	})
)

// operand looks at a word in the place of a number.
func (w *walker) operand(parts []syntax.WordPart, depth int) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			w.evaluate(part.Value, depth)
		case *syntax.SglQuoted:
			w.evaluate(part.Value, depth)
		case *syntax.DblQuoted:
			w.operand(part.Parts, depth)
		case *syntax.ParamExp:
			if part.Param != nil && !part.Length {
				w.variable(part.Param.Value)
			}
			if part.Exp != nil && part.Exp.Word != nil {
				w.operand(part.Exp.Word.Parts, depth)
			}
		case *syntax.ArithmExp: // it is a number
		case *syntax.CmdSubst:
			if !printsNumber(part.Stmts) {
				w.add(agent.EffectUnknown, "$(( ))")
			}
		default:
			w.add(agent.EffectUnknown, "$(( ))")
		}
	}
}

// evaluate looks at a text that bash takes for an expression.
func (w *walker) evaluate(text string, depth int) {
	switch {
	case isName().MatchString(text):
		w.variable(text)
		return
	case isNumber().MatchString(text):
		return
	}
	file, ok := Parse("((" + text + "))")
	if !ok || depth >= maxDepth || len(file.Stmts) != 1 {
		w.add(agent.EffectUnknown, text)
		return
	}
	if c, ok := file.Stmts[0].Cmd.(*syntax.ArithmCmd); ok {
		w.calculating(c, depth+1)
		return
	}
	w.add(agent.EffectUnknown, text)
}

// variable looks at one whose value is evaluated.
func (w *walker) variable(name string) {
	if !w.texts.has(name) {
		return
	}
	if !isName().MatchString(name) { // $1
		name = "$" + name
	}
	w.add(agent.EffectUnknown, "$(("+name+"))")
}

// texts are variables that a line sets to something else than numbers it has written
// or calculated. Arguments of functions and scripts are among them.
type texts struct{ loose }

func (t *texts) has(name string) bool {
	return t.loose.has(name) || name == "@" || name == "*" || name != "0" && strings.Trim(name, "0123456789") == ""
}

func (t *texts) note(file *syntax.File) {
	t.add(nil)
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && (n.Array != nil || n.Value != nil && !isNumeric(n.Value)) {
				t.names[n.Name.Value] = true
			}
		case *syntax.WordIter:
			if len(n.Items) == 0 || slices.ContainsFunc(n.Items, func(item *syntax.Word) bool {
				return strings.Trim(item.Lit(), "0123456789{}.,-") != "" || item.Lit() == ""
			}) {
				t.names[n.Name.Value] = true
			}
		case *syntax.ParamExp:
			if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Exp.Word != nil && !isNumeric(n.Exp.Word) {
				t.names[n.Param.Value] = true
			}
		case *syntax.CallExpr:
			t.call(n)
		}
		return true
	})
}

// call adds what a builtin sets, to numbers or not.
func (t *texts) call(c *syntax.CallExpr) {
	builtin, names, all := setBy(c)
	if builtin == "unset" {
		return
	}
	t.all = t.all || all && builtin != "printf"
	for _, name := range names {
		t.names[name] = true
	}
}

// isNumeric reports whether a word is a number.
func isNumeric(word *syntax.Word) bool {
	return !slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.Lit:
			return !isNumber().MatchString(part.Value)
		case *syntax.SglQuoted:
			return !isNumber().MatchString(part.Value)
		case *syntax.DblQuoted:
			return !isNumeric(&syntax.Word{Parts: part.Parts})
		case *syntax.ParamExp:
			return !part.Length && (part.Param == nil || !slices.Contains([]string{"#", "?", "$", "!", "RANDOM", "SECONDS"}, part.Param.Value))
		case *syntax.CmdSubst:
			return !printsNumber(part.Stmts)
		case *syntax.ArithmExp:
			return false
		}
		return true
	})
}

// printsNumber reports whether what statements print is a number, whatever files say.
func printsNumber(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	if b, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok && b.Op == syntax.Pipe {
		return printsNumber([]*syntax.Stmt{b.Y})
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return false
	}
	var args []string
	for _, word := range c.Args {
		args = append(args, word.Lit())
	}
	switch strings.Join(args, " ") {
	case "nproc", "date +%s", "id -u", "id -g", "wc -l", "wc -c", "wc -w", "wc -m":
		return true
	}
	return false
}
