package command

import (
	"maps"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"mvdan.cc/sh/v3/syntax"
)

// Place is where a line would run.
type Place struct {
	Dir     string // the folder in which it runs, absolute
	Project string // the project's folder, absolute and without links
	Home    string // the user's home folder, absolute; empty if it is unknown
	// Vars are variables of its surroundings that are known. "0" and BASH_SOURCE are the
	// path of the script that the line stands in.
	Vars map[string]string
	// Resolve follows the links of an absolute path, which may have "..". Exists reports whether there
	// is a file of such a path. Each may be nil; without Exists no file is looked at.
	Resolve func(path string) string
	Exists  func(path string) bool
	// Stopped reports that nobody waits for the answer any more: what follows is not looked at.
	// It may be nil.
	Stopped func() bool
}

// Limits of what is looked at. Beyond them nothing can be told.
const (
	maxSteps  = 5000 // commands
	maxDepth  = 8    // lines within lines
	maxText   = 32 << 10
	maxValues = 20 // of one word
	maxLooked = 16 * maxText
)

// Of returns what a line of bash would do. The effects are in no particular
// order, and one may be there repeatedly.
func Of(line string, at Place) []agent.Effect { return (&walker{at: at}).all(line) }

func (w *walker) all(line string) []agent.Effect {
	if Hides(line) {
		w.add(agent.EffectHidden)
	}
	w.script(line, &scope{dirs: []string{w.at.Dir}, vars: w.at.vars(), functions: map[string]bool{}})
	w.now = nil
	has := func(ids ...agent.EffectID) bool {
		return slices.ContainsFunc(w.effects, func(e agent.Effect) bool { return slices.Contains(ids, e.ID) })
	}
	if has(agent.EffectSecrets) && has(agent.EffectNetwork, agent.EffectSends) {
		w.add(agent.EffectLeaks)
	}
	if len(w.effects) == 0 {
		w.add(agent.EffectReads)
	}
	return w.withoutRepeats()
}

// vars returns the variables with which a shell begins.
func (at Place) vars() map[string]value {
	vars := make(map[string]value, len(at.Vars))
	for name, text := range at.Vars {
		vars[name] = literal(text)
	}
	return vars
}

// withoutRepeats leaves out what a graver effect says of the same host or file.
func (w *walker) withoutRepeats() []agent.Effect {
	graver := map[agent.EffectID]agent.EffectID{agent.EffectNetwork: agent.EffectSends, agent.EffectChanges: agent.EffectControls}
	said := map[string]bool{}
	for _, e := range w.effects {
		said[string(e.ID)+"\x00"+strings.Join(e.Args, "\x00")] = true
	}
	return slices.DeleteFunc(w.effects, func(e agent.Effect) bool {
		instead, ok := graver[e.ID]
		return ok && len(e.Args) > 0 && said[string(instead)+"\x00"+strings.Join(e.Args, "\x00")]
	})
}

// walker collects the effects of a line. Each command that it passes adds an
// effect, or is known to only read.
type walker struct {
	at      Place
	effects []agent.Effect
	steps   int
	looked  int     // bytes that were read as lines that may only read
	aside   bool    // looks at words only
	reader  *reader // what the line reads is asked for, and not its effects
	// fetched are paths that the line itself takes from the network.
	fetched []string
	// loose are variables whose value cannot be told, because the line changes
	// them in a function, a loop or a way that is not followed.
	loose loose
	texts texts
	// trace are the steps so far, and now is the one that runs; nil if nobody
	// asked for them.
	trace []*Step
	now   *Step
}

func (w *walker) add(id agent.EffectID, args ...string) {
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "" || arg == unnamed })
	w.effects = append(w.effects, agent.Effect{ID: id, Args: args})
	if w.now != nil {
		w.now.Effects = append(w.now.Effects, agent.Effect{ID: id, Args: args})
	}
}

// scope is what bash knows at a place of a line.
type scope struct {
	dirs      []string // where it may be
	vars      map[string]value
	functions map[string]bool
	depth     int
	maybe     bool // this part may be skipped
	strict    bool // set -e: a failure ends it
	input     input
}

// input is what a command reads as its standard input.
type input struct {
	piped   bool
	network bool   // it comes from the network
	text    string // it is this text, if literal is set
	literal bool
	file    string // it is this file
	named   bool   // it is a list of ordinary files of the project
	names   nameList
	staged  bool // it is that of a stage of a pipeline
}

func (s *scope) inner() *scope {
	c := *s
	c.dirs, c.vars, c.functions = slices.Clone(s.dirs), maps.Clone(s.vars), maps.Clone(s.functions)
	return &c
}

// script looks at a text that is run as a script.
func (w *walker) script(text string, s *scope) {
	if s.depth >= maxDepth || len(text) > maxText {
		w.add(agent.EffectTooLong)
		return
	}
	file, ok := Parse(text)
	if !ok {
		w.now.noteUnread(text)
		w.add(agent.EffectUnknown)
		return
	}
	inside := *s
	inside.depth++
	w.loose.note(file)
	w.calculations(file)
	w.list(file.Stmts, &inside)
	s.dirs, s.strict = inside.dirs, inside.strict
}

// list looks at statements that follow each other. After one that changes the
// folder, the rest runs in either, unless a failure would end the line.
func (w *walker) list(stmts []*syntax.Stmt, s *scope) {
	for _, stmt := range stmts {
		before, vars, functions := s.dirs, s.vars, s.functions
		b, ok := stmt.Cmd.(*syntax.BinaryCmd)
		inPart := ok && b.Op == syntax.AndStmt // it may end before it has set what it sets
		if inPart {
			s.vars, s.functions = maps.Clone(vars), maps.Clone(functions)
		}
		w.stmt(stmt, s)
		if inPart {
			s.vars, s.functions = eitherOf(vars, s.vars), functions
		}
		if !slices.Equal(before, s.dirs) && !s.strict && !endsOnFailure(stmt) {
			s.dirs = atMost(append(slices.Clone(s.dirs), before...))
		}
	}
}

// eitherOf returns variables that have their value of before or after.
func eitherOf(before, after map[string]value) map[string]value {
	for name, v := range after {
		switch old, ok := before[name]; {
		case !ok:
			after[name] = either(value{{text: "$" + name}}, v)
		case !slices.Equal(old, v):
			after[name] = either(old, v)
		}
	}
	return after
}

// endsOnFailure reports whether a statement is of the form "… || exit".
func endsOnFailure(stmt *syntax.Stmt) bool {
	b, ok := stmt.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op != syntax.OrStmt {
		return false
	}
	call, ok := b.Y.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && (call.Args[0].Lit() == "exit" || call.Args[0].Lit() == "return")
}

func atMost(dirs []string) []string {
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if len(dirs) > maxValues {
		dirs = dirs[:maxValues]
	}
	return dirs
}

// step counts what is looked at. It reports false beyond the limit.
func (w *walker) step() bool {
	w.steps++
	if w.at.Stopped != nil && w.steps <= maxSteps && w.at.Stopped() {
		w.steps = maxSteps + 1
	}
	if w.steps == maxSteps+1 {
		w.add(agent.EffectTooLong)
		w.reader.require(false)
	}
	return w.steps <= maxSteps && (w.reader == nil || !w.reader.fails)
}

func (w *walker) stmt(stmt *syntax.Stmt, s *scope) {
	if !w.step() {
		return
	}
	if stmt.Background {
		s = s.inner()
	}
	if w.reader != nil {
		w.stmtReads(stmt, s)
		return
	}
	defer func(outer *scope) { // a redirection has an input of its own, and nothing else
		outer.dirs, outer.vars, outer.functions, outer.strict = s.dirs, s.vars, s.functions, s.strict
	}(s)
	for _, r := range stmt.Redirs {
		s = w.redirect(r, s)
		if r.Op != syntax.RdrIn && r.Word != nil && (s.input.network || w.fetches(stmt.Cmd, s)) {
			if file := w.quietly([]*syntax.Word{r.Word}, s)[0]; file.exact() {
				w.fetched = append(w.fetched, w.paths(file[0], s)...)
			}
		}
	}
	w.command(stmt, s)
}

// command looks at what a statement runs.
func (w *walker) command(stmt *syntax.Stmt, s *scope) {
	switch c := stmt.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.BinaryCmd:
		w.binary(c, s)
	case *syntax.Subshell:
		w.list(c.Stmts, s.inner())
	case *syntax.Block:
		w.list(c.Stmts, s)
	case *syntax.IfClause:
		w.branch(c, s)
	case *syntax.WhileClause:
		w.list(c.Cond, s)
		w.repeated(c.Do, s)
	case *syntax.ForClause:
		w.loop(c, s)
	case *syntax.CaseClause:
		w.expand(c.Word, s)
		for _, item := range c.Items {
			for _, pattern := range item.Patterns {
				w.expand(pattern, s)
			}
			w.perhaps(item.Stmts, s)
		}
	case *syntax.FuncDecl:
		w.function(c, s)
	case *syntax.DeclClause:
		w.assign(c.Args, s)
	case *syntax.TimeClause:
		w.timed(c, s)
	case *syntax.CoprocClause:
		if stmt := beside(c); assigns(stmt) { // arguments that the parser takes for variables
			w.add(agent.EffectUnknown, "coproc")
		} else {
			w.stmt(stmt, s.inner())
		}
		if c.Name != nil { // it is unset when the coprocess ends
			delete(s.vars, c.Name.Lit())
		}
	case *syntax.TestClause:
		if w.reader != nil {
			w.reader.require(w.test(c.X, s))
			return
		}
		w.substitutions(c, s)
	case *syntax.ArithmCmd, *syntax.LetClause:
		w.substitutions(c, s)
	default:
		w.add(agent.EffectUnknown)
	}
}

// perhaps looks at statements that may be skipped.
func (w *walker) perhaps(stmts []*syntax.Stmt, s *scope) {
	before, was := s.dirs, s.maybe
	s.maybe = true
	w.list(stmts, s)
	s.maybe = was
	s.dirs = atMost(append(slices.Clone(s.dirs), before...))
}

func (w *walker) branch(c *syntax.IfClause, s *scope) {
	for ; c != nil; c = c.Else {
		if w.reader != nil { // no part knows the variables of another
			w.list(c.Cond, s.inner())
			w.list(c.Then, s.inner())
			continue
		}
		w.list(c.Cond, s)
		w.perhaps(c.Then, s)
	}
}

func (w *walker) loop(c *syntax.ForClause, s *scope) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		var all value
		for _, item := range l.Items {
			for _, word := range w.fields(item, s) {
				all = either(all, word)
			}
		}
		if len(l.Items) == 0 {
			all = value{{text: "$" + l.Name.Value}}
		}
		w.steers(l.Name.Value, all)
		w.reader.loops(l.Name.Value, all, s)
		s.vars[l.Name.Value] = all
	default:
		w.substitutions(c.Loop, s)
	}
	w.repeated(c.Do, s)
}

// function looks at the body as if it ran, because it will. The arguments of
// its calls are not known.
func (w *walker) function(c *syntax.FuncDecl, s *scope) {
	if c.Name == nil { // the parser takes what bash does not
		w.now.noteUnread("()")
		w.add(agent.EffectUnknown)
		return
	}
	// One that may not be there is not the line's own, and neither is a path,
	// which other shells take for a file.
	if !s.maybe && !strings.Contains(c.Name.Value, "/") {
		s.functions[c.Name.Value] = true
	}
	if recursive(c) {
		w.add(agent.EffectExhausts, c.Name.Value)
	}
	inside := s.inner()
	inside.maybe = true
	w.stmt(c.Body, inside)
}

// timed looks at what is behind the word time, which is a program of its own if
// it has options.
func (w *walker) timed(c *syntax.TimeClause, s *scope) {
	if c.Stmt == nil {
		return
	}
	call, ok := c.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || !w.quietly(call.Args[:1], s)[0].isOption() {
		w.stmt(c.Stmt, s)
		return
	}
	program, stmt := *call, *c.Stmt
	program.Args = append([]*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{Value: "time"}}}}, call.Args...)
	stmt.Cmd = &program
	w.stmt(&stmt, s)
}

// beside returns what runs as a coprocess. Only a compound command has a name; in
// front of another one, the parser takes the program for it.
func beside(c *syntax.CoprocClause) *syntax.Stmt {
	if c.Name == nil {
		return c.Stmt
	}
	stmt := *c.Stmt
	switch cmd := stmt.Cmd.(type) {
	case nil: // only redirections
		stmt.Cmd = &syntax.CallExpr{Args: []*syntax.Word{c.Name}}
	case *syntax.CallExpr:
		program := *cmd
		program.Args = append([]*syntax.Word{c.Name}, cmd.Args...)
		stmt.Cmd = &program
	case *syntax.BinaryCmd:
		pipe := *cmd
		pipe.X = beside(&syntax.CoprocClause{Name: c.Name, Stmt: cmd.X})
		stmt.Cmd = &pipe
	}
	return &stmt
}

// assigns reports whether the first command of a pipeline sets variables.
func assigns(s *syntax.Stmt) bool {
	switch cmd := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(cmd.Assigns) > 0
	case *syntax.BinaryCmd:
		return assigns(cmd.X)
	}
	return false
}

// recursive reports whether a function calls itself, in a pipe or in the
// background.
func recursive(c *syntax.FuncDecl) bool {
	calls, beside := false, false
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			calls = calls || len(n.Args) > 0 && n.Args[0].Lit() == c.Name.Value
		case *syntax.Stmt:
			beside = beside || n.Background
		case *syntax.BinaryCmd:
			beside = beside || n.Op == syntax.Pipe
		}
		return true
	})
	return calls && beside
}

func (w *walker) binary(c *syntax.BinaryCmd, s *scope) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		if w.reader != nil {
			w.pipeReads(c, s)
			return
		}
		var in input
		for i, stage := range pipeline(c, nil) {
			inside := s.inner()
			if i > 0 {
				inside.input = in
			}
			w.stmt(stage, inside)
			in = w.fed(stage, i == 0, in.network, s)
		}
	default:
		before := s.dirs
		defer w.reader.joins(c)()
		w.stmt(c.X, s)
		if c.Op == syntax.AndStmt {
			w.stmt(c.Y, s)
			return
		}
		after := s.dirs
		s.dirs = atMost(append(slices.Clone(after), before...)) // the first may have failed
		w.perhaps([]*syntax.Stmt{c.Y}, s)
		if endsOnFailure(&syntax.Stmt{Cmd: c}) {
			s.dirs = after
		}
	}
}

func pipeline(c *syntax.BinaryCmd, before []*syntax.Stmt) []*syntax.Stmt {
	for _, side := range []*syntax.Stmt{c.X, c.Y} {
		if b, ok := side.Cmd.(*syntax.BinaryCmd); ok && len(side.Redirs) == 0 && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll) {
			before = pipeline(b, before)
		} else {
			before = append(before, side)
		}
	}
	return before
}

// fed returns what a stage of a pipeline passes to the next one.
func (w *walker) fed(stage *syntax.Stmt, first, network bool, s *scope) input {
	in := input{piped: true, network: network || w.fetches(stage, s)}
	call, ok := stage.Cmd.(*syntax.CallExpr)
	if !ok || !first || len(stage.Redirs) > 0 || len(call.Args) < 2 {
		return in
	}
	words := w.quietly(call.Args, s)
	switch name := words[0]; {
	case name.text() == "find":
		in.named = w.namesFiles(words[1:], s)
	case !exact(words):
	case name.text() == "echo" && words[1].text() != "-e":
		in.text, in.literal = join(words[1:]), true
	case name.text() == "printf" && len(words) == 2 && !strings.ContainsAny(words[1].text(), `%\`):
		in.text, in.literal = words[1].text(), true
	case name.text() == "cat" && len(words) == 2:
		in.file = words[1].text()
	}
	return in
}
