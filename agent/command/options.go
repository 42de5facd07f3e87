package command

import (
	"slices"
	"strings"
)

// Likeness says whether a step is what a rule or a list names.
type Likeness int

// The likenesses, in their order.
const (
	Unlike Likeness = iota
	MayBe           // it cannot be told
	Meant
)

// Want is a word that a rule or a list has after a program's name.
type Want struct {
	Text string
	Open bool // anything may follow Text in the word
	// Form reports whether an argument is of the word's form; nil means that Text
	// and Open say it.
	Form func(arg string) bool
}

// Wants returns the words of an entry of a list, each of which may end in "*".
func Wants(words []string) []Want {
	wants := make([]Want, 0, len(words))
	for _, word := range words {
		text, open := strings.CutSuffix(word, "*")
		wants = append(wants, Want{Text: text, Open: open})
	}
	return wants
}

func (w Want) matches(arg string) bool {
	switch {
	case w.Form != nil:
		return w.Form(arg)
	case w.Open:
		return strings.HasPrefix(arg, w.Text)
	}
	return arg == w.Text
}

// Has reports whether a step has words among its arguments, in their order; others
// may stand between them. Options are compared as the program does, wherever they
// stand: -rf, -r -f, --recursive --force. For a program that has commands, such as
// git, the first word that is no option is its command.
func (s Step) Has(wants []Want) Likeness {
	a := s.arguments()
	found, at, first, raw := Meant, 0, a.commands, false
	for _, w := range wants {
		like := Meant
		switch {
		case w.Text == "" && w.Open:
			first = false
		case w.Text == "--" && !w.Open:
			raw, first = true, false
		case isFlag(w.Text) && !raw:
			like = a.option(w)
		default:
			like, at = a.operand(w, at, first)
			first = false
		}
		if found = min(found, like); found == Unlike {
			return Unlike
		}
	}
	return found
}

func isFlag(text string) bool { return len(text) > 1 && text[0] == '-' && text != "--" }

// arguments are those of a step, as its program reads them.
type arguments struct {
	spelling
	commands bool // its first operand is a command
	words    []argument
	given    []option
	options  []string // as they are written
	vague    bool     // one is only known when the line runs
}

// argument is an operand, or the value of an option.
type argument struct {
	text    string
	value   bool
	perhaps bool // nobody knows which of both
}

// option is an option. It is doubtful if its name may be short for several.
type option struct {
	name, value string
	doubtful    bool
}

func (s Step) arguments() *arguments {
	program, args := strings.TrimSuffix(strings.ToLower(s.Program()), ".exe"), s.Args
	if command, ok := strings.CutPrefix(program, "git-"); ok {
		program, args = "git", append([]string{command}, args...)
	}
	if spelled()[program] == nil && strings.TrimRight(program, "0123456789.-") != "" {
		program = strings.TrimRight(program, "0123456789.-")
	}
	a := &arguments{commands: row(program).is(verbs) && !s.several}
	if table := spelled()[program]; table != nil {
		a.spelling = *table
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		old := i == 0 && a.bare && !strings.HasPrefix(arg, "-") // tar xzf
		switch {
		case arg == "--":
			a.rest(args[i+1:])
			return a
		case isFlag(arg) || old:
			if old {
				arg = "-" + arg
			}
			if a.take(arg) && i+1 < len(args) && !old {
				i++
				a.valued(args[i])
			}
		default:
			a.words = append(a.words, argument{text: arg, perhaps: i > 0 && isFlag(args[i-1]) && !a.knows(args[i-1])})
			a.vague = a.vague || isVague(arg)
			if sign, ok := a.signs[arg[:min(1, len(arg))]]; ok { // git push origin +main
				a.given = append(a.given, option{name: sign})
			}
			if table := spelled()[program+" "+arg]; table != nil && a.commands {
				a.spelling, program = table.over(a.spelling), program+" "+arg
			} else if a.ends && !a.words[len(a.words)-1].perhaps {
				a.rest(args[i+1:])
				return a
			}
		}
	}
	return a
}

// rest are arguments none of which is an option of the program.
func (a *arguments) rest(args []string) {
	for _, arg := range args {
		a.words = append(a.words, argument{text: arg})
	}
}

func isVague(text string) bool {
	return strings.HasPrefix(text, "$") || strings.HasPrefix(text, unnamed)
}

// knows reports whether it is known that an option takes no value behind it.
func (a *arguments) knows(arg string) bool {
	flags, takes := a.flags(arg)
	return strings.Contains(arg, "=") || !takes && !slices.ContainsFunc(flags, func(f option) bool { return a.first[f.name] == "" })
}

// take notes an option, and reports whether the next argument is its value.
func (a *arguments) take(arg string) (takes bool) {
	flags, takes := a.flags(arg)
	a.given, a.options = append(a.given, flags...), append(a.options, arg)
	if value := flags[len(flags)-1].value; value != "" {
		a.valued(value)
	}
	return takes
}

// valued notes the value of the last option.
func (a *arguments) valued(text string) {
	a.words = append(a.words, argument{text: text, value: true})
	if a.names[a.given[len(a.given)-1].name] { // kill -s KILL
		flags, _ := a.flags("--" + text)
		a.given = append(a.given, flags...)
	}
}

// operand looks for a word from a place on, and returns the place after it. A
// command stands first; what may be the value of an option may stand before it.
func (a *arguments) operand(w Want, from int, command bool) (Likeness, int) {
	likely := Meant
	for i := from; i < len(a.words); i++ {
		switch word := a.words[i]; {
		case command && word.value:
		case w.matches(word.text):
			return likely, i + 1
		case command && !word.perhaps:
			return maybe(isVague(word.text)), i + 1
		case command:
			likely = MayBe
		}
	}
	return maybe(a.vague), len(a.words)
}

// option reports whether an option is given, whatever its spelling.
func (a *arguments) option(w Want) Likeness {
	flags, _ := a.flags(w.Text)
	found := Meant
	for _, want := range flags {
		found = min(found, a.has(want, w.Open))
	}
	if slices.ContainsFunc(a.options, func(arg string) bool { return w.matches(arg) || sameLetters(w.Text, arg) }) {
		return Meant
	}
	if len(flags) > 1 && slices.ContainsFunc(flags, func(f option) bool { return !a.isKnown(f) }) { // they may be one option
		found = min(found, MayBe)
	}
	return max(found, maybe(a.vague))
}

// has reports whether an option is given with its value, if it is wanted with one.
func (a *arguments) has(want option, open bool) Likeness {
	found, known := Unlike, a.isKnown(want)
	for _, f := range a.given {
		switch {
		case f.name == want.name && !f.doubtful:
			found = Meant
		case f.name == want.name, !known && len(want.name) == 1 && strings.HasPrefix(f.name, want.name), !known && strings.HasPrefix(want.name, f.name):
			found = max(found, MayBe)
		}
	}
	value := Want{Text: want.value, Open: open}
	if want.value != "" && !slices.ContainsFunc(a.words, func(v argument) bool { return v.value && value.matches(v.text) }) {
		return Unlike
	}
	return found
}

// isKnown reports whether the table has an option, so that no other spelling of it
// is possible.
func (a *arguments) isKnown(f option) bool { return a.whole || a.first[f.name] != "" }

func maybe(is bool) Likeness {
	if is {
		return MayBe
	}
	return Unlike
}

// sameLetters reports whether two words are options with the same letters: -rf and
// -fr.
func sameLetters(a, b string) bool {
	if len(a) < 2 || len(a) != len(b) || a[0] != '-' || b[0] != '-' || a[1] == '-' {
		return false
	}
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// optionFiles notes the files that the options of a program name.
func (w *walker) optionFiles(files fileOptions, args []value, s *scope) {
	for i := range args {
		next := args[i+1 : min(i+2, len(args))]
		if v, ok := optionValue(files.writes, args[i], next); ok {
			w.writes(v, s)
		}
		if v, ok := optionValue(files.reads, args[i], next); ok {
			w.reads(v, s)
		}
	}
}

// optionValue returns the value of an argument that is one of some options: what
// stands behind it, or the next argument. Long ones may be shortened.
func optionValue(options string, arg value, next []value) (value, bool) {
	name, given, hasValue := strings.Cut(arg.text(), "=")
	for option := range strings.FieldsSeq(options) {
		isLong := len(option) > 2
		switch {
		case isLong && hasValue && (name == option || len(name) > 4 && strings.HasPrefix(option, name)):
			return value{{text: given, exact: arg.exact(), fetched: arg.fetched()}}, true
		case isLong && !hasValue && len(name) > 4 && strings.HasPrefix(option, name) && name != option:
			return slices.Concat(next...), len(next) > 0
		case isLong && arg.text() != option, !strings.HasPrefix(arg.text(), option):
		case arg.text() == option:
			return slices.Concat(next...), len(next) > 0
		default:
			return value{{text: arg.text()[len(option):], exact: arg.exact(), fetched: arg.fetched()}}, true
		}
	}
	return nil, false
}

// isInline reports whether arguments have a program in them, behind one of some options.
func isInline(options string, args []value) bool {
	return options != "" && slices.ContainsFunc(args, func(v value) bool { return slices.Contains(strings.Fields(options), v.text()) })
}
