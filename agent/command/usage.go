package command

import (
	"strings"
)

// command is what one simple command reads.
type reading struct {
	program                       string // to look up; empty for what bash does itself
	paths, patterns, trees, files []string
	hidden                        bool // also hidden files of its trees
	tracked                       bool // any file that git keeps
	remotes                       bool // addresses of remotes are printed
	listings                      []Listing
	present                       []string // words that are revisions if no such files exist
	prints                        bool     // its output is text of its input or its files
	dir                           string   // in which it runs
	passing
}

// passing is what a command has to do with other commands.
type passing struct {
	also    []string // other programs to look up
	perhaps []string // programs that it may run if they are there
	git     bool     // it asks git
	handed  []Handed
	lists   nameList // its output
	filters bool     // its output are lines of its input
}

// operands says what the operands are.
type operandKind int

const (
	takesFiles   operandKind = iota // files and folders
	takesPattern                    // first a pattern, unless an option gave one, then files
	takesTexts                      // neither are read
	takesNone                       // there are none
)

// program describes the harmless use of a program. An option that is not listed
// does more than read, or has not been examined. An option that takes a value
// on one system and none on another is listed without one: what follows then
// counts as a file.
type usage struct {
	flags    string // one-letter options without a value
	values   string // one-letter options with a value that is not a file
	tails    string // one-letter options whose value, if any, follows directly
	long     string // "name" takes no value, "name=" one, "name?" perhaps one behind "="
	operands operandKind
	here     bool // without a file it reads the folder in which it runs
	prints   bool // it prints the text of its files, or of its input, in order
	count    bool // it takes a number as an option: -20
	most     int  // the largest number of operands; 0 means any number
	builtin  bool
	verbatim bool   // no argument is an option
	asks     string // nothing but these questions, each the first argument
	// check examines the whole call, and what it has been found to read.
	check func(*call, *reading) bool
}

// call is a command line, parsed by the rules of a program.
type call struct {
	options  []setting
	operands []word
	// late has values of options that follow an operand. On systems where
	// options end at the first operand, such as macOS, they are files.
	late []string
	// after counts the operands after "--"; dashes says that there is one.
	after  int
	dashes bool
}

type setting struct{ name, value string }

func (c *call) has(names ...string) bool {
	for _, o := range c.options {
		for _, name := range names {
			if o.name == name {
				return true
			}
		}
	}
	return false
}

// judge returns what a command reads; it reports false if the command may do
// more.
func judge(words []word) (reading, bool) {
	name := words[0].text
	if words[0].pattern != "" {
		return reading{}, false
	}
	switch name {
	case "git":
		return judgeGit(words[1:])
	case "find":
		return judgeFind(words[1:])
	case "test", "[":
		return judgeTest(name, words[1:])
	case "ps":
		return judgeProcesses(words[1:])
	}
	p, arguments, ok := entry(words)
	if known := row(name).usage; !ok && known != nil {
		return judgeVersion(name, known.asks, words[1:])
	}
	if !ok {
		return reading{}, false
	}
	switch name {
	case "jq":
		arguments, ok = withoutNamed(arguments)
	case "tar", "bsdtar":
		arguments = withDash(arguments)
	}
	if !ok {
		return reading{}, false
	}
	c, ok := p.parse(arguments)
	if !ok {
		return reading{}, false
	}
	read := reading{prints: p.prints}
	if !p.builtin {
		read.program = name
	}
	if !p.collect(c, &read) || p.check != nil && !p.check(c, &read) {
		return reading{}, false
	}
	if read.prints {
		for _, path := range read.paths {
			if path != "-" {
				read.files = append(read.files, path)
			}
		}
	}
	if p.operands != takesFiles && p.operands != takesPattern {
		c.late = nil
	}
	for _, value := range c.late {
		if !isPath(value) {
			return reading{}, false
		}
		read.paths = append(read.paths, value)
	}
	read.passesNames(name, c)
	return read, true
}

// passesNames notes whether a command prints names of files, or names that it
// reads.
func (r *reading) passesNames(name string, c *call) {
	switch name {
	case "rg":
		if c.has("files", "l", "files-with-matches") && !c.has("0", "null", "json", "stats", "color", "pretty", "p") {
			r.lists = nameList{trees: r.trees, bare: true}
		}
	case "grep", "egrep", "fgrep":
		r.filters = !c.has("o", "only-matching", "c", "count", "n", "line-number", "b", "byte-offset", "H", "with-filename", "T", "initial-tab", "l", "color", "colour", "L",
			"A", "B", "C", "after-context", "before-context", "context", "count", "z", "Z", "null", "files-with-matches", "files-without-match")
		if c.has("l", "files-with-matches") && c.has("r", "recursive") && !c.has("Z", "null", "color", "colour") {
			r.lists = nameList{trees: r.trees, bare: true}
		}
	case "head", "tail":
		r.filters = !c.has("c", "bytes", "z", "v", "verbose")
	case "sort":
		r.filters = !c.has("z", "zero-terminated")
	case "uniq":
		r.filters = !c.has("c", "count", "z")
	}
}

// parse sorts arguments into options and operands, like getopt.
func (p usage) parse(arguments []word) (*call, bool) {
	c := &call{}
	for len(arguments) > 0 {
		w := arguments[0]
		arguments = arguments[1:]
		switch {
		case p.verbatim, p.builtin && len(c.operands) > 0: // bash's own programs take options first only
			c.operands = append(c.operands, w)
		case w.text == "--":
			c.operands, c.after, c.dashes = append(c.operands, arguments...), len(arguments), true
			return c, true
		case !strings.HasPrefix(w.text, "-") || w.text == "-":
			c.operands = append(c.operands, w)
		case p.most > 0 && len(c.operands) > 0:
			return nil, false
		case strings.HasPrefix(w.text, "--"):
			rest, ok := p.longOption(c, w.text[2:], arguments)
			if !ok {
				return nil, false
			}
			arguments = rest
		case p.count && isCount(w.text[1:]):
			c.options = append(c.options, setting{"count", w.text[1:]})
		default:
			rest, ok := p.letters(c, w.text[1:], arguments)
			if !ok {
				return nil, false
			}
			arguments = rest
		}
		if w.pattern != "" && strings.HasPrefix(w.text, "-") {
			c.operands = append(c.operands, word{pattern: w.pattern}) // no such name may exist
		}
	}
	return c, true
}

func (p usage) longOption(c *call, text string, rest []word) ([]word, bool) {
	name, value, given := strings.Cut(text, "=")
	if !p.builtin && !given && (name == "help" || name == "version") && p.long != "" {
		c.options = append(c.options, setting{name: name})
		return rest, true
	}
	for known := range strings.FieldsSeq(p.long) {
		switch {
		case known == name && !given, known == name+"?":
			c.options = append(c.options, setting{name, value})
			return rest, true
		case known != name+"=":
			continue
		case given:
			c.options = append(c.options, setting{name, value})
			return rest, true
		case len(rest) > 0 && rest[0].isValue():
			return c.take(name, rest), true
		}
		return nil, false
	}
	return nil, false
}

func (p usage) letters(c *call, letters string, rest []word) ([]word, bool) {
	for i := range len(letters) {
		letter := letters[i : i+1]
		switch {
		case strings.Contains(p.flags, letter):
			c.options = append(c.options, setting{name: letter})
		case strings.Contains(p.tails, letter):
			c.options = append(c.options, setting{letter, letters[i+1:]})
			return rest, true
		case !strings.Contains(p.values, letter):
			return nil, false
		case i+1 < len(letters):
			c.options = append(c.options, setting{letter, letters[i+1:]})
			return rest, true
		case len(rest) > 0 && rest[0].isValue():
			return c.take(letter, rest), true
		default:
			return nil, false
		}
	}
	return rest, true
}

// take gives an option the next argument.
func (c *call) take(name string, rest []word) []word {
	if len(c.operands) > 0 {
		c.late = append(c.late, rest[0].text)
	}
	c.options = append(c.options, setting{name, rest[0].text})
	return rest[1:]
}

func isCount(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// collect takes the paths from the operands.
func (p usage) collect(c *call, read *reading) bool {
	if p.most > 0 && len(c.operands) > p.most || p.operands == takesNone && len(c.operands) > 0 {
		return false
	}
	rest := c.operands
	if p.operands == takesPattern && !c.has("e", "regexp", "expression", "files", "type-list", "help", "version") {
		if len(rest) == 0 || !rest[0].isValue() {
			return false
		}
		rest = rest[1:]
	}
	named := false
	for _, w := range rest {
		switch {
		case w.pattern != "":
			if p.most > 0 || !isPath(w.text) && w.text != "" {
				return false
			}
			read.patterns = append(read.patterns, w.pattern)
			named = named || w.text != ""
		case w.output:
			named = true
		case p.operands == takesTexts:
		case !isPath(w.text):
			return false
		default:
			read.paths = append(read.paths, w.text)
			named = true
		}
	}
	if p.here && !named {
		read.paths = append(read.paths, ".")
	}
	return true
}
