package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/internal/sed"
	"atelier.dev/atelier/agent/internal/sensitive"
)

// searchesRecursively makes trees of the paths of a recursive grep, which
// begins in the current folder by default.
func searchesRecursively(c *call, read *reading) bool {
	for _, o := range c.options {
		if (o.name == "d" || o.name == "directories") && o.value == "recurse" {
			return false // written in a way that nobody uses
		}
	}
	if !c.has("r", "recursive") {
		return true
	}
	if len(read.paths) == 0 {
		read.paths = []string{"."}
	}
	read.hidden = true
	return searchesTree(c, read)
}

// searchesTree makes trees of the paths. Names that a pattern will match may be
// folders too.
func searchesTree(c *call, read *reading) bool {
	read.trees = read.paths
	read.hidden = read.hidden || c.has("hidden", ".", "no-ignore", "no-ignore-vcs") ||
		slices.ContainsFunc(c.options, func(o setting) bool {
			isGlob := slices.Contains([]string{"g", "glob", "iglob"}, o.name)
			return isGlob && !strings.HasPrefix(o.value, "!") && sensitive.MayMatch(o.value) || (o.name == "t" || o.name == "type") && slices.Contains(hiddenTypes, o.value)
		})
	return !slices.ContainsFunc(read.patterns, func(p string) bool { return !strings.HasPrefix(p, "-") })
}

// hiddenTypes are ripgrep's types with names of hidden files in them that may hold
// secrets: a type, like a glob, brings hidden files back.
var hiddenTypes = strings.Fields("all sh zsh bash fish config dotenv")

// comparesWhole makes trees of the paths that diff compares: for two folders it
// reads all their files.
func comparesWhole(c *call, read *reading) bool {
	read.hidden = true
	return searchesTree(c, read)
}

// formats accepts gofmt for named files and folders. It reads the Go files of
// folders, also through links; old versionQuestions run diff.
func formats(c *call, read *reading) bool {
	for _, path := range read.paths {
		read.handed = append(read.handed, Handed{Tree: path, Name: "*.go"})
	}
	read.also = append(read.also, "diff")
	return len(read.patterns) == 0
}

func showsTime(c *call, _ *reading) bool {
	for _, w := range c.operands {
		if w.pattern != "" || !strings.HasPrefix(w.text, "+") { // anything else sets the clock
			return false
		}
	}
	return true
}

func (c *call) looksUp(*reading) bool { return c.has("v", "V") }

var (
	// sedScript matches scripts that only print lines and stop, sedLines those
	// that select the lines by number.
	sedScript = lazily(`^(?:` + sedAddress + `(?:,(?:` + sedAddress + `|\+[0-9]+))?[ \t]*[pq=][ \t]*(?:;[ \t]*|$))+$`)
	sedLines  = lazily(`^[0-9$,+pq; \t]+$`)
)

const sedAddress = `(?:[0-9]+|\$|/[^/\\\n\[]+/)`

// printsLines accepts calls of sed that print selected or changed lines.
func printsLines(c *call, read *reading) bool {
	if c.has("help", "version") {
		return true
	}
	var scripts []string
	for _, o := range c.options {
		if o.name == "e" || o.name == "expression" {
			scripts = append(scripts, o.value)
		}
	}
	if len(scripts) == 0 {
		scripts = []string{c.operands[0].text}
	}
	read.prints = c.has("n", "quiet", "silent")
	for _, script := range scripts {
		read.prints = read.prints && sedScript().MatchString(script) && sedLines().MatchString(script)
	}
	return !sed.DoesMore(scripts)
}

// jqReads matches programs of jq that read files, or the variables of the
// environment.
var jqReads = lazily(`\b(import|include|modulemeta|env|ENV|get_search_list)\b`)

func jqOnlyReads(c *call, read *reading) bool {
	return c.has("version", "help") || len(c.operands) > 0 && !jqReads().MatchString(c.operands[0].text)
}

// conversions matches the parts of a format of printf that print something.
var conversions = lazily(`%(?:%|[-+ #0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:[hljzt]*[diouxXeEfFgGaAcsbqQ]|\([^()]*\)T))`)

// PrintfAssigns reports whether a format of printf may change variables, which %n
// does: with PATH, what runs next is another program.
func PrintfAssigns(format string) bool {
	return strings.Contains(conversions().ReplaceAllLiteralString(format, ""), "%")
}

func printsTexts(c *call, _ *reading) bool {
	return len(c.operands) > 0 && c.operands[0].pattern == "" && !PrintfAssigns(c.operands[0].text)
}

// tellsNames accepts questions for variables that are not secret.
func tellsNames(c *call, _ *reading) bool {
	return len(c.operands) > 0 && !slices.ContainsFunc(c.operands, func(w word) bool { return w.pattern != "" || !slices.Contains(toldNames, w.text) })
}

// awkMore matches words of awk that run programs or read files that no operand
// names, wherever they stand.
var awkMore = lazily(`system|getline|ARGV|ARGC|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|BEGINFILE|@`)

// awkPrints accepts programs of awk that only print. Output to a file or to
// another program needs one of > and |, so these are accepted only where they
// cannot be that: || as a whole, and > before the first block or between round
// brackets. As a slash may be a division or begin an expression, nothing behind
// one is told apart.
func awkPrints(c *call, read *reading) bool {
	text := c.operands[0].text
	if awkMore().MatchString(text) {
		return false
	}
	text = strings.NewReplacer("||", "  ", ">=", "  ").Replace(text)
	block, round, blind := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '/', '#', '\\':
			blind = true
		case '"':
			end := strings.IndexAny(text[i+1:], "\"\\\n")
			if end < 0 || text[i+1+end] != '"' {
				blind = true
			} else if !blind {
				i += end + 1
			}
		case '{':
			block++
		case '}':
			block--
		case '(':
			round++
		case ')':
			round--
		case '|':
			return false
		case '>':
			if blind || block != 0 && round <= 0 {
				return false
			}
		}
	}
	return true
}

// lazily compiles an expression when it is first needed. Few programs need any of them, and
// compiling them all would delay every start.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
