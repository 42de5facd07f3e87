package command

import (
	"regexp"
	"strings"
	"sync"
)

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
