package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is an argument as the program gets it, or the pattern that bash
// makes several of.
type word struct {
	text    string
	pattern string // empty unless bash looks for names
	handed  bool   // it stands for names that another command lists
	output  bool   // it stands for the output of commands, as a file
}

// isValue reports whether a word can be the value of an option, or a script: it is
// known.
func (w word) isValue() bool { return w.pattern == "" && !w.handed && !w.output }

// isPath reports whether a path can be resolved by its text and the links on
// its way: ".." would leave the folder that a link leads to, not the one it is in.
func isPath(text string) bool {
	return text != "" && !slices.Contains(strings.Split(text, "/"), "..")
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

// tests are those of bash that look at files and texts only. The others
// calculate, and may run what is in a text.
var tests = []syntax.UnTestOperator{
	syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsSmbLink, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty, syntax.TsEmpStr, syntax.TsNempStr,
}

// test reads an expression of [[ ]].
func (w *walker) test(x syntax.TestExpr, s *scope) bool {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return w.test(x.X, s)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return w.test(x.X, s)
		}
		return slices.Contains(tests, x.Op) && w.testReads(x.X, x.Op != syntax.TsEmpStr && x.Op != syntax.TsNempStr, s)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			return w.test(x.X, s) && w.test(x.Y, s)
		case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
			return w.testReads(x.X, false, s) && w.testReads(x.Y, false, s)
		}
	case *syntax.Word:
		return w.testReads(x, false, s)
	}
	return false
}

// testReads reads a word of an expression, which may be a file.
func (w *walker) testReads(x syntax.TestExpr, file bool, s *scope) bool {
	arg, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	words, ok := w.choices(arg, !file, s)
	if !ok || !file {
		return ok
	}
	r := w.reader
	for _, one := range words {
		switch {
		case !isPath(one.text):
			return false
		case one.pattern != "":
			r.Patterns = append(r.Patterns, one.pattern)
		default:
			r.Paths = append(r.Paths, one.text)
		}
		r.here = true
	}
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
