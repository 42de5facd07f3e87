package command

import (
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"mvdan.cc/sh/v3/syntax"
)

// quietly expands words without looking at their substitutions.
func (w *walker) quietly(words []*syntax.Word, s *scope) []value {
	aside := &walker{at: w.at, aside: true, loose: w.loose}
	values := make([]value, 0, len(words))
	for _, word := range words {
		values = append(values, aside.expand(word, s))
	}
	return values
}

// expand returns what a word may become, and notes what its substitutions do.
func (w *walker) expand(word *syntax.Word, s *scope) value {
	if word == nil {
		return literal("")
	}
	all := value{{exact: true}}
	for i, part := range word.Parts {
		all = product(all, w.part(part, i == 0, s))
	}
	if len(word.Parts) == 1 {
		if _, ok := word.Parts[0].(*syntax.Lit); ok {
			return braces(all)
		}
		return all
	}
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.ContainsRune(lit.Value, '{') && strings.ContainsAny(lit.Value, ",.") {
			all[0].exact = false // it may be several words
		}
	}
	return all
}

// fields is expand for a word that bash splits at spaces where it has variables
// outside quotes.
func (w *walker) fields(word *syntax.Word, s *scope) []value {
	v := w.expand(word, s)
	splits := slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		}
		return false
	})
	if !splits {
		return []value{v}
	}
	if len(word.Parts) == 1 && v.exact() {
		var all []value
		for _, field := range strings.Fields(v.text()) {
			p := v[0]
			p.text, p.glob = field, strings.ContainsAny(field, "*?[")
			all = append(all, value{p})
		}
		return all
	}
	v = slices.Clone(v)
	for i, p := range v {
		v[i].glob = p.glob || strings.ContainsAny(p.text, "*?[")
		if p.text == "" || strings.ContainsAny(p.text, " \t\n") {
			v[i].exact = false
		}
	}
	return []value{v}
}

func (w *walker) part(part syntax.WordPart, first bool, s *scope) value {
	switch p := part.(type) {
	case *syntax.Lit:
		return value{w.unquoted(p.Value, first)}
	case *syntax.SglQuoted:
		return value{{text: p.Value, exact: !p.Dollar || !strings.Contains(p.Value, `\`), odd: p.Dollar}}
	case *syntax.DblQuoted:
		return w.quoted(p, s)
	case *syntax.ParamExp:
		v := slices.Clone(w.parameter(p, s))
		for i := range v { // bash makes other words of some texts
			v[i].odd = v[i].odd || v[i].exact && (v[i].glob || !plainWord().MatchString(v[i].text))
		}
		return v
	case *syntax.CmdSubst:
		v := w.substitution(p.Stmts, s)
		v[0].odd = p.TempFile || p.ReplyVar || len(p.Stmts) == 0
		return v
	case *syntax.ProcSubst:
		w.reader.require(false)
		v := w.substitution(p.Stmts, s)
		v[0].exact, v[0].text = false, "<(…)"
		return v
	case *syntax.ArithmExp:
		w.substitutions(p.X, s)
		return value{{text: "$((…))"}}
	}
	return value{{text: unnamed}}
}

// quoted expands what is between double quotes.
func (w *walker) quoted(q *syntax.DblQuoted, s *scope) value {
	all := value{{exact: true, odd: q.Dollar}}
	for _, part := range q.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			odd := strings.Contains(part.Value, "\\\n") || strings.ContainsAny(withoutEscapes.Replace(part.Value), "$`")
			all = product(all, value{{text: doubleQuoted.Replace(part.Value), exact: true, odd: odd}})
		case *syntax.ParamExp:
			all = product(all, w.parameter(part, s))
		default:
			all = product(all, w.part(part, false, s))
		}
	}
	for i := range all {
		all[i].glob = all[i].glob && all[i].names && w.reader != nil
	}
	return all
}

var withoutEscapes = strings.NewReplacer(`\\`, "", `\$`, "", "\\`", "")

var doubleQuoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`", "\\\n", "")

// assigned matches what bash takes for the beginning of an assignment, also in an
// argument: a tilde behind it, or behind a colon of its value, is the home folder.
var assigned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=(.*:)?$`) })

// unquoted resolves what bash makes of characters without quotes.
func (w *walker) unquoted(text string, first bool) possible {
	p := possible{exact: true, odd: isOdd(text, first)}
	var b, pattern strings.Builder
	literal := func(s string) {
		b.WriteString(s)
		pattern.WriteString(escaped.Replace(s))
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			if i++; text[i] != '\n' {
				literal(text[i : i+1])
			}
		case c == '~' && i > 0 && first && assigned().MatchString(text[:i]) && (len(text) == i+1 || strings.ContainsRune("/:", rune(text[i+1]))) && w.at.Home != "":
			literal(w.at.Home) // dd of=~/file
		case c == '~' && i == 0 && first && (len(text) == 1 || text[1] == '/') && w.at.Home != "":
			literal(w.at.Home)
		case c == '~' && i == 0 && first:
			p.exact = false
			literal("~")
		case c == '*' || c == '?' || c == '[' && len(text) > 1:
			p.glob = true
			b.WriteByte(c)
			pattern.WriteByte(c)
		default:
			literal(text[i : i+1])
		}
	}
	if p.text = b.String(); p.glob {
		p.pattern = pattern.String()
	}
	return p
}

// isOdd reports whether characters without quotes mean something that is not accepted in a
// line that only reads.
func isOdd(text string, first bool) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i == len(text) || text[i] == '\n' || text[i] >= utf8.RuneSelf {
				return true
			}
		case strings.HasPrefix(text[i:], "{}"): // bash leaves it as it is
			i++
		case strings.IndexByte("[]{}$`\n", c) >= 0 && text != "[" && text != "]":
			return true
		case c == '~' && (i == 0 && first || i > 0 && (text[i-1] == '=' || text[i-1] == ':')):
			return true // a home folder, even in a word that looks like an assignment
		}
	}
	return false
}

// braces resolves {a,b} in a word without quotes; anything nested stays unknown.
func braces(v value) value {
	var all value
	for _, p := range v {
		from := strings.IndexByte(p.text, '{')
		to := strings.LastIndexByte(p.text, '}')
		if from >= 0 && to > from && strings.Contains(p.text[from:to], "..") && !strings.Contains(p.text[from:to], ",") {
			p.exact = false // {a..z}
		}
		if from < 0 || to < from || p.text == "{}" || !strings.ContainsAny(p.text[from:to], ",") {
			all = append(all, p)
			continue
		}
		inner := p.text[from+1 : to]
		if strings.ContainsAny(inner, "{}.") && !strings.Contains(inner, ",") || strings.ContainsAny(inner, "{}") {
			p.exact = false
			all = append(all, p)
			continue
		}
		for choice := range strings.SplitSeq(inner, ",") {
			one := p
			one.text = p.text[:from] + choice + p.text[to+1:]
			all = append(all, one)
		}
	}
	if len(all) > maxValues {
		all = append(all[:maxValues:maxValues], possible{text: unnamed})
	}
	return all
}

func (w *walker) parameter(p *syntax.ParamExp, s *scope) value {
	if p.Param == nil {
		return value{{text: "${…}"}}
	}
	name := p.Param.Value
	raw := value{{text: "$" + name}}
	w.within(p, s)
	known, ok := s.vars[name]
	if w.reader == nil && !w.loose.has(name) && p.Exp != nil {
		if v, is := changed(*p.Exp, known); is {
			return v
		}
	}
	if p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Length || p.Excl || p.Index != nil && name != "BASH_SOURCE" {
		raw[0].fetched = known.fetched()
		return raw
	}
	raw[0].any = slices.Contains(toldNames, nameOf(p))
	switch {
	case w.reader != nil && !ok:
		return raw
	case ok && w.reader == nil && w.loose.has(name):
		return either(known, raw)
	case ok:
		return known
	case name == "HOME" && w.at.Home != "":
		return literal(w.at.Home)
	case name == "PWD" && len(s.dirs) == 1:
		return literal(s.dirs[0])
	case name == "TMPDIR":
		return literal("/tmp")
	}
	return raw
}

// within looks at what the parts of ${…} do.
func (w *walker) within(p *syntax.ParamExp, s *scope) {
	if p.Exp == nil && p.Repl == nil && p.Slice == nil && p.Index == nil {
		return
	}
	if p.Exp != nil {
		v := w.expand(p.Exp.Word, s)
		switch p.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			w.steers(p.Param.Value, v)
			delete(s.vars, p.Param.Value)
		case syntax.OtherParamOps:
			if v.text() == "P" { // runs what its text has
				w.add(agent.EffectUnknown, "${"+p.Param.Value+"@P}")
			}
		}
	}
	if p.Repl != nil {
		w.expand(p.Repl.Orig, s)
		w.expand(p.Repl.With, s)
	}
	if p.Slice != nil {
		w.substitutions(p.Slice.Offset, s)
		w.substitutions(p.Slice.Length, s)
	}
	w.substitutions(p.Index, s)
}

// substitution looks at $(…), and returns what it becomes.
func (w *walker) substitution(stmts []*syntax.Stmt, s *scope) value {
	unknown := value{{text: "$(…)"}}
	if w.aside {
		return unknown
	}
	inside := s.inner()
	inside.depth++
	inside.input = input{}
	if inside.depth > maxDepth {
		w.add(agent.EffectTooLong)
		return unknown
	}
	end := w.reader.compound()
	w.list(stmts, inside)
	end()
	if w.reader != nil {
		unknown[0].any = true
		return unknown
	}
	for _, stmt := range stmts {
		unknown[0].fetched = unknown[0].fetched || w.fetches(stmt, s)
	}
	if len(stmts) != 1 || slices.ContainsFunc(stmts[0].Redirs, func(r *syntax.Redirect) bool { return r.N == nil || r.N.Value != "2" }) {
		return unknown
	}
	if b, ok := stmts[0].Cmd.(*syntax.BinaryCmd); ok {
		return folderAfter(w, b, unknown, s)
	}
	call, ok := stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return unknown
	}
	words := w.quietly(call.Args, s)
	switch line := join(words); {
	case !exact(words):
	case (line == "pwd" || line == "pwd -P") && len(s.dirs) == 1:
		return literal(s.dirs[0])
	case words[0].text() == "dirname":
		if rest, _ := operands(words[1:], ""); len(rest) == 1 {
			return literal(filepath.Dir(rest[0].text()))
		}
	case line == "git rev-parse --show-toplevel":
		return literal(w.at.Project)
	case words[0].text() == "mktemp" && !strings.Contains(line, "-p") && !strings.Contains(line, "/"):
		return literal("/tmp/" + "tmp.XXXXXXXXXX")
	case words[0].text() == "echo" && len(words) == 2 && !words[1].isOption():
		return words[1]
	}
	return unknown
}

// folderAfter returns the folder that $(cd FOLDER && pwd) prints.
func folderAfter(w *walker, b *syntax.BinaryCmd, unknown value, s *scope) value {
	call, ok := b.Y.Cmd.(*syntax.CallExpr)
	if b.Op != syntax.AndStmt || !ok || len(b.Y.Redirs) > 0 {
		return unknown
	}
	if line := join(w.quietly(call.Args, s)); line != "pwd" && line != "pwd -P" {
		return unknown
	}
	aside, inside := &walker{at: w.at, loose: w.loose, steps: w.steps}, s.inner() // its steps are noted already
	inside.depth++
	aside.stmt(b.X, inside)
	w.steps = aside.steps
	vague := slices.ContainsFunc(aside.effects, func(e agent.Effect) bool { return e.ID == agent.EffectUnknown })
	if len(inside.dirs) != 1 || vague {
		return unknown
	}
	return literal(inside.dirs[0])
}

// substitutions looks at the commands within an expression.
func (w *walker) substitutions(n syntax.Node, s *scope) {
	if n == nil || reflect.ValueOf(n).IsNil() {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n.Stmts, s)
			return false
		case *syntax.ProcSubst:
			w.substitution(n.Stmts, s)
			return false
		case *syntax.SglQuoted:
			if evaluated().MatchString(n.Value) {
				w.add(agent.EffectUnknown, n.Value)
			}
		}
		return true
	})
}

// assign notes variables. A variable that is set where it may be skipped may
// still have its old value.
func (w *walker) assign(assigns []*syntax.Assign, s *scope) {
	var options []value
	for _, a := range assigns {
		if a.Name == nil {
			if a.Value != nil {
				options = append(options, w.expand(a.Value, s))
				w.assignsBy("declare", options[len(options)-1:], s)
			}
			continue
		}
		name := a.Name.Value
		if a.Naked {
			continue
		}
		v := value{{text: "$" + name}}
		switch {
		case a.Array != nil || a.Index != nil || a.Append:
			w.substitutions(a, s)
		default:
			v = w.expand(a.Value, s)
			w.reader.require(len(v) == 1 && v[0].plain())
		}
		w.steers(name, v)
		if refers(options) {
			w.steers(v.text(), value{{text: unnamed}}) // another name for it
		}
		if old, ok := s.vars[name]; w.reader != nil {
			// what is around it forgets it
		} else if s.maybe && ok {
			v = either(old, v)
		} else if s.maybe {
			v = either(value{{text: "$" + name}}, v)
		}
		if named(changing, name) {
			v = value{{text: "$" + name}}
		}
		s.vars[name] = v
	}
}

// redirect looks at where a command's input comes from and its output goes to.
func (w *walker) redirect(r *syntax.Redirect, s *scope) *scope {
	if w.reader != nil {
		w.reader.redirects(r, w.expand(r.Word, s))
		return s
	}
	defer w.redirects(s)()
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		inside := *s
		v := w.expand(r.Hdoc, s)
		w.note(func(s *Step) { s.Args = append(s.Args, v.text()) })
		inside.input = input{piped: true, text: v.text(), literal: v.exact() || len(v) == 1 && v[0].exact, network: v.fetched()}
		return &inside
	case syntax.WordHdoc:
		inside := *s
		v := w.expand(r.Word, s)
		w.note(func(s *Step) { s.Args = append(s.Args, v.text()) })
		inside.input = input{piped: true, text: v.text(), literal: v.exact(), network: v.fetched()}
		return &inside
	case syntax.DplIn, syntax.DplOut:
		if v := w.expand(r.Word, s); r.Op == syntax.DplOut && strings.Trim(v.text(), "0123456789-") != "" {
			return w.output(v, s)
		}
		return s
	case syntax.RdrIn:
		inside := *s
		v := w.expand(r.Word, s)
		w.reads(v, s)
		inside.input = input{piped: true, network: v.fetched()}
		if v.exact() {
			inside.input.file = v.text()
		}
		return &inside
	case syntax.RdrInOut:
		v := w.expand(r.Word, s)
		w.reads(v, s)
		return w.output(v, s)
	default:
		return w.output(w.expand(r.Word, s), s)
	}
}

// output notes where output goes. A shell whose output is a connection is
// driven from there.
func (w *walker) output(v value, s *scope) *scope {
	v = slices.Clone(v)
	for i, p := range v {
		if p.text == "-" { // here it is a file
			v[i].text = "./-"
		}
	}
	w.writes(v, s)
	if !isConnection(v.text()) {
		return s
	}
	inside := *s
	inside.input = input{piped: true, network: true}
	return &inside
}
