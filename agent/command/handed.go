package command

import (
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
func (l nameList) through(c reading) nameList {
	if l.zero || len(c.paths)+len(c.patterns)+len(c.trees) > 0 {
		return nameList{}
	}
	return l
}

// judgeAfter is judge for a command that reads the output of another one, and
// that may run a further one.
func judgeAfter(words []word, names nameList) (reading, bool) {
	if words[0].pattern != "" {
		return reading{}, false
	}
	name := words[0].text
	p := row(name)
	switch {
	case name == "xargs":
		return judgeXargs(words[1:], names)
	case p.wraps != nil && p.wraps.usage != nil:
		return judgeWrapped(name, words[1:], names)
	}
	return judge(words)
}

// judgeWrapped accepts a program that is run with a limit. The operand of
// timeout is how long.
func judgeWrapped(name string, words []word, names nameList) (reading, bool) {
	p := row(name).wraps.usage
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		if words[0].pattern != "" {
			return reading{}, false
		}
		c := &call{}
		var rest []word
		var ok bool
		switch text := words[0].text; {
		case text == "--":
			return reading{}, false
		case strings.HasPrefix(text, "--"):
			rest, ok = p.longOption(c, text[2:], words[1:])
		case p.count && isCount(text[1:]):
			rest, ok = words[1:], true
		default:
			rest, ok = p.letters(c, text[1:], words[1:])
		}
		if !ok || c.has("help", "version") {
			return reading{}, false
		}
		words = rest
	}
	if name == "timeout" {
		if len(words) == 0 || strings.Trim(words[0].text, "0123456789.smhd") != "" {
			return reading{}, false
		}
		words = words[1:]
	}
	if len(words) == 0 {
		return reading{}, false
	}
	return external(words, name, names)
}

// external judges a command that another program runs, so that bash's own
// programs are those of the system.
func external(words []word, by string, names nameList) (reading, bool) {
	c, ok := judgeAfter(words, names)
	if !ok || c.dir != "" {
		return reading{}, false
	}
	switch name := words[0].text; {
	case c.program != "":
	case row(name).is(inBash):
		c.program = name
	default:
		return reading{}, false
	}
	c.also = append(c.also, by)
	return c, true
}

// judgeXargs accepts a command that is given names that the command before it
// lists.
func judgeXargs(words []word, names nameList) (reading, bool) {
	if len(names.trees) == 0 {
		return reading{}, false
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
		case (option == "-n" || option == "-P") && len(words) > 0 && isCount(words[0].text):
			words = words[1:]
		case len(option) > 2 && (option[1] == 'n' || option[1] == 'P') && isCount(option[2:]):
		case option == "-I{}":
			replaced = "{}"
		case option == "-I" && len(words) > 0 && words[0].text == "{}":
			replaced, words = "{}", words[1:]
		default:
			return reading{}, false
		}
	}
	if zero != names.zero || len(words) == 0 {
		return reading{}, false
	}
	return handing(words, "xargs", replaced, names)
}

// handing judges a command that is given names below folders: in place of a
// word, or behind its last.
func handing(words []word, by, replaced string, names nameList) (reading, bool) {
	given := make([]word, 0, len(words)+2)
	found := false
	for _, w := range words {
		switch {
		case w.pattern != "" || replaced != "" && w.text != replaced && strings.Contains(w.text, replaced):
			return reading{}, false
		case replaced != "" && w.text == replaced:
			w, found = word{text: names.trees[0], handed: true}, true
		}
		given = append(given, w)
	}
	if replaced == "" {
		name := word{text: names.trees[0], handed: true}
		given = append(given, name, name)
	} else if !found {
		return reading{}, false
	}
	if given[0].handed || !row(given[0].text).is(handsOn) {
		return reading{}, false
	}
	c, ok := external(given, by, nameList{})
	if !ok || len(c.trees)+len(c.handed) > 0 {
		return reading{}, false
	}
	c.files, c.prints, c.hidden = nil, false, false
	for _, tree := range names.trees {
		c.handed = append(c.handed, Handed{Tree: tree, Name: names.name, Bare: names.bare, Plain: by == "xargs" && !names.zero, Index: names.index})
	}
	return c, true
}
