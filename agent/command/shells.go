package command

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// The long options of shells. Bash knows its own with one hyphen as well.
var (
	shellFlags = strings.Fields("debug debugger dump-po-strings dump-strings help login noediting noprofile norc posix pretty-print protected restricted verbose version wordexp")
	// shellFiles take a file that is run first, shellCode a text, and shellValues
	// something else.
	shellFiles  = strings.Fields("rcfile init-file")
	shellCode   = strings.Fields("command init-command")
	shellValues = strings.Fields("emulate")
)

// shellCall is what the options of a shell say.
type shellCall struct {
	inline bool    // the first operand is its program
	input  bool    // its input is, although there may be operands
	code   []value // programs that options have
	files  bool    // options name files that it runs
	rest   []value // the operands
}

// shellOptions reads the options of a shell. Letters stand together, and the
// names that go with "o" and "O" follow them: -euo pipefail.
func shellOptions(program string, args []value) (c shellCall) {
	take := func() (v value) {
		if len(args) > 0 {
			v, args = args[0], args[1:]
		}
		return v
	}
	for len(args) > 0 && args[0].exact() {
		text := args[0].text()
		if text == "" || !strings.ContainsRune("+-", rune(text[0])) || text == "+" {
			break
		}
		if args = args[1:]; text == "-" || text == "--" {
			break
		}
		name, given, hasValue := strings.Cut(strings.TrimLeft(text, "-"), "=")
		takes := slices.Contains(slices.Concat(shellFiles, shellCode, shellValues), name)
		v := literal(given)
		if takes && !hasValue {
			v = take()
		}
		switch {
		case slices.Contains(shellCode, name):
			c.code = append(c.code, v)
		case slices.Contains(shellFiles, name):
			c.files = true
		case takes, strings.HasPrefix(text, "--"), slices.Contains(shellFlags, name):
		default:
			c.inline = c.inline || strings.Contains(text, "c")
			c.input = c.input || strings.Contains(text, "s")
			for range strings.Count(strings.ToLower(text), "o") {
				take()
			}
			if program == "fish" && strings.Contains(text, "C") { // code that comes first
				c.code = append(c.code, take())
			}
		}
	}
	c.rest = args
	return c
}

// runsShell looks at a shell: its -c, its script, or what is piped into it.
func runsShell(w *walker, program string, args []value, s *scope) {
	c := shellOptions(program, args)
	if c.files {
		w.add(agent.EffectUnknown, program+" "+join(args))
	}
	if c.inline && len(c.rest) > 0 {
		c.code = append(c.code, c.rest[0])
	}
	for _, code := range c.code {
		inside := s.inner()
		inside.vars, inside.functions = w.at.vars(), map[string]bool{}
		w.code(code, program, inside)
	}
	switch {
	case len(c.code) > 0:
	case len(c.rest) > 0 && !c.input:
		w.file(c.rest[0], program+" "+c.rest[0].text(), s)
	default:
		w.piped(program, s)
	}
}

// lines looks at what parallel runs: a command with what follows ":::" appended, or
// without one what follows itself, or its input.
func (w *walker) lines(program string, args []value, s *scope) {
	isMark := func(v value) bool { return strings.HasPrefix(v.text(), ":::") }
	at := slices.IndexFunc(args, isMark)
	if at < 0 {
		at = len(args)
	}
	command, marked := args[:at], args[at:]
	given := slices.DeleteFunc(slices.Clone(marked), isMark)
	inside := s.inner()
	inside.input = input{}
	switch {
	case len(command) > 0:
		inside.functions = map[string]bool{}
		w.run(slices.Concat(command, given, []value{{{text: unnamed, fetched: s.input.network}}}), inside)
		w.code(value{{text: join(command), exact: exact(command)}}, program, inside)
	case len(given) == 0 || slices.ContainsFunc(marked, func(v value) bool { return strings.HasPrefix(v.text(), "::::") }):
		w.piped(program, s)
	}
	for _, line := range given {
		if len(command) == 0 {
			w.code(line, program, inside)
		}
	}
}

// piped looks at what a shell or an interpreter reads as its program.
func (w *walker) piped(program string, s *scope) {
	in := s.input
	if in.network || !in.literal && in.file == "" || !row(program).is(shell) {
		w.now.noteUnread(program)
	}
	switch {
	case in.network:
		w.add(agent.EffectNetCode, program)
	case in.literal && row(program).is(shell):
		inside := s.inner()
		inside.input, inside.functions = input{}, map[string]bool{}
		w.script(in.text, inside)
	case in.file != "":
		w.file(literal(in.file), program+" < "+in.file, s)
	case in.literal:
		w.add(agent.EffectUnknown, program)
	case in.piped:
		w.add(agent.EffectBuiltCode, program)
	default:
		w.add(agent.EffectUnknown, program)
	}
}
