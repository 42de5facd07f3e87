package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Limits of a line that only reads: how many values a loop has, and how deep commands are
// within others.
const (
	maxLoop   = 20
	maxWithin = 8
)

// reader collects what a line reads while a walker walks it. Without one, a walker collects
// effects.
type reader struct {
	Reading
	fails          bool // a part may do more
	commands       int  // that run, in a loop as often as it has values
	and, sometimes bool // there is a && or a ||
	times          int  // how often the commands of this list run
	or, within     int  // how many || of this list, and commands, there are around
	gitDir         string
	here           bool             // a command reads in the folder of the line
	enters         *syntax.CallExpr // the change to Dir
	last           stage            // the command that was read last
}

// stage is a command of a pipeline.
type stage struct {
	reading
	simple  bool // it is one command and no compound one
	printed bool // no redirection takes its output away
}

// require fails unless a condition holds; nil, which collects nothing, requires nothing.
func (r *reader) require(ok bool) {
	if r != nil {
		r.fails = r.fails || !ok
	}
}

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

func plain(s *syntax.Stmt) bool {
	return s.Cmd != nil && !s.Background && !s.Coprocess && !s.Disown
}

// leadingFolder returns the folder to which a line changes first, on which all that follows
// depends, and the command that does it; nil if there is none.
func leadingFolder(s *syntax.Stmt) (string, *syntax.CallExpr) {
	for b, ok := s.Cmd.(*syntax.BinaryCmd); ok; b, ok = s.Cmd.(*syntax.BinaryCmd) {
		if b.Op != syntax.AndStmt {
			return "", nil
		}
		if call, is := b.X.Cmd.(*syntax.CallExpr); is {
			if len(call.Assigns) > 0 || len(b.X.Redirs) > 0 || b.X.Negated || len(call.Args) != 2 || call.Args[0].Lit() != "cd" {
				return "", nil
			}
			words, known := (&walker{reader: &reader{times: 1}}).choices(call.Args[1], false, &scope{})
			if !known || len(words) != 1 || !words[0].isValue() || !isPath(words[0].text) || strings.HasPrefix(words[0].text, "-") {
				return "", nil
			}
			return words[0].text, call
		}
		s = b.X
	}
	return "", nil
}

// stmtReads is stmt for a line of which is asked what it reads.
func (w *walker) stmtReads(stmt *syntax.Stmt, s *scope) {
	r := w.reader
	if r.statement(stmt); r.fails {
		return
	}
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	switch stmt.Cmd.(type) {
	case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.TestClause:
	default:
		defer r.compound()()
		s = s.inner()
		s.input.staged = false
	}
	for _, redirect := range stmt.Redirs {
		w.redirect(redirect, s)
	}
	switch {
	case simple && len(call.Args) > 0:
		w.callReads(call, s)
	case simple:
		r.sets(call.Assigns, s)
		w.assign(call.Assigns, s)
	default:
		w.command(stmt, s)
	}
	if simple && !s.input.staged {
		r.ends(r.last)
	}
}

// statement looks at a statement before its parts.
func (r *reader) statement(s *syntax.Stmt) {
	r.require(plain(s))
	r.sometimes = r.sometimes || s.Negated
	r.last = stage{printed: true}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			r.require(len(s.Redirs) == 0 && !s.Negated && r.or == 0)
		}
	case *syntax.BinaryCmd:
		r.require(len(s.Redirs) == 0 && (c.Op == syntax.Pipe || !s.Negated))
	case *syntax.TimeClause:
		r.require(c.Stmt != nil && !c.PosixFormat && !beginsWithOption(c.Stmt))
	case *syntax.ForClause:
		items, ok := c.Loop.(*syntax.WordIter)
		r.require(ok && !c.Select && len(items.Items) > 0 && len(items.Items) <= maxLoop)
	case *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.TestClause:
	default:
		r.require(false)
	}
}

// beginsWithOption reports whether the word time is a program's name, because
// bash knows no option of it but -p.
func beginsWithOption(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && strings.HasPrefix(call.Args[0].Lit(), "-")
}

// compound notes that statements begin of which some may not run. The returned function
// ends them.
func (r *reader) compound() (end func()) {
	if r == nil {
		return func() {}
	}
	or, times := r.or, r.times
	r.sometimes, r.or = true, 0
	r.within++
	r.require(r.within <= maxWithin)
	return func() { r.within, r.or, r.times, r.last = r.within-1, or, times, stage{} }
}

// redirects looks at where a command's input comes from and its output goes: files are only
// read, and output is only thrown away or joined.
func (r *reader) redirects(redirect *syntax.Redirect, v value) {
	if r == nil {
		return
	}
	from, to := "", v.text()
	if redirect.N != nil {
		from = redirect.N.Value
	}
	r.require(len(v) == 1 && v[0].plain() && redirect.Hdoc == nil)
	switch redirect.Op {
	case syntax.RdrOut, syntax.RdrAll:
		r.require(to == "/dev/null" && (from == "" || from == "1" || from == "2"))
		r.last.printed = r.last.printed && from == "2"
	case syntax.DplOut:
		r.require(from == "2" && to == "1" || (from == "" || from == "1") && to == "2")
	case syntax.RdrIn:
		r.require((from == "" || from == "0") && isPath(to) && !strings.HasPrefix(to, "/dev/")) // some are connections
		r.Paths, r.here = append(r.Paths, to), true
		r.last.printed = false // the text has no name in Files
	default:
		r.require(false)
	}
}

// sets looks at variables that a command of its own sets.
func (r *reader) sets(assigns []*syntax.Assign, s *scope) {
	r.require(len(assigns) == len(slices.CompactFunc(slices.Clone(assigns), func(a, b *syntax.Assign) bool {
		return a.Name != nil && b.Name != nil && a.Name.Value == b.Name.Value
	})))
	for _, a := range assigns {
		r.require(a.Name != nil && a.Value != nil && !a.Append && !a.Naked && a.Index == nil && a.Array == nil)
		if a.Name != nil {
			r.setsOnce(a.Name.Value, s)
		}
	}
}

// setsOnce requires that a variable has no value yet: what it has after a loop or a
// condition would be uncertain.
func (r *reader) setsOnce(name string, s *scope) {
	if r != nil {
		_, known := s.vars[name]
		r.require(!known && variableName().MatchString(name))
	}
}

// call reads a simple command.
func (w *walker) callReads(c *syntax.CallExpr, s *scope) {
	r, before := w.reader, w.reader.last
	if r.commands += r.times; r.commands > maxCommands || !harmlessAssigns(c.Assigns) {
		r.fails = true
	}
	if c == r.enters || r.fails {
		return
	}
	lines := [][]word{nil} // one for each value of the variables
	for i, arg := range c.Args {
		choices, ok := w.choices(arg, i > 0 && lines[0][0].text == "echo" && lines[0][0].pattern == "", s)
		if r.require(ok && len(lines)*len(choices) <= maxCommands); r.fails {
			return
		}
		var all [][]word
		for _, line := range lines {
			for _, choice := range choices {
				all = append(all, append(slices.Clip(line), choice))
			}
		}
		lines = all
	}
	r.last = stage{simple: true, printed: before.printed}
	for i, words := range lines {
		found, ok := judgeAfter(words, s.input.names)
		r.require(ok && r.add(found))
		if i == 0 {
			r.last.reading = found
			continue
		}
		names := &r.last.lists
		r.require(names.zero == found.lists.zero)
		if names.name != found.lists.name {
			names.name = ""
		}
		names.trees, names.bare, names.index = append(names.trees, found.lists.trees...), names.bare || found.lists.bare, names.index || found.lists.index
		r.last.filters = r.last.filters && found.filters
	}
}

// choices returns what an argument may be. Says is for arguments of echo, in which more may
// stand, because nothing depends on what they are.
func (w *walker) choices(arg *syntax.Word, says bool, s *scope) ([]word, bool) {
	if len(arg.Parts) == 1 {
		if p, ok := arg.Parts[0].(*syntax.ProcSubst); ok {
			w.substitution(p.Stmts, s)
			return []word{{text: "/dev/fd/63", output: true}}, p.Op == syntax.CmdIn && len(p.Stmts) > 0
		}
	}
	var all []word
	for _, p := range w.expand(arg, s) {
		switch {
		case p.odd || !p.exact && !(says && p.any):
			return nil, false
		case p.glob:
			all = append(all, word{text: p.text, pattern: p.pattern})
		default:
			all = append(all, word{text: p.text})
		}
	}
	return all, true
}

// loops looks at the values of a loop's variable. Those of patterns are names that are found.
func (r *reader) loops(name string, values value, s *scope) {
	if r == nil {
		return
	}
	r.setsOnce(name, s)
	r.times *= len(values)
	for i, p := range values {
		r.require(p.exact && !p.odd)
		if p.glob {
			values[i].names = true
			r.Patterns, r.here = append(r.Patterns, p.pattern), true
		}
	}
}

// joins notes that commands are joined by && or ||. The returned function ends them.
func (r *reader) joins(c *syntax.BinaryCmd) (end func()) {
	if r == nil {
		return func() {}
	}
	r.and = true
	before := r.or
	for b := c; b != nil; b, _ = b.X.Cmd.(*syntax.BinaryCmd) {
		if b.Op == syntax.OrStmt {
			r.sometimes = true
			r.or++
		}
	}
	return func() { r.or = before }
}

// pipeReads reads the commands of a pipeline, each of which may take the names that the one
// before it lists.
func (w *walker) pipeReads(c *syntax.BinaryCmd, s *scope) {
	var names nameList
	var stages []stage
	for b := c; b != nil; b, _ = b.X.Cmd.(*syntax.BinaryCmd) {
		w.reader.require(b.Op == syntax.Pipe)
	}
	for _, part := range pipeline(c, nil) {
		inside := s.inner()
		inside.input = input{names: names, staged: true}
		if call, ok := part.Cmd.(*syntax.CallExpr); ok {
			w.reader.require(len(call.Args) > 0)
		}
		w.stmt(part, inside)
		names, stages = w.reader.piped(names), append(stages, w.reader.last)
	}
	w.reader.ends(stages...)
	w.reader.last = stage{}
}

// piped returns the names that a stage of a pipeline passes on.
func (r *reader) piped(names nameList) nameList {
	switch {
	case r == nil || !r.last.simple:
		return nameList{}
	case r.last.filters && len(r.last.lists.trees) == 0:
		return names.through(r.last.reading)
	}
	return r.last.lists
}

// ends notes the text that a pipeline prints, if it is some file's text, or nothing.
func (r *reader) ends(stages ...stage) {
	var files []string
	for i, c := range stages {
		if !c.simple || !c.prints || !c.printed || i > 0 && len(c.files) > 0 {
			return
		}
		files = append(files, c.files...)
	}
	r.Files = append(r.Files, files...)
}

func (r *reader) add(c reading) bool {
	if c.program != "" {
		r.Programs = append(r.Programs, c.program)
	}
	r.Programs = append(r.Programs, c.also...)
	r.Perhaps = append(r.Perhaps, c.perhaps...)
	r.Paths = append(r.Paths, c.paths...)
	r.Patterns = append(r.Patterns, c.patterns...)
	r.Trees = append(r.Trees, c.trees...)
	r.Handed = append(r.Handed, c.handed...)
	r.Hidden = r.Hidden || c.hidden
	r.Tracked = r.Tracked || c.tracked
	r.Listings = append(r.Listings, c.listings...)
	r.Present = append(r.Present, c.present...)
	r.Git, r.Remotes = r.Git || c.program == "git" || c.git, r.Remotes || c.remotes
	switch {
	case c.dir != "" && r.gitDir != "" && r.gitDir != c.dir:
		return false
	case c.dir != "":
		r.gitDir = c.dir
	case len(c.paths)+len(c.patterns)+len(c.trees)+len(c.handed) > 0 || c.program == "git":
		r.here = true
	}
	return true
}
