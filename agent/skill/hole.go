package skill

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// holes finds the placeholders of a body and what they stand for.
type holes struct {
	parts    []segment
	args     string
	words    []string // of the arguments
	names    []string
	places   []place
	fromZero bool // $0 is the first argument, and not $1
}

// place is a placeholder that stands for a folder or an id.
type place struct{ name, value string }

// hole is a placeholder. One that stands for an argument which was not given is none, and stays
// as it is written.
type hole struct {
	length   int
	value    string
	argument bool
}

func newHoles(s Skill, x Expansion) holes {
	h := holes{parts: segments(s.Body), args: x.Args, words: splitWords(x.Args), names: s.Usage.Arguments}
	for _, p := range []place{
		{"${CLAUDE_SKILL_DIR}", s.folder()}, {"{baseDir}", s.folder()}, {"${CLAUDE_PLUGIN_ROOT}", s.above()},
		{"${CLAUDE_PROJECT_DIR}", x.Folder}, {"${CLAUDE_SESSION_ID}", x.Session},
	} {
		if p.value != "" {
			h.places = append(h.places, p)
		}
	}
	h.fromZero = countsFromZero(h.parts)
	return h
}

// places replaces the placeholders for the skill's own folders.
func (s Skill) places() *strings.Replacer {
	var pairs []string
	for _, p := range []place{{"${CLAUDE_SKILL_DIR}", s.folder()}, {"{baseDir}", s.folder()}, {"${CLAUDE_PLUGIN_ROOT}", s.above()}} {
		if p.value != "" {
			pairs = append(pairs, p.name, p.value)
		}
	}
	return strings.NewReplacer(pairs...)
}

// folder is the folder of a skill, or that of a command's file.
func (s Skill) folder() string {
	if s.Place.Folder == "" && s.Place.File != "" {
		return filepath.Dir(s.Place.File)
	}
	return s.Place.Folder
}

// above is the folder that has the folder of skills, which is a plugin's in other programs.
func (s Skill) above() string {
	if s.Place.Root == "" {
		return ""
	}
	return filepath.Dir(s.Place.Root)
}

// countsFromZero decides what $1 stands for. All files that use it mean the first argument by it,
// unless they use $0 for that; without $1, $2 is the one with the index 2.
func countsFromZero(parts []segment) bool {
	one := false
	for _, part := range parts {
		body := part.text
		if part.kind == command {
			body = part.code
		}
		for i := strings.IndexByte(body, '$'); i >= 0 && i < len(body); i++ {
			n, _, ok := position(part.kind, body, i)
			switch {
			case !ok || i > 0 && body[i-1] == '\\':
			case n == 0:
				return true
			case n == 1:
				one = true
			}
		}
	}
	return !one
}

// at returns the placeholder at a place of a part.
func (h *holes) at(part segment, i int) (hole, bool) {
	rest := part.text[i:]
	if rest[0] != '$' && rest[0] != '{' {
		return hole{}, false
	}
	for _, p := range h.places {
		if strings.HasPrefix(rest, p.name) {
			return hole{length: len(p.name), value: p.value}, true
		}
	}
	if after, ok := strings.CutPrefix(rest, "$ARGUMENTS"); ok {
		if n, length, ok := index(after); ok {
			return h.word(n, len("$ARGUMENTS")+length)
		}
		if after == "" || !isWord(after[0]) {
			return hole{len("$ARGUMENTS"), h.args, true}, true
		}
	}
	if n, length, ok := position(part.kind, part.text, i); ok {
		if !h.fromZero {
			n--
		}
		return h.word(n, length)
	}
	if name := nameAt(rest); name != "" {
		if n := slices.Index(h.names, name); n >= 0 {
			word, ok := h.word(n, 1+len(name))
			if !ok {
				word = hole{length: 1 + len(name), argument: true}
			}
			return word, true
		}
	}
	return hole{}, false
}

func (h *holes) word(n, length int) (hole, bool) {
	if n < 0 || n >= len(h.words) {
		return hole{}, false
	}
	return hole{length, h.words[n], true}, true
}

// index reads "[n]".
func index(s string) (n, length int, ok bool) {
	end := strings.IndexByte(s[:min(len(s), 4)], ']')
	if end < 2 || s[0] != '[' {
		return 0, 0, false
	}
	n, ok = digits(s[1:end])
	return n, end + 1, ok
}

// digits reads a number of one or two digits.
func digits(s string) (int, bool) {
	if s == "" || len(s) > 2 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// queries make "$1" behind them on a line a field of awk, or a parameter of a database.
var queries = []string{"awk ", "SELECT ", "WHERE ", "VALUES"}

// position reads "$n" in a text. It is none in fenced code, nor where it looks like a price, a
// range, a field of awk or a parameter of a query.
func position(kind segmentKind, text string, i int) (n, length int, ok bool) {
	if kind == fence || text[i] != '$' || i > 0 && (text[i-1] == '$' || isWord(text[i-1])) {
		return 0, 0, false
	}
	end := i + 1
	for end < len(text) && end < i+4 && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if n, ok = digits(text[i+1 : end]); !ok {
		return 0, 0, false
	}
	if rest := text[end:]; rest != "" {
		amount := len(rest) > 1 && strings.IndexByte(",.-", rest[0]) >= 0 && rest[1] >= '0' && rest[1] <= '9'
		if amount || isWord(rest[0]) && rest[0] < 0x80 {
			return 0, 0, false
		}
	}
	before := text[max(0, i-200):i]
	before = before[strings.LastIndexByte(before, '\n')+1:]
	return n, end - i, !slices.ContainsFunc(queries, func(q string) bool { return strings.Contains(before, q) })
}

// nameAt returns the name behind a "$".
func nameAt(s string) string {
	if s == "" || s[0] != '$' {
		return ""
	}
	end := 1
	for end < len(s) && isWord(s[end]) {
		end++
	}
	return s[1:end]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// splitWords splits arguments at spaces. Quotes group words.
func splitWords(args string) []string {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, c := range args {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' && !open): // an apostrophe is none
			quote, open = c, true
		case quote == 0 && unicode.IsSpace(c):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
			if len(words) == maxWords {
				return words
			}
		default:
			word.WriteRune(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}
