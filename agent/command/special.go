package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/sed"
)

func enters(w *walker, program string, args []value, s *scope) {
	rest, _ := operands(args, "")
	to := literal(w.at.Home)
	if len(rest) > 0 {
		to = rest[0]
	}
	if _, elsewhere := s.vars["CDPATH"]; elsewhere || program == "popd" && len(rest) == 0 {
		to = value{{text: to.text()}}
	}
	w.changesFolder(to, strings.TrimSpace(program+" "+join(rest)), s)
}

// changesFolder changes the folder in which the line runs.
func (w *walker) changesFolder(to value, said string, s *scope) {
	if !to.exact() || to.text() == "-" || to.text() == "" {
		w.now.noteVague(said)
		w.add(agent.EffectUnknown, said)
		return
	}
	moved := w.paths(to[0], s)
	for _, dir := range s.dirs { // bash takes "cd link/.." back to where the link is
		to := to.text()
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		moved = append(moved, w.at.resolve(filepath.Clean(to)))
	}
	s.dirs = atMost(moved)
}

// sets notes options of bash. With some of them, lines mean something else.
func sets(w *walker, _ string, args []value, s *scope) {
	for i, arg := range args {
		text := arg.text()
		option := strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+")
		if !arg.exact() || text == "posix" || text == "keyword" || option && strings.Contains(text, "k") {
			w.add(agent.EffectUnknown, "set "+text)
		}
		if text == "--" || !option && (i == 0 || !strings.HasSuffix(args[i-1].text(), "o")) {
			return
		}
		if strings.HasPrefix(text, "-") && strings.Contains(text, "e") && !s.maybe || text == "errexit" {
			s.strict = true
		}
		if strings.HasPrefix(text, "+") {
			s.strict = false
		}
	}
}

// aliases looks at what aliases stand for as if it ran.
func aliases(w *walker, program string, args []value, s *scope) {
	for _, arg := range args {
		if _, meaning, ok := strings.Cut(arg.text(), "="); ok {
			w.code(value{{text: meaning, exact: arg.exact(), fetched: arg.fetched()}}, program, s)
		}
	}
}

func traps(w *walker, program string, args []value, s *scope) {
	if rest, _ := operands(args, ""); len(rest) > 1 && rest[0].text() != "" {
		if file, ok := Parse(rest[0].text()); ok {
			w.loose.noteAll(file)
		}
		w.code(rest[0], program, s)
	}
}

func evaluates(w *walker, program string, args []value, s *scope) {
	if len(args) > 0 && args[0].exact() && args[0].text() == "--" {
		args = args[1:]
	}
	switch {
	case exact(args):
		w.script(join(args), s)
	default:
		text := value{{text: join(args), fetched: slices.ContainsFunc(args, value.fetched)}}
		w.code(text, program, s)
	}
}

func sources(w *walker, program string, args []value, s *scope) {
	if len(args) == 0 {
		return
	}
	clear(s.vars) // it may set any
	w.file(args[0], program+" "+args[0].text(), s)
}

// file looks at a file that is run as code.
func (w *walker) file(v value, command string, s *scope) {
	if v.fetched() {
		w.now.noteUnread(command)
		w.add(agent.EffectNetCode, command)
		return
	}
	if len(v) > 1 && !slices.ContainsFunc(v, func(p possible) bool { return !p.exact || p.glob }) {
		for _, p := range v { // one of them is the script
			w.file(value{p}, command, s)
		}
		return
	}
	if !v.exact() {
		w.now.noteUnread(v.text())
		w.add(agent.EffectUnknown, v.text())
		return
	}
	if slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, v.text()) {
		w.piped("sh", s)
		return
	}
	for _, path := range w.paths(v[0], s) {
		w.now.noteScript(path)
		switch {
		case w.isFetched(path):
			w.add(agent.EffectNetCode, command)
		case w.at.inside(path):
			w.add(agent.EffectRunsProject, command)
		default:
			w.add(agent.EffectOutside, w.at.shown(path))
			w.add(agent.EffectUnknown, command)
		}
	}
}

// interpreter has the letters of an interpreter's options.
type interpreter struct {
	inline string // with a program as the value
	values string // with another value
	loads  string // with a value that names code
}

// loaders are long options whose value names code.
var loaders = strings.Fields("require import loader experimental-loader")

// versions are options with which interpreters print their version.
var versions = []string{"--version", "-V", "-v"}

// ends reports whether an interpreter ends once it has printed its version. Some
// go on with their program if there are other arguments.
func ends(program, option string, alone bool) bool {
	switch program {
	case "python", "python2", "python3":
		return option != "-v"
	case "node", "nodejs", "php", "perl", "julia", "guile":
		return true
	case "ruby", "Rscript":
		return option == "--version" || alone
	}
	return alone
}

// plainModule matches what perl loads without running anything else in it.
var plainModule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[mM]-?[A-Za-z0-9_:]+(=[A-Za-z0-9_:,]*)?$`) })

// interprets looks at interpreters such as Python.
func interprets(w *walker, program string, args []value, s *scope) {
	letters := row(program).code
	if letters == nil {
		letters = &interpreter{inline: "cepr"}
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		text := arg.text()
		name, after, given := strings.Cut(strings.TrimPrefix(text, "--"), "=")
		long := strings.HasPrefix(text, "--")
		switch {
		case text == "-m" && i+1 < len(args):
			w.do(program+" -m "+args[i+1].text(), args[i+2:], s)
			return
		case arg.exact() && slices.Contains(versions, text) && ends(program, text, len(args) == 1):
			return
		case program == "node" && (text == "--test" || text == "--check"):
			w.runsHere(program+" "+text, nil, s)
			return
		case text == "-" && arg.exact():
			w.piped(program, s)
			return
		case long && (name == "eval" || name == "print"):
			w.inline(program+" --"+name, args[i:])
			return
		case long && slices.Contains(loaders, name):
			if !given && i+1 < len(args) {
				i++
				after = args[i].text()
			}
			w.loads(value{{text: after, exact: args[i].exact(), fetched: args[i].fetched()}}, program+" --"+name, s)
		case !arg.isOption():
			w.file(arg, program+" "+text, s)
			return
		case program == "perl" && (strings.ContainsAny(text, ";({") || strings.HasPrefix(strings.ToLower(text), "-m") && !plainModule().MatchString(text)):
			w.add(agent.EffectUnknown, program+" "+text)
			return
		case !long && (program != "perl" || !strings.HasPrefix(strings.ToLower(text), "-m")):
			at := strings.IndexAny(text, letters.inline+letters.values+letters.loads)
			if at < 1 {
				continue
			}
			if strings.IndexByte(letters.inline, text[at]) >= 0 {
				w.inline(program+" "+text, args[i:])
				return
			}
			v := value{{text: text[at+1:], exact: arg.exact()}}
			if text[at+1:] == "" && program != "perl" && i+1 < len(args) {
				i++
				v = args[i]
			}
			if strings.IndexByte(letters.loads, text[at]) >= 0 {
				w.loads(v, program+" -"+text[at:at+1], s)
			}
		}
	}
	w.piped(program, s)
}

// inline notes a program that is among the arguments.
func (w *walker) inline(said string, args []value) {
	w.now.noteUnread(join(args))
	w.note(func(s *Step) { s.Code = true })
	if slices.ContainsFunc(args, value.fetched) {
		w.add(agent.EffectNetCode, strings.Fields(said)[0])
		return
	}
	w.add(agent.EffectUnknown, said)
}

// loads notes code that an interpreter runs besides its program. A name without
// a folder is a library.
func (w *walker) loads(v value, said string, s *scope) {
	if strings.Contains(v.text(), ":") {
		w.add(agent.EffectUnknown, said)
	} else if !v.exact() || strings.Contains(v.text(), "/") {
		w.file(v, said, s)
	}
}

// filters looks at programs whose options or scripts may do more than filter.
func filters(w *walker, program string, args []value, s *scope) {
	values := "Fvf"
	if program == "sort" {
		values = "oktST"
	}
	rest, options := operands(args, values)
	if program == "sort" {
		if out, ok := options["o"]; ok {
			w.writes(out, s)
		}
		if out, ok := options["output"]; ok {
			w.writes(out, s)
		}
		if has(options, "compress-program", "files0-from") {
			w.add(agent.EffectUnknown, program)
		}
		w.readsAll(rest, s)
		return
	}
	if v, ok := options["f"]; ok {
		w.file(v, program+" -f", s)
	} else if len(rest) > 0 {
		script := rest[0]
		rest = rest[1:]
		for _, p := range script {
			if !p.exact || awkRuns().MatchString(awkQuiet.Replace(p.text)) {
				w.add(agent.EffectUnknown, program)
				break
			}
		}
	}
	if has(options, "W", "i", "l", "e", "E", "include", "load", "source", "exec", "file", "profile", "pretty-print", "dump-variables") {
		w.add(agent.EffectUnknown, program)
	}
	w.readsAll(rest, s)
}

// awkRuns matches scripts that may run commands or write files; comparisons look
// alike and are taken out first where they can be told.
var (
	awkRuns  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`system|getline|\||>[ \t\n\\]*["$(a-zA-Z/_!+-]|@`) })
	awkQuiet = strings.NewReplacer("||", " ", ">=", " ")
)

func kills(w *walker, program string, args []value, s *scope) {
	rest, options := operands(args, "st")
	if has(options, "0", "l", "L") || program == "fuser" && !has(options, "k") {
		return
	}
	var which []string
	for _, arg := range args {
		if text := arg.text(); !arg.isOption() && !slices.Contains(which, text) {
			which = append(which, text)
		}
	}
	if slices.ContainsFunc(args, func(v value) bool { return v.text() == "-1" }) && len(rest) == 0 {
		which = append(which, "-1")
	}
	w.add(agent.EffectEnds, which...)
}

func schedules(w *walker, program string, args []value, s *scope) {
	command := spoken(program, args)
	reading := []string{"systemctl status", "systemctl list-units", "systemctl is-active", "systemctl show", "systemctl cat", "launchctl list"}
	switch {
	case program == "crontab" && len(args) == 1 && args[0].text() == "-l", begins(command, reading):
	case program == "crontab":
		w.now.noteUnread(program + " " + join(args) + " " + s.input.text)
		w.add(agent.EffectSystem, command)
	case begins(command, []string{"systemctl poweroff", "systemctl reboot", "systemctl halt", "systemctl suspend"}):
		w.add(agent.EffectStopsMachine, command)
	default:
		w.add(agent.EffectSystem, command)
	}
}

// records looks at script, which writes what a command or a session shows.
func records(w *walker, program string, args []value, s *scope) {
	rest, options := operands(args, "cEIOBTmot")
	for _, name := range []string{"I", "O", "B", "T", "log-in", "log-out", "log-io", "log-timing"} {
		w.writes(options[name], s)
	}
	if len(rest) == 0 && !has(options, "O", "log-out", "B", "log-io") {
		rest = []value{literal("typescript")}
	}
	for _, file := range rest {
		w.writes(file, s)
	}
	said := false
	for _, name := range []string{"c", "command"} {
		if v, ok := options[name]; ok {
			w.code(v, program, s)
			said = true
		}
	}
	if !said {
		w.add(agent.EffectUnknown, program)
	}
}

// edit looks at editors and other programs that take commands of their own,
// which may start programs, from their input and their arguments.
func edit(w *walker, program string, args []value, s *scope) {
	w.now.noteUnread(program + " " + join(args) + " " + s.input.text)
	if s.input.network {
		w.add(agent.EffectNetCode, program)
		return
	}
	w.add(agent.EffectUnknown, program)
}

// makes looks at make, whose rules may be among its arguments or its input.
func makes(w *walker, program string, args []value, s *scope) {
	_, options := operands(args, "fCjlo")
	for _, name := range []string{"f", "file", "makefile", "eval"} {
		for _, p := range options[name] {
			if name == "eval" || !p.exact || slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0"}, p.text) {
				w.now.noteUnread(program + " " + join(args) + " " + s.input.text)
				w.add(agent.EffectUnknown, program)
			}
		}
	}
	w.runsHere(spoken(program, args), args, s)
}

// queries looks at clients of databases, which change or delete with a word.
func queries(w *walker, program string, args []value, s *scope) {
	said := strings.ToUpper(join(args) + " " + s.input.text)
	if sqlDestroys().MatchString(said) {
		w.add(agent.EffectDestroys, program+" "+strings.TrimSpace(sqlDestroys().FindString(said)))
		return
	}
	w.add(agent.EffectUnknown, program)
}

var sqlDestroys = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(DROP (TABLE|DATABASE|SCHEMA|INDEX|VIEW|USER|COLLECTION)|TRUNCATE|DELETE FROM|FLUSHALL|FLUSHDB|DROPDATABASE|DELETEMANY)\b`)
})

// edits looks at programs that change their files in place with an option.
func edits(w *walker, program string, args []value, s *scope) {
	if program == "sed" {
		args = withoutSuffix(args)
	}
	rest, options := operands(args, "efl")
	script := either(options["e"], options["expression"])
	if program == "sed" && !has(options, "e", "f", "expression", "file") && len(rest) > 0 {
		if rest[0].exact() && rest[0].text() == "" && has(options, "i") { // the empty suffix of macOS
			rest = rest[1:]
		}
		if len(rest) > 0 {
			script, rest = rest[0], rest[1:]
		}
	}
	inPlace := has(options, "i", "in-place", "w", "inplace")
	for _, file := range rest {
		if inPlace {
			w.writes(file, s)
		} else {
			w.reads(file, s)
		}
	}
	if program == "sed" && (sedDoesMore(script) || has(options, "f", "file")) {
		w.add(agent.EffectUnknown, strings.TrimSpace(program+" "+script.text()))
	}
	if inPlace && len(rest) == 0 {
		w.add(agent.EffectChanges)
	}
}

// withoutSuffix removes the suffix of -i, whose letters are not options.
func withoutSuffix(args []value) []value {
	args = slices.Clone(args)
	for i, arg := range args {
		text := arg.text()
		if text == "--" {
			break
		}
		if !arg.exact() || !arg.isOption() || strings.HasPrefix(text, "--") {
			continue
		}
		if at := strings.IndexAny(text, "efli"); at > 0 && text[at] == 'i' {
			args[i] = literal(text[:at+1])
		}
	}
	return args
}

// sedDoesMore reports whether a script of sed may do more than print lines, or is
// not understood. The values follow each other as lines.
func sedDoesMore(script value) bool {
	var lines []string
	for _, p := range script {
		if !p.exact || p.glob {
			return true
		}
		lines = append(lines, p.text)
	}
	return sed.DoesMore(lines)
}
