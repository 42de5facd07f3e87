package shell

import (
	"slices"
	"strings"
)

// Handed is a folder of which programs are given the names of the files below
// it. The names must not be read as anything but one file inside the project:
// no link may lead elsewhere, if Bare is set no name may begin with "-", and if
// Plain is set no name may have characters at which it is taken apart.
type Handed struct {
	Tree string
	// Name is a pattern, in the syntax of path/filepath's Match, of the names of
	// the files; empty means any.
	Name        string
	Bare, Plain bool
	// Index says that the names come from git's index, which may have more than
	// there are files.
	Index bool
}

// nameList is what a command prints if these are the names of files, one a line.
type nameList struct {
	trees []string
	name  string // a pattern of their last parts; empty means any
	zero  bool   // a zero byte ends each
	bare  bool   // no folder stands before them
	index bool   // they are those that git tracks
}

// through returns what a filter of whole lines makes of names.
func (l nameList) through(c command) nameList {
	if l.zero || len(c.paths)+len(c.patterns)+len(c.trees) > 0 {
		return nameList{}
	}
	return l
}

// wrap has the options of programs that run another one and do no more.
var wraps = map[string]program{
	"timeout": {flags: "v", values: "ks", long: "foreground preserve-status kill-after= signal= verbose"},
	"nice":    {values: "n", long: "adjustment=", count: true},
	"stdbuf":  {values: "ioe", long: "input= output= error="},
}

// judgeAfter is judge for a command that reads the output of another one, and
// that may run a further one.
func judgeAfter(words []word, names nameList) (command, bool) {
	if words[0].pattern != "" {
		return command{}, false
	}
	switch name := words[0].text; name {
	case "xargs":
		return judgeXargs(words[1:], names)
	case "timeout", "nice", "stdbuf":
		return judgeWrapped(name, words[1:], names)
	}
	return judge(words)
}

// judgeWrapped accepts a program that is run with a limit. The operand of
// timeout is how long.
func judgeWrapped(name string, words []word, names nameList) (command, bool) {
	p := wraps[name]
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		if words[0].pattern != "" {
			return command{}, false
		}
		c := &call{}
		var rest []word
		var ok bool
		switch text := words[0].text; {
		case text == "--":
			return command{}, false
		case strings.HasPrefix(text, "--"):
			rest, ok = p.longOption(c, text[2:], words[1:])
		case p.count && isNumber(text[1:]):
			rest, ok = words[1:], true
		default:
			rest, ok = p.letters(c, text[1:], words[1:])
		}
		if !ok || c.has("help", "version") {
			return command{}, false
		}
		words = rest
	}
	if name == "timeout" {
		if len(words) == 0 || strings.Trim(words[0].text, "0123456789.smhd") != "" {
			return command{}, false
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return command{}, false
	}
	return external(words, name, names)
}

// external judges a command that another program runs, so that bash's own
// programs are those of the system.
func external(words []word, by string, names nameList) (command, bool) {
	c, ok := judgeAfter(words, names)
	if !ok || c.dir != "" {
		return command{}, false
	}
	switch name := words[0].text; {
	case c.program != "":
	case slices.Contains(strings.Fields("echo printf pwd true false test ["), name):
		c.program = name
	default:
		return command{}, false
	}
	c.also = append(c.also, by)
	return c, true
}

// judgeXargs accepts a command that is given names that the command before it
// lists.
func judgeXargs(words []word, names nameList) (command, bool) {
	if len(names.trees) == 0 {
		return command{}, false
	}
	zero, replaced := false, ""
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		option := words[0].text
		words = words[1:]
		switch {
		case option == "-0" || option == "--null":
			zero = true
		case option == "-r" || option == "--no-run-if-empty" || option == "-0r" || option == "-r0":
			zero = zero || strings.Contains(option, "0")
		case (option == "-n" || option == "-P") && len(words) > 0 && isNumber(words[0].text):
			words = words[1:]
		case len(option) > 2 && (option[1] == 'n' || option[1] == 'P') && isNumber(option[2:]):
		case option == "-I{}":
			replaced = "{}"
		case option == "-I" && len(words) > 0 && words[0].text == "{}":
			replaced, words = "{}", words[1:]
		default:
			return command{}, false
		}
	}
	if zero != names.zero || len(words) == 0 {
		return command{}, false
	}
	return handing(words, "xargs", replaced, names)
}

// handing judges a command that is given names below folders: in place of a
// word, or behind its last.
func handing(words []word, by, replaced string, names nameList) (command, bool) {
	given := make([]word, 0, len(words)+2)
	found := false
	for _, w := range words {
		switch {
		case w.pattern != "" || replaced != "" && w.text != replaced && strings.Contains(w.text, replaced):
			return command{}, false
		case replaced != "" && w.text == replaced:
			w, found = word{text: names.trees[0], handed: true}, true
		}
		given = append(given, w)
	}
	if replaced == "" {
		name := word{text: names.trees[0], handed: true}
		given = append(given, name, name)
	} else if !found {
		return command{}, false
	}
	if given[0].handed || !takesNames(given[0].text) {
		return command{}, false
	}
	c, ok := external(given, by, nameList{})
	if !ok || len(c.trees)+len(c.handed) > 0 {
		return command{}, false
	}
	c.files, c.prints, c.hidden = nil, false, false
	for _, tree := range names.trees {
		c.handed = append(c.handed, Handed{Tree: tree, Name: names.name, Bare: names.bare, Plain: by == "xargs" && !names.zero, Index: names.index})
	}
	return c, true
}

// takesNames reports whether a program does nothing else with another file than
// it does with one.
func takesNames(program string) bool {
	return slices.Contains(strings.Fields("wc cat head tail nl grep egrep fgrep ls stat file du md5sum sha1sum sha256sum sha512sum cksum basename dirname realpath readlink echo sed awk jq test strings tac"), program)
}
