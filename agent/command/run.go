package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
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

// do looks at a program and its arguments. "python -m NAME" is a program of its own.
func (w *walker) do(name string, args []value, s *scope) {
	base, module, isModule := strings.Cut(name, " -m ")
	p := row(base)
	if isModule {
		p = &program{does: p.act("-m " + module)}
	}
	if p.wraps != nil {
		w.wrapped(name, *p.wraps, args, s)
		return
	}
	w.optionFiles(p.files, args, s)
	if isInline(p.files.code, args) {
		w.inline(name, args)
		return
	}
	if p.look != nil {
		before := len(w.effects)
		p.look(w, name, args, s)
		told := slices.ContainsFunc(w.effects[before:], func(e agent.Effect) bool {
			return e.ID == agent.EffectUnknown || e.ID == agent.EffectDeletesUnknown
		})
		if !told && mayBeOptions(args) {
			w.now.noteVague(name)
			w.add(agent.EffectUnknown, name)
		}
		return
	}
	w.acts(p, name, args, s)
}

// acts adds what a program does by its row.
func (w *walker) acts(p *program, program string, args []value, s *scope) {
	command := spoken(program, args)
	if asksVersion(args) && p.known() {
		return
	}
	act := p.act(strings.TrimPrefix(strings.TrimPrefix(command, program), " "))
	if strings.HasPrefix(program, "mkfs.") {
		act = disks
	}
	switch act {
	case reads, prints:
		if slices.ContainsFunc(args, func(v value) bool { return p.doesMore(v.text()) }) {
			w.add(agent.EffectUnknown, command)
		}
		if act == reads {
			w.readsAll(args, s)
		}
	case destroys:
		w.add(agent.EffectDestroys, command)
	case installs:
		w.packages(program, command, args, s)
	case sends:
		w.add(agent.EffectSends, command)
	case builds:
		w.runsHere(command, args, s)
	case network:
		w.reaches(program, args, s)
	case stops:
		w.add(agent.EffectStopsMachine, program)
	case system:
		w.add(agent.EffectSystem, command)
		if program == "at" || program == "batch" {
			w.piped("sh", s)
		}
	case disks:
		w.add(agent.EffectDisks, command)
	case writes:
		w.writesAll(program, args, s)
	default:
		w.note(func(s *Step) { s.Unfamiliar = true })
		w.add(agent.EffectUnknown, command)
	}
}

// doesMore reports whether an argument is an option with which a program that reads does
// more. A letter may stand behind others, and its value right behind it.
func (p *program) doesMore(arg string) bool {
	letters := ""
	if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") {
		letters = arg[1:]
		if i := strings.IndexAny(letters, p.values); i >= 0 {
			letters = letters[:i]
		}
	}
	return slices.ContainsFunc(strings.Fields(p.more), func(option string) bool {
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
		case w.at.inside(path):
			if inBin := filepath.Base(filepath.Dir(path)) == "bin"; inBin && row(base).known() {
				return base, true
			}
			w.now.noteScript(path)
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
func (w *walker) onlyReads(values []value, s *scope) bool {
	words := make([]word, 0, len(values))
	for _, v := range values {
		if w.looked > maxLooked { // a long line of wrappers is looked at for each of them
			return false
		}
		if len(v) != 1 || !v[0].exact || Hides(v[0].text) || !utf8.ValidString(v[0].text) {
			return false
		}
		w.looked += len(v[0].text)
		one := word{text: v[0].text}
		if v[0].glob {
			one.pattern = anyNames.Replace(escaped.Replace(v[0].text))
		}
		words = append(words, one)
	}
	var r reader
	found, ok := judgeAfter(words, nameList{})
	if !ok || !r.add(found) || r.gitDir != "" || len(r.Programs) > 1 || len(r.Handed) > 0 { // each program has a step of its own
		return false
	}
	slices.Sort(r.Paths)
	slices.Sort(r.Trees)
	for _, path := range slices.Compact(r.Paths) {
		w.reads(literal(path), s)
	}
	for _, tree := range slices.Compact(r.Trees) {
		w.note(func(step *Step) { step.Trees = append(step.Trees, w.paths(possible{text: tree}, s)...) })
	}
	w.note(func(step *Step) { step.Hidden = step.Hidden || r.Hidden })
	for _, v := range values[1:] {
		if v[0].glob {
			w.reads(v, s)
		}
	}
	return true
}

// anyNames writes a pattern in which wildcards alone have a meaning.
var anyNames = strings.NewReplacer(`\*`, "*", `\?`, "?", `\[`, "?", "]", "?")

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

// packages looks at commands that install or run packages. A program that the
// project has installed already is its own.
func (w *walker) packages(program, command string, args []value, s *scope) {
	if row(program).is(findsInstalled) {
		for _, arg := range args {
			if arg.isOption() {
				continue
			}
			for _, dir := range s.dirs {
				if arg.exact() && w.at.exists(filepath.Join(dir, "node_modules", ".bin", arg.text())) {
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
		if !w.at.inside(w.at.resolve(dir)) {
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

func (at Place) exists(path string) bool { return at.Exists != nil && at.Exists(path) }
