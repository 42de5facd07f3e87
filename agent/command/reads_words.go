package command

import (
	"strings"
	"unicode/utf8"

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

// arguments returns the words of a simple command: the program and its
// arguments.
func (r *reader) arguments(s *syntax.Stmt) ([]word, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !harmlessAssigns(call.Assigns) {
		return nil, false
	}
	words := make([]word, 0, len(call.Args))
	for i, arg := range call.Args {
		says := i > 0 && words[0].text == "echo" && words[0].pattern == ""
		w, ok := r.literal(arg, says)
		if !ok {
			return nil, false
		}
		words = append(words, w)
	}
	return words, true
}

var escaped = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// literal resolves the quotes of a word; false where bash would put anything
// but names of files in the place of a part of it.
// says is for arguments of echo, in which more may stand, because nothing
// depends on what they are.
func (r *reader) literal(w *syntax.Word, says bool) (word, bool) {
	if w == nil {
		return word{}, false
	}
	var text, pattern strings.Builder
	globs := false
	quoted := func(s string) {
		text.WriteString(s)
		pattern.WriteString(escaped.Replace(s))
	}
	if len(w.Parts) == 1 {
		if p, ok := w.Parts[0].(*syntax.ProcSubst); ok {
			return word{text: "/dev/fd/63", output: true}, p.Op == syntax.CmdIn && len(p.Stmts) > 0 && r.several(p.Stmts)
		}
	}
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			ok, glob := unquoted(part.Value, i == 0, quoted, func(s string) { text.WriteString(s); pattern.WriteString(s) })
			if !ok {
				return word{}, false
			}
			globs = globs || glob
		case *syntax.SglQuoted:
			if part.Dollar {
				return word{}, false
			}
			quoted(part.Value)
		case *syntax.DblQuoted:
			ok, glob := r.doubleQuoted(part, says, quoted, func(s string) { pattern.WriteString(s) }, &text)
			if !ok {
				return word{}, false
			}
			globs = globs || glob
		case *syntax.ParamExp:
			value, known := r.values[nameOf(part)]
			switch {
			case known && plainWord().MatchString(value.text) && value.pattern == "":
				quoted(value.text)
			case says && r.saysOnly(part):
				quoted("$")
			default:
				return word{}, false
			}
		case *syntax.CmdSubst:
			if !says || !r.saysOnly(part) {
				return word{}, false
			}
			quoted("$")
		default:
			return word{}, false
		}
	}
	if !globs {
		return word{text: text.String()}, true
	}
	return word{text: text.String(), pattern: pattern.String()}, true
}

// unquoted passes on the characters of a part without quotes, as literal or
// with their meaning in a pattern; not ok where they mean anything else.
func unquoted(value string, first bool, literal, special func(string)) (ok, glob bool) {
	for i := 0; i < len(value); i++ {
		c := value[i]
		switch {
		case c == '\\':
			if i++; i == len(value) || value[i] == '\n' || value[i] >= utf8.RuneSelf {
				return false, false
			}
			literal(value[i : i+1])
		case c == '*' || c == '?':
			special(string(c))
			glob = true
		case strings.HasPrefix(value[i:], "{}"): // bash leaves it as it is
			literal("{}")
			i++
		case strings.IndexByte("[]{}$`\n", c) >= 0 && value != "[" && value != "]":
			return false, false
		case c == '~' && (i == 0 && first || i > 0 && (value[i-1] == '=' || value[i-1] == ':')):
			return false, false // a home folder, even in a word that looks like an assignment
		default:
			literal(value[i : i+1])
		}
	}
	return true, glob
}

// doubleQuoted passes on what is between double quotes. The value of a loop's
// variable may be a pattern.
func (r *reader) doubleQuoted(q *syntax.DblQuoted, says bool, quoted, special func(string), text *strings.Builder) (ok, glob bool) {
	if q.Dollar {
		return false, false
	}
	for _, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			s, ok := inDoubleQuotes(part.Value)
			if !ok {
				return false, false
			}
			quoted(s)
		case *syntax.ParamExp:
			value, known := r.values[nameOf(part)]
			switch {
			case known && value.pattern != "":
				text.WriteString(value.text)
				special(value.pattern)
				glob = true
			case known:
				quoted(value.text)
			case says && r.saysOnly(part):
				quoted("$")
			default:
				return false, false
			}
		case *syntax.CmdSubst:
			if !says || !r.saysOnly(part) {
				return false, false
			}
			quoted("$")
		default:
			return false, false
		}
	}
	return true, glob
}

func inDoubleQuotes(value string) (string, bool) {
	var text strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '\\' && i+1 < len(value) && strings.IndexByte("$`\"\\", value[i+1]) >= 0 {
			i++
			c = value[i]
		} else if c == '\\' && i+1 < len(value) && value[i+1] == '\n' || c == '$' || c == '`' {
			return "", false
		}
		text.WriteByte(c)
	}
	return text.String(), true
}
