package effect

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/shell"
	"mvdan.cc/sh/v3/syntax"
)

// call looks at a simple command.
func (w *walker) call(c *syntax.CallExpr, s *scope) {
	if len(c.Args) > 0 { // then the variables are the command's only
		inside := s.inner()
		w.assign(c.Assigns, inside)
		if elsewhere, ok := inside.vars["CDPATH"]; ok {
			s.vars["CDPATH"] = elsewhere
		}
	} else {
		w.assign(c.Assigns, s)
		return
	}
	words := make([]value, 0, len(c.Args))
	for _, arg := range c.Args {
		fields := w.fields(arg, s)
		if len(words) == 0 && len(fields) == 1 && len(fields[0]) > 1 && arg.Lit() != "" &&
			!slices.ContainsFunc(fields[0], func(p possible) bool { return !p.exact }) {
			for _, p := range fields[0] { // {rm,-rf,x} is a command
				words = append(words, value{p})
			}
			continue
		}
		words = append(words, fields...)
	}
	w.run(words, s)
}

// run looks at the words of a command, the program first.
func (w *walker) run(words []value, s *scope) {
	if !w.step() || len(words) == 0 {
		return
	}
	name := words[0]
	if len(name) > 1 {
		for _, p := range name {
			w.run(append([]value{{p}}, words[1:]...), s)
		}
		return
	}
	defer w.enter(words, s)()
	switch {
	case name.fetched():
		w.add(agent.EffectNetCode, name.text())
		return
	case !name.exact():
		w.add(agent.EffectUnknown, name.text())
		return
	}
	w.assignsBy(name.text(), words[1:], s)
	if s.functions[name.text()] { // its body has been looked at
		return
	}
	if w.onlyReads(words, s) {
		return
	}
	program, ok := w.program(name.text(), words, s)
	if !ok {
		return
	}
	w.do(program, words[1:], s)
}

// do looks at a program and its arguments.
func (w *walker) do(program string, args []value, s *scope) {
	if wrap, ok := wrappers[program]; ok {
		w.wrapped(program, wrap, args, s)
		return
	}
	w.optionFiles(program, args, s)
	if isInline(program, args) {
		w.inline(program, args)
		return
	}
	if look, ok := special[program]; ok {
		before := len(w.effects)
		look(w, program, args, s)
		told := slices.ContainsFunc(w.effects[before:], func(e agent.Effect) bool {
			return e.ID == agent.EffectUnknown || e.ID == agent.EffectDeletesUnknown
		})
		if !told && mayBeOptions(args) {
			w.noteVague(program)
			w.add(agent.EffectUnknown, program)
		}
		return
	}
	switch command := spoken(program, args); {
	case asksVersion(args) && known(program):
	case slices.Contains(quiet, program), slices.Contains(mute, program):
		if slices.ContainsFunc(args, func(v value) bool { return isLouder(program, v.text()) }) {
			w.add(agent.EffectUnknown, command)
		}
		if slices.Contains(quiet, program) {
			w.readsAll(args, s)
		}
	case begins(command, destroyers):
		w.add(agent.EffectDestroys, command)
	case begins(command, installers):
		w.packages(program, command, args, s)
	case begins(command, publishers):
		w.add(agent.EffectSends, command)
	case begins(command, projectRunners):
		w.runsHere(command, args, s)
	case slices.Contains(networkers, program):
		w.reaches(program, args, s)
	case slices.Contains(stoppers, program):
		w.add(agent.EffectStopsMachine, program)
	case slices.Contains(configurers, program):
		w.add(agent.EffectSystem, command)
		if program == "at" || program == "batch" {
			w.piped("sh", s)
		}
	case slices.Contains(formatters, program) || strings.HasPrefix(program, "mkfs."):
		w.add(agent.EffectDisks, command)
	case slices.Contains(writers, program):
		w.writesAll(program, args, s)
	default:
		w.note(func(s *Step) { s.Unfamiliar = true })
		w.add(agent.EffectUnknown, command)
	}
}

// isLouder reports whether an argument is an option with which a quiet program
// does more. A letter may stand behind others, and its value right behind it.
func isLouder(program, arg string) bool {
	letters := ""
	if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
		letters = arg[1:]
		if i := strings.IndexAny(letters, quietValues[program]); i >= 0 {
			letters = letters[:i]
		}
	}
	return slices.ContainsFunc(louder[program], func(option string) bool {
		if len(option) > 2 {
			name, _, _ := strings.Cut(arg, "=")
			return name == option || len(name) > 4 && strings.HasPrefix(option, name)
		}
		return strings.Contains(letters, option[1:])
	})
}

// program returns the name under which the tables know a program. It looks at
// programs that are files of the project itself.
func (w *walker) program(name string, words []value, s *scope) (string, bool) {
	if !strings.Contains(name, "/") {
		return versioned().ReplaceAllString(name, "$1"), true
	}
	base := filepath.Base(name)
	for _, path := range w.paths(words[0][0], s) {
		switch {
		case w.isFetched(path):
			w.add(agent.EffectNetCode, name)
			return "", false
		case w.inside(path):
			if inBin := filepath.Base(filepath.Dir(path)) == "bin"; inBin && known(base) {
				return base, true
			}
			w.noteScript(path)
			w.runsHere(name, words[1:], s)
			return "", false
		}
	}
	if slices.Contains(systemFolders, filepath.Dir(name)) {
		return base, true
	}
	w.add(agent.EffectOutside, name)
	w.add(agent.EffectUnknown, name)
	return "", false
}

// versioned matches programs that are installed under the number of a version.
var versioned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(python[23]|pip[23]|ruby|php|lua|perl|gcc|g\+\+|clang|clang\+\+)-?[0-9]?(?:\.[0-9]+)*$`)
})

// onlyReads reports whether a command is known to only read, and notes what.
func (w *walker) onlyReads(words []value, s *scope) bool {
	if w.looked > maxLooked { // a long line of wrappers is looked at for each of them
		return false
	}
	var line strings.Builder
	for _, v := range words {
		if len(v) != 1 || !v[0].exact {
			return false
		}
		if v[0].glob {
			line.WriteString(" " + asPattern(v.text()))
		} else {
			line.WriteString(" '" + strings.ReplaceAll(v.text(), "'", `'\''`) + "'")
		}
	}
	w.looked += line.Len()
	// The program is a bare word, as quotes there are unusual.
	reading, ok := shell.Read(strings.TrimSpace(words[0].text() + strings.TrimPrefix(line.String(), " '"+words[0].text()+"'")))
	if !ok || reading.Dir != "" || len(reading.Programs) > 1 || len(reading.Handed) > 0 { // each program has a step of its own
		return false
	}
	for _, path := range reading.Paths {
		w.reads(literal(path), s)
	}
	for _, tree := range reading.Trees {
		w.note(func(step *Step) { step.Trees = append(step.Trees, w.paths(possible{text: tree}, s)...) })
	}
	w.note(func(step *Step) { step.Hidden = step.Hidden || reading.Hidden })
	for _, v := range words[1:] {
		if v[0].glob {
			w.reads(v, s)
		}
	}
	return true
}

// asPattern writes a word so that only its wildcards have a meaning.
func asPattern(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case strings.ContainsRune("[]", c):
			c = '?'
		case c != '*' && c != '?':
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// spoken is a program with what it is told to do, as people say it.
func spoken(program string, args []value) string {
	said := []string{program}
	for _, arg := range args {
		if !arg.isOption() && arg.exact() {
			said = append(said, arg.text())
		}
		if len(said) == 4 {
			break
		}
	}
	return strings.Join(said, " ")
}

// begins reports whether a command begins with the words of an entry.
func begins(command string, table []string) bool {
	return slices.ContainsFunc(table, func(entry string) bool {
		return command == entry || strings.HasPrefix(command, entry+" ")
	})
}

func known(program string) bool {
	if _, ok := special[program]; ok {
		return true
	}
	return slices.Contains(quiet, program) || slices.Contains(mute, program) || slices.Contains(networkers, program) || slices.Contains(writers, program) ||
		slices.ContainsFunc(slices.Concat(installers, projectRunners, publishers), func(entry string) bool {
			return entry == program || strings.HasPrefix(entry, program+" ")
		})
}

// mayBeOptions reports whether a word may become an option that nobody knows.
// The word after an option is taken for its value.
func mayBeOptions(args []value) bool {
	for i, v := range args {
		if i > 0 && args[i-1].isOption() {
			continue
		}
		for _, p := range v {
			if !p.exact && !p.fetched && strings.HasPrefix(p.text, "$") && !strings.Contains(p.text, "/") {
				return true
			}
		}
	}
	return false
}

func asksVersion(args []value) bool {
	return len(args) == 1 && args[0].exact() && slices.Contains([]string{"--version", "-version", "--help", "-V", "version"}, args[0].text())
}

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
		if name := args[0].text(); slices.Contains(shells, name) {
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
		w.noteUnread(text.text())
		w.add(agent.EffectNetCode, by)
	case !text.exact():
		w.noteUnread(text.text())
		w.add(agent.EffectUnknown, text.text())
		w.script(text.text(), s.inner()) // with its variables as they are written
	default:
		w.script(text.text(), s.inner())
	}
}

// packages looks at commands that install or run packages. A program that the
// project has installed already is its own.
func (w *walker) packages(program, command string, args []value, s *scope) {
	if slices.Contains(packageRunners, program) {
		for _, arg := range args {
			if arg.isOption() {
				continue
			}
			for _, dir := range s.dirs {
				if arg.exact() && w.exists(filepath.Join(dir, "node_modules", ".bin", arg.text())) {
					w.do(arg.text(), args[slices.IndexFunc(args, func(v value) bool { return v.text() == arg.text() })+1:], s)
					return
				}
			}
			break
		}
	}
	w.add(agent.EffectPackages, command)
}

// runsHere notes that code of the project runs, or code that was fetched before.
func (w *walker) runsHere(command string, args []value, s *scope) {
	for _, dir := range s.dirs {
		if w.isFetched(dir) {
			w.add(agent.EffectNetCode, command)
			return
		}
	}
	for _, dir := range s.dirs {
		if !w.inside(w.resolve(dir)) {
			w.add(agent.EffectOutside, dir)
		}
	}
	w.add(agent.EffectRunsProject, shortCommand(command))
	for _, arg := range args {
		for _, p := range arg {
			if strings.HasPrefix(p.text, "/") && p.exact {
				w.reads(value{p}, s)
			}
		}
	}
}

// shortCommand keeps the first two words of a command.
func shortCommand(command string) string {
	words := strings.Fields(command)
	most := 2
	if len(words) > 2 && words[1] == "-m" {
		most = 3
	}
	return strings.Join(words[:min(most, len(words))], " ")
}

func (w *walker) exists(path string) bool { return w.at.Exists != nil && w.at.Exists(path) }
