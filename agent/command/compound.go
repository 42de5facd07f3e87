package command

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxLoop limits how many values a loop has, maxWithin how deep commands are
// within others.
const (
	maxLoop   = 20
	maxWithin = 8
)

// unwrapped returns the statements of a line that is nothing but a group.
func unwrapped(stmts []*syntax.Stmt) []*syntax.Stmt {
	for len(stmts) == 1 && len(stmts[0].Redirs) == 0 && plain(stmts[0]) {
		switch c := stmts[0].Cmd.(type) {
		case *syntax.Subshell:
			stmts = c.Stmts
		case *syntax.Block:
			stmts = c.Stmts
		default:
			return stmts
		}
	}
	return stmts
}

// compound reads a command that consists of others. It reports whether s is
// one, and whether all of them only read.
func (r *reader) compound(s *syntax.Stmt) (reads, is bool) {
	switch c := s.Cmd.(type) {
	case *syntax.Subshell:
		return r.several(c.Stmts), true
	case *syntax.Block:
		return r.several(c.Stmts), true
	case *syntax.TimeClause:
		return c.Stmt != nil && !c.PosixFormat && !beginsWithOption(c.Stmt) && r.several([]*syntax.Stmt{c.Stmt}), true
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			if !r.several(c.Cond) || !r.several(c.Then) {
				return false, true
			}
		}
		return true, true
	case *syntax.ForClause:
		return r.loop(c), true
	case *syntax.TestClause:
		return r.test(c.X), true
	}
	return false, false
}

// beginsWithOption reports whether the word time is a program's name, because
// bash knows no option of it but -p.
func beginsWithOption(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && strings.HasPrefix(call.Args[0].Lit(), "-")
}

// several reads statements of which some may not run.
func (r *reader) several(stmts []*syntax.Stmt) bool {
	r.sometimes = true
	r.depth++
	outer := r.values
	defer func() { r.depth, r.values = r.depth-1, outer }()
	if r.depth > maxWithin {
		return false
	}
	for _, s := range stmts {
		if !r.list(s, false) {
			return false
		}
	}
	return true
}

// set gives a variable a value for what follows. It reports false if the
// variable has one already: what it has after a loop or a condition would be
// uncertain.
func (r *reader) set(name string, value word) bool {
	if _, known := r.values[name]; known || !variableName().MatchString(name) {
		return false
	}
	values := maps.Clone(r.values)
	if values == nil {
		values = map[string]word{}
	}
	values[name] = value
	r.values = values
	return true
}

// assignment reads a command that only gives values to variables. It reports
// whether s is one, and whether all the values are known.
func (r *reader) assignment(s *syntax.Stmt) (known, is bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false, false
	}
	for _, a := range call.Assigns {
		if a.Name == nil || a.Append || a.Naked || a.Index != nil || a.Array != nil {
			return false, true
		}
		value, ok := r.literal(a.Value, false)
		if !ok || value.pattern != "" || !r.set(a.Name.Value, value) {
			return false, true
		}
	}
	return len(s.Redirs) == 0 && !s.Negated, true
}

// loop reads the body of a loop over words once for each of them.
func (r *reader) loop(c *syntax.ForClause) bool {
	words, ok := c.Loop.(*syntax.WordIter)
	if !ok || c.Select || len(words.Items) == 0 || len(words.Items) > maxLoop {
		return false
	}
	values := make([]word, 0, len(words.Items))
	for _, item := range words.Items {
		value, ok := r.literal(item, false)
		if !ok {
			return false
		}
		values = append(values, value)
	}
	outer := r.values
	defer func() { r.values = outer }()
	for _, value := range values {
		r.values = outer
		if !r.set(words.Name.Value, value) {
			return false
		}
		if value.pattern != "" {
			r.Patterns, r.here = append(r.Patterns, value.pattern), true
		}
		if !r.several(c.Do) {
			return false
		}
	}
	return true
}

var (
	// variableName matches variables that nothing else looks at.
	variableName = lazily(`^[a-z][a-z0-9_]*$`)
	// plainWord matches values of which bash makes one word without quotes.
	plainWord = lazily(`^[A-Za-z0-9_./:@%+,-]+$`)
)

// nameOf returns the name of a variable that is used as it is, or none.
func nameOf(p *syntax.ParamExp) string {
	if p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil || p.Length || p.Excl || p.Width || p.Names != 0 {
		return ""
	}
	return p.Param.Value
}

// toldNames are variables whose values are not secret.
var toldNames = strings.Fields("? # $ HOME PWD OLDPWD USER LOGNAME SHELL PATH LANG TERM HOSTNAME UID EUID PPID SECONDS RANDOM LINENO BASH_VERSION OSTYPE HOSTTYPE MACHTYPE GOPATH GOROOT")

// saysOnly reports whether a part of what echo prints only reads.
func (r *reader) saysOnly(part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return slices.Contains(toldNames, nameOf(part))
	case *syntax.CmdSubst:
		return !part.TempFile && !part.ReplyVar && len(part.Stmts) > 0 && r.several(part.Stmts)
	}
	return false
}

// tests are those of bash that look at files and texts only. The others
// calculate, and may run what is in a text.
var tests = []syntax.UnTestOperator{
	syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsSmbLink, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty, syntax.TsEmpStr, syntax.TsNempStr,
}

// test reads an expression of [[ ]].
func (r *reader) test(x syntax.TestExpr) bool {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return r.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return r.test(x.X)
		}
		if !slices.Contains(tests, x.Op) {
			return false
		}
		if x.Op != syntax.TsEmpStr && x.Op != syntax.TsNempStr {
			return r.tested(x.X, true)
		}
		return r.tested(x.X, false)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			return r.test(x.X) && r.test(x.Y)
		case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
			return r.tested(x.X, false) && r.tested(x.Y, false)
		}
		return false
	case *syntax.Word:
		return r.tested(x, false)
	}
	return false
}

// tested reads a word of an expression, which may be a file.
func (r *reader) tested(x syntax.TestExpr, file bool) bool {
	w, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	value, ok := r.literal(w, !file)
	if !ok || !file {
		return ok
	}
	if !isPath(value.text) {
		return false
	}
	if value.pattern != "" {
		r.Patterns = append(r.Patterns, value.pattern)
	} else {
		r.Paths = append(r.Paths, value.text)
	}
	r.here = true
	return true
}

// harmlessAssigns reports whether variables in front of a command decide no more
// than how it prints.
func harmlessAssigns(assigns []*syntax.Assign) bool {
	for _, a := range assigns {
		if a.Name == nil || a.Value == nil || a.Append || a.Index != nil || a.Array != nil || !harmlessNames().MatchString(a.Name.Value) {
			return false
		}
		if text := a.Value.Lit(); text == "" && len(a.Value.Parts) > 0 || !harmlessValue().MatchString(text) || strings.HasSuffix(a.Name.Value, "PAGER") && text != "cat" {
			return false
		}
	}
	return true
}

var (
	harmlessNames = lazily(`^(LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|GIT_PAGER|PAGER|CI)$`)
	// harmlessValue has no path in it, and as a pager only the one that prints.
	harmlessValue = lazily(`^(cat|[0-9]*|true|false|dumb|C|POSIX|[Cc]\.(UTF|utf)-?8|[a-z]{2}_[A-Z]{2}(\.(UTF|utf)-?8)?|UTC|GMT|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+)$`)
)
