package skill

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"atelier.dev/atelier/agent"
)

// Limits of a prompt.
const (
	maxLines       = 50       // command lines of one skill
	maxOutput      = 32 << 10 // bytes of what one of them printed
	maxAttachments = 20
	maxAttached    = 64 << 10 // bytes of one file
	maxWords       = 100      // of the arguments
)

// Expansion is what a skill's prompt is made of, besides its body.
type Expansion struct {
	Args string
	// Session and Folder are the session's id and folder.
	Session, Folder string
	// Ran is what the skill's lines printed, in the order of Lines. A line without an output
	// stays as it is written.
	Ran []string
	// Attach returns the text of a file that the body mentions as "@path", and false if it is
	// not a file that may be read.
	Attach func(path string) (text string, ok bool)
}

// Lines returns the command lines that are run before the skill is sent.
func (s Skill) Lines() []string {
	var lines []string
	for _, part := range segments(s.Body) {
		if part.kind == command && part.code != "" && len(lines) < maxLines {
			lines = append(lines, part.code)
		}
	}
	return lines
}

// Expand returns the prompt. What arguments, files and command lines say is put in as it is:
// nothing in it is run or replaced, and none of it can be taken for a section of the system
// prompt.
func (s Skill) Expand(x Expansion) string {
	e := expander{skill: s, x: x, words: splitWords(x.Args)}
	parts := segments(s.Body)
	e.fromOne = countsFromOne(parts)
	var out strings.Builder
	ran := 0
	for _, part := range parts {
		switch {
		case part.kind != command || part.code == "":
			out.WriteString(e.replace(part))
		case ran < len(x.Ran) && ran < maxLines:
			out.WriteString(bounded(strings.TrimRight(x.Ran[ran], "\n"), maxOutput))
			e.used = e.used || strings.Contains(part.code, "$ARGUMENTS") || strings.Contains(part.code, "$1")
			ran++
		default:
			out.WriteString(part.text)
			ran++
		}
	}
	text := strings.TrimSpace(out.String())
	if args := strings.TrimSpace(x.Args); args != "" && !e.used {
		text += "\n\nARGUMENTS: " + args
	}
	return agent.EscapeTags(strings.TrimSpace(text + e.attached.String()))
}

// bounded cuts a text, and says so.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + fmt.Sprintf("\n[%d more bytes were left out]", len(text)-limit)
}

type expander struct {
	skill    Skill
	x        Expansion
	words    []string
	fromOne  bool // $1 is the first argument
	used     bool // a placeholder for arguments was replaced
	attached strings.Builder
	files    []string
}

// countsFromOne decides what $1 stands for. Files mean the first argument by it, unless they
// use $0 for that.
func countsFromOne(parts []segment) bool {
	for _, part := range parts {
		if part.kind != prose && part.kind != span {
			continue
		}
		for i := range len(part.text) {
			if n, _, ok := position(part, i); ok && n == 0 {
				return false
			}
		}
	}
	return true
}

// replace replaces the placeholders of a part.
func (e *expander) replace(part segment) string {
	var out strings.Builder
	text := part.text
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '$':
			if _, n := e.placeholder(part, i+1); n > 0 {
				out.WriteString(text[i+1 : i+1+n])
				i += 1 + n
				continue
			}
		case c == '$' || c == '{':
			if value, n := e.placeholder(part, i); n > 0 {
				out.WriteString(value)
				i += n
				continue
			}
		case c == '@' && part.kind == prose && (i == 0 || !isWordBefore(text[i-1])):
			n := e.mention(part, i, &out)
			i += n
			if n > 0 {
				continue
			}
		}
		out.WriteByte(text[i])
		i++
	}
	return out.String()
}

// placeholder returns the value of the placeholder at a place, and its length; 0 if there is
// none.
func (e *expander) placeholder(part segment, i int) (string, int) {
	rest := part.text[i:]
	for name, value := range e.variables() {
		if strings.HasPrefix(rest, name) {
			if value == "" {
				value = name
			}
			return value, len(name)
		}
	}
	if after, ok := strings.CutPrefix(rest, "$ARGUMENTS"); ok {
		if n, length, ok := index(after); ok {
			return e.argument(n, rest[:len("$ARGUMENTS")+length])
		}
		if after == "" || !isWord(after[0]) {
			e.used = true
			return e.x.Args, len("$ARGUMENTS")
		}
	}
	if n, length, ok := position(part, i); ok {
		if e.fromOne {
			n--
		}
		return e.argument(n, rest[:length])
	}
	if name := nameAt(rest); name != "" {
		if at := slices.Index(e.skill.Usage.Arguments, name); at >= 0 {
			e.used = true
			value := ""
			if at < len(e.words) {
				value = e.words[at]
			}
			return value, 1 + len(name)
		}
	}
	return "", 0
}

// argument returns one argument for a placeholder, which stays as it is written if there is none.
func (e *expander) argument(n int, written string) (string, int) {
	if n < 0 || n >= len(e.words) {
		return written, len(written)
	}
	e.used = true
	return e.words[n], len(written)
}

// variables are the placeholders for places. One without a value stays as it is written.
func (e *expander) variables() map[string]string {
	folder := e.skill.folder()
	above := ""
	if e.skill.Place.Root != "" {
		above = filepath.Dir(e.skill.Place.Root)
	}
	return map[string]string{
		"${CLAUDE_SKILL_DIR}": folder, "{baseDir}": folder, "${CLAUDE_PLUGIN_ROOT}": above,
		"${CLAUDE_PROJECT_DIR}": e.x.Folder, "${CLAUDE_SESSION_ID}": e.x.Session,
	}
}

// folder is the folder of a skill, or that of a command's file.
func (s Skill) folder() string {
	if s.Place.Folder == "" && s.Place.File != "" {
		return filepath.Dir(s.Place.File)
	}
	return s.Place.Folder
}

// index reads "[n]".
func index(s string) (n, length int, ok bool) {
	end := strings.IndexByte(s[:min(len(s), 5)], ']')
	if end < 2 || s[0] != '[' {
		return 0, 0, false
	}
	n, err := strconv.Atoi(s[1:end])
	return n, end + 1, err == nil && n >= 0
}

// position reads "$n". It is none in blocks of code, nor where it looks like a price, a range, or
// a field of awk.
func position(part segment, i int) (n, length int, ok bool) {
	text := part.text
	if part.kind == fence || text[i] != '$' || i > 0 && (text[i-1] == '\\' || text[i-1] == '$' || isWord(text[i-1])) {
		return 0, 0, false
	}
	end := i + 1
	for end < len(text) && end <= i+3 && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	if end == i+1 || end > i+3 {
		return 0, 0, false
	}
	rest := text[end:]
	if rest != "" && (isWord(rest[0]) || len(rest) > 1 && strings.IndexByte(",.-", rest[0]) >= 0 && rest[1] >= '0' && rest[1] <= '9') {
		return 0, 0, false
	}
	if part.kind == span && strings.Contains(text, "awk") {
		return 0, 0, false
	}
	n, err := strconv.Atoi(text[i+1 : end])
	return n, end - i, err == nil
}

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

func isWordBefore(c byte) bool { return isWord(c) || strings.IndexByte("@`/.", c) >= 0 }

// mention writes "@path" with its placeholders replaced, and attaches the file if it is one. It
// returns the length of what it read.
func (e *expander) mention(part segment, i int, out *strings.Builder) int {
	text := part.text
	end := i + 1
	var path strings.Builder
	for end < len(text) && strings.IndexByte(" \t\n`\"'<>|*()[],;", text[end]) < 0 {
		if text[end] == '$' || text[end] == '{' {
			if value, n := e.placeholder(part, end); n > 0 {
				path.WriteString(value)
				end += n
				continue
			}
		}
		path.WriteByte(text[end])
		end++
	}
	name := path.String()
	out.WriteString("@" + name)
	for _, candidate := range []string{name, strings.TrimRight(name, ".:!?")} {
		if e.attach(candidate) {
			break
		}
	}
	return end - i
}

func (e *expander) attach(path string) bool {
	if path == "" || e.x.Attach == nil || len(e.files) >= maxAttachments || len(path) > 4096 || strings.ContainsFunc(path, unicode.IsControl) {
		return false
	}
	if slices.Contains(e.files, path) {
		return true
	}
	text, ok := e.x.Attach(path)
	if !ok {
		return false
	}
	e.files = append(e.files, path)
	text = bounded(text, maxAttached)
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	fmt.Fprintf(&e.attached, "\n\nThe file %s:\n\n%s\n%s\n%s", path, mark, strings.TrimSuffix(text, "\n"), mark)
	return true
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
		case quote == 0 && !open && (c == '"' || c == '\''), quote == 0 && c == '"':
			quote, open = c, true
		case quote == 0 && unicode.IsSpace(c):
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
			if len(words) >= maxWords {
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

// Script returns what a shell has to run for a line: the line, with the arguments as its
// positional parameters, in the variable ARGUMENTS and under their names. They are quoted and
// never part of the line's own text, so that nothing in them is run. A line that uses no
// variable is returned as it is.
func Script(line, args string, names []string) string {
	if !strings.Contains(line, "$") {
		return line
	}
	for n := range maxWords {
		line = strings.ReplaceAll(line, fmt.Sprintf("$ARGUMENTS[%d]", n), fmt.Sprintf("${%d}", n+1))
		if !strings.Contains(line, "$ARGUMENTS[") {
			break
		}
	}
	words := splitWords(args)
	var out strings.Builder
	out.WriteString("set --")
	for _, word := range words {
		out.WriteString(" " + quote(word))
	}
	out.WriteString("; ARGUMENTS=" + quote(args))
	for i, name := range names {
		if !isVariable(name) {
			continue
		}
		value := ""
		if i < len(words) {
			value = words[i]
		}
		out.WriteString("; " + name + "=" + quote(value))
	}
	return out.String() + "\n" + line
}

// isVariable reports whether an argument may be a variable of a shell. Names in capitals are those
// of the environment, of which some change what programs run.
func isVariable(name string) bool {
	return isName(name) && strings.ToUpper(name) != name && !strings.HasSuffix(strings.ToLower(name), "_proxy")
}

// quote quotes a text for a shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", `'\''`) + "'"
}
