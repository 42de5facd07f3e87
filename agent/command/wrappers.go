package command

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// wrapper describes a program that runs another one.
type wrapper struct {
	values  string // options with a value, of one letter
	long    string // the same with names, separated by spaces
	before  int    // operands before the command
	assigns bool   // assignments may stand before the command
	user    bool   // the command runs as another user
	dir     string // the options whose value is the folder of the command
	script  string // the option whose value is a command line
	out     string // the options whose value is a file that it writes
	locks   bool   // its operand is a file that it writes
	joined  bool   // the arguments are joined to one command line
	adds    bool   // it appends arguments that nobody knows yet
	lines   bool   // it runs lines of a shell, or what it is given as such
	usage   *usage // the options with which it does no more than run the command
}

func (w *walker) wrapped(program string, wrap wrapper, args []value, s *scope) {
	if wrap.user {
		w.add(agent.EffectOtherUser, program)
	}
	// A wrapper runs a program, never a function of the line.
	defer func(before map[string]bool) { s.functions = before }(s.functions)
	s.functions = map[string]bool{}
	operands := 0
	for len(args) > 0 {
		arg := args[0]
		text := arg.text()
		switch {
		case !arg.exact() && arg.isOption():
			w.add(agent.EffectUnknown, program)
			return
		case text == "--":
			args = args[1:]
			w.inner(wrap, args, s)
			return
		case arg.isOption():
			args = args[1:]
			name, after, given := strings.Cut(strings.TrimPrefix(text, "--"), "=")
			if !strings.HasPrefix(text, "--") {
				name, after = firstValue(text[1:], wrap)
				given = after != ""
			}
			if slices.Contains(strings.Fields(wrap.script), name) {
				v := value{{text: after, exact: arg.exact()}}
				if !given && len(args) > 0 {
					v, args = args[0], args[1:]
				}
				if wrap.assigns { // env appends the other arguments
					v = product(v, asWords(args))
				}
				w.code(v, program, s)
				return
			}
			takes := len(name) > 1 && slices.Contains(strings.Fields(wrap.long), name) || len(name) == 1 && strings.Contains(wrap.values, name)
			v := value{{text: after, exact: arg.exact()}}
			if takes && !given && len(args) > 0 {
				v, args = args[0], args[1:]
			}
			if slices.Contains(strings.Fields(wrap.out), name) {
				w.writes(v, s)
			}
			if slices.Contains(strings.Fields(wrap.dir), name) {
				moved := *s
				s = &moved
				w.changesFolder(v, program, s)
			}
		case wrap.assigns && strings.Contains(text, "=") && !strings.HasPrefix(text, "="):
			name, set, _ := strings.Cut(text, "=")
			w.steers(name, value{{text: set, exact: arg.exact()}})
			args = args[1:]
		case operands < wrap.before:
			operands++
			if wrap.locks && strings.Trim(text, "0123456789") != "" {
				w.writes(arg, s)
			}
			args = args[1:]
		default:
			w.inner(wrap, args, s)
			return
		}
	}
	if wrap.lines {
		w.lines(program, nil, s)
	}
}

// asWords writes arguments so that a shell reads them as they are.
func asWords(args []value) value {
	text := possible{exact: exact(args), fetched: slices.ContainsFunc(args, value.fetched)}
	for _, arg := range args {
		text.text += " '" + strings.ReplaceAll(arg.text(), "'", `'\''`) + "'"
	}
	return value{text}
}

// firstValue returns the first of a wrapper's options of one letter that has a
// value, and what of the value stands behind it.
func firstValue(letters string, wrap wrapper) (name, after string) {
	for i := range len(letters) {
		if name = letters[i : i+1]; strings.Contains(wrap.values, name) || slices.Contains(strings.Fields(wrap.script), name) {
			return name, letters[i+1:]
		}
	}
	return "", ""
}

// inner looks at the command that a wrapper runs.
func (w *walker) inner(wrap wrapper, args []value, s *scope) {
	switch {
	case wrap.lines:
		w.lines("parallel", args, s)
	case len(args) == 0:
	case wrap.joined && exact(args):
		w.script(join(args), s.inner())
	case wrap.joined:
		w.code(value{{text: join(args), fetched: slices.ContainsFunc(args, value.fetched)}}, args[0].text(), s)
	case wrap.adds:
		inside := s.inner()
		inside.input.literal, inside.input.file = false, ""
		more := value{{text: unnamed, fetched: s.input.network}}
		replaced := make([]value, 0, len(args)+1)
		for _, arg := range args {
			if arg.exact() && strings.Contains(arg.text(), "{}") {
				arg = value{{text: arg.text(), fetched: s.input.network}}
			}
			replaced = append(replaced, arg)
		}
		if row(args[0].text()).is(shell) {
			inside.input.piped = true
		}
		w.run(append(replaced, more), inside)
	default:
		w.run(args, s)
	}
}

// code looks at a text that is run as a command line.
func (w *walker) code(text value, by string, s *scope) {
	switch {
	case text.fetched():
		w.now.noteUnread(text.text())
		w.add(agent.EffectNetCode, by)
	case !text.exact():
		w.now.noteUnread(text.text())
		w.add(agent.EffectUnknown, text.text())
		w.script(text.text(), s.inner()) // with its variables as they are written
	default:
		w.script(text.text(), s.inner())
	}
}
