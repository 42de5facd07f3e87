package rule

import (
	"strings"

	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/permission/boundary"
)

// piece is a stretch of a pattern's word: text, or anything.
type piece struct {
	text string
	any  bool
}

// word is a word of a command's pattern.
type word []piece

// anything is the word "*".
func (w word) anything() bool { return len(w) == 1 && w[0].any }

// open reports whether a word has a "*" that stands for anything.
func (w word) open() bool {
	for _, p := range w {
		if p.any {
			return true
		}
	}
	return false
}

// endless reports whether a word ends with "*".
func (w word) endless() bool { return len(w) > 0 && w[len(w)-1].any }

func (w word) text() string {
	var b strings.Builder
	for _, p := range w {
		if p.any {
			b.WriteByte('*')
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// matches reports whether a text is of the form of a word.
func (w word) matches(text string) bool {
	for i, p := range w {
		switch {
		case p.any && i == len(w)-1:
			return true
		case p.any: // the next text at its first place leaves most for the rest
			if i+2 == len(w) {
				return strings.HasSuffix(text, w[i+1].text)
			}
			_, after, ok := strings.Cut(text, w[i+1].text)
			if !ok {
				return false
			}
			text = w[i+1].text + after
		default:
			rest, ok := strings.CutPrefix(text, p.text)
			if !ok {
				return false
			}
			text = rest
		}
	}
	return text == ""
}

// commandPattern is the pattern of a command.
type commandPattern struct {
	line  string // as it is written, without its escapes, if it has no "*"
	words []word
	stars int
	wants []command.Want // the words after the program
	// starts checks whether a line may start what the rule means; nil if the rule
	// allows.
	starts *boundary.Checker
}

func (c commandPattern) exact() bool { return c.stars == 0 }

// parseCommand reads the selector of a rule for commands. Words are those of a
// shell; "\*" is a star, and ":*" at the end the same as " *".
func parseCommand(selector string) commandPattern {
	if before, ok := strings.CutSuffix(selector, ":*"); ok && !strings.HasSuffix(before, `\`) {
		selector = before + " *"
	}
	var c commandPattern
	var line strings.Builder
	var now word
	begun := false
	text := func(s string) {
		begun = true
		if len(now) > 0 && !now[len(now)-1].any {
			now[len(now)-1].text += s
		} else {
			now = append(now, piece{text: s})
		}
	}
	end := func() {
		if begun {
			c.words = append(c.words, now)
		}
		now, begun = nil, false
	}
	quote := byte(0)
	for i := 0; i < len(selector); i++ {
		b := selector[i]
		switch {
		case b == '\\' && i+1 < len(selector) && (selector[i+1] == '*' || selector[i+1] == '\\'):
			i++
			line.WriteByte(selector[i])
			text(selector[i : i+1])
			continue
		case b == '*':
			if c.stars++; len(now) == 0 || !now[len(now)-1].any {
				now = append(now, piece{any: true})
			}
			begun = true
		case quote != 0 && b == quote:
			quote = 0
		case quote == 0 && (b == '\'' || b == '"') && strings.IndexByte(selector[i+1:], b) >= 0:
			quote = b
			begun = true
		case quote == 0 && (b == ' ' || b == '\t'):
			end()
		default:
			text(selector[i : i+1])
		}
		line.WriteByte(b)
	}
	end()
	c.line = line.String()
	if len(c.words) == 0 {
		c.words = []word{nil}
	}
	for _, w := range c.words[1:] {
		text, open := strings.CutSuffix(w.text(), "*")
		c.wants = append(c.wants, command.Want{Text: text, Open: open && w.endless(), Form: w.matches})
	}
	return c
}

// Escape returns a command line as the selector of a rule for exactly this line.
func Escape(line string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(line)
}
