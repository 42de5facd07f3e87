// Package sed tells what scripts of sed would do.
package sed

import "strings"

// DoesMore reports whether a script of sed may run commands, or read or write
// files, or is not understood. Its parts follow each other as lines.
func DoesMore(lines []string) bool {
	if len(lines) == 0 {
		return false
	}
	// Programs differ in whether brackets protect the character that ends an
	// expression. A script is understood if it is so in either way, and harmless
	// if it is so in both.
	understood := false
	for _, brackets := range []bool{false, true} {
		r := reader{rest: strings.Join(lines, "\n"), brackets: brackets}
		r.script()
		if r.more {
			return true
		}
		understood = understood || !r.invalid
	}
	return !understood
}

// reader reads a script of sed.
type reader struct {
	rest          string
	brackets      bool // they protect what ends an expression
	more, invalid bool
}

func (r *reader) script() {
	for !r.more && !r.invalid {
		r.rest = strings.TrimLeft(r.rest, " \t\n;")
		if r.rest == "" {
			return
		}
		r.address()
		if r.rest == "" {
			r.invalid = true
			return
		}
		command := r.next()
		switch command {
		case '{', '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		case 'q', 'Q', 'l', 'L':
			r.rest = strings.TrimLeft(r.rest, " \t0123456789")
		case 'b', 't', 'T', ':', 'v': // a command may follow a label behind a space
			r.rest = strings.TrimLeft(r.rest, " \t")
			r.rest = r.rest[len(r.rest)-len(strings.TrimLeftFunc(r.rest, func(c rune) bool { return !strings.ContainsRune("; \t\n}", c) })):]
		case '#':
			_, r.rest, _ = strings.Cut(r.rest, "\n")
		case 'a', 'i', 'c':
			r.text()
		case 's', 'y':
			r.replacement(command == 's')
		case 'e', 'r', 'R', 'w', 'W':
			r.more = true
		default:
			r.invalid = true
		}
	}
}

func (r *reader) next() byte {
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

// address skips the addresses before a command.
func (r *reader) address() {
	for r.rest != "" && !r.invalid {
		switch c := r.rest[0]; {
		case c >= '0' && c <= '9' || strings.IndexByte("$,+~! \t", c) >= 0:
			r.next()
		case c == '/' || c == '\\' && len(r.rest) > 1:
			if r.next() == '\\' {
				c = r.next()
			}
			r.until(c, true)
			r.rest = strings.TrimLeft(r.rest, "IM")
		default:
			return
		}
	}
}

// text skips lines of text, of which all but the last end in a backslash.
func (r *reader) text() {
	for r.rest != "" {
		if c := r.next(); c == '\n' {
			return
		} else if c == '\\' && r.rest != "" {
			r.next()
		}
	}
}

// replacement skips both parts of s or y, and looks at the flags of s.
func (r *reader) replacement(flags bool) {
	if r.rest == "" {
		r.invalid = true
		return
	}
	end := r.next()
	r.until(end, flags)
	r.until(end, false)
	for flags && !r.invalid && r.rest != "" {
		switch c := r.rest[0]; {
		case c == 'e' || c == 'w':
			r.more = true
			return
		case strings.IndexByte("gpiImM0123456789", c) >= 0:
			r.next()
		case strings.IndexByte("; \t\n}#", c) >= 0:
			return
		default:
			r.invalid = true
		}
	}
}

// until skips what comes before a character, and the character.
func (r *reader) until(end byte, expression bool) {
	within := false // brackets
	for r.rest != "" {
		switch c := r.next(); {
		case c == '\\' && r.rest != "" && !within:
			r.next()
		case c == '\n' && expression:
			r.invalid = true
			return
		case c == end && !within:
			return
		case !r.brackets || !expression:
		case c == '[' && !within:
			within = true
			r.rest = r.rest[len(r.rest)-len(strings.TrimPrefix(strings.TrimPrefix(r.rest, "^"), "]")):]
		case c == ']':
			within = false
		}
	}
	r.invalid = true
}
