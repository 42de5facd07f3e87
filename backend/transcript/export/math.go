package export

import (
	"bytes"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Formulas are shown as they are written, so that Markdown takes no sign of theirs.
// What counts as one is as careful as in the window (markdown/maths.ts).

// maxFormula limits a formula, in bytes. A longer one is text.
const maxFormula = 4000

var kindMath, kindMathBlock = ast.NewNodeKind("Math"), ast.NewNodeKind("MathBlock")

// math is a formula within a line, with its delimiters.
type math struct {
	ast.BaseInline
	source []byte
}

func (*math) Kind() ast.NodeKind             { return kindMath }
func (m *math) Dump(source []byte, deep int) { ast.DumpHelper(m, source, deep, nil, nil) }

// mathBlock is a formula on lines of its own.
type mathBlock struct {
	ast.BaseBlock
	close  string
	closed bool
}

func (*mathBlock) Kind() ast.NodeKind             { return kindMathBlock }
func (*mathBlock) IsRaw() bool                    { return true }
func (m *mathBlock) Dump(source []byte, deep int) { ast.DumpHelper(m, source, deep, nil, nil) }

// mathSource renders a formula as its source.
func mathSource(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if m, ok := n.(*math); ok {
		fmt.Fprintf(w, "<code class=\"math\" dir=\"ltr\">%s</code>", html.EscapeString(string(m.source)))
		return ast.WalkContinue, nil
	}
	formula := strings.TrimSpace(string(n.Lines().Value(source)))
	fmt.Fprintf(w, "<pre class=\"math\" tabindex=\"0\" dir=\"ltr\">%s</pre>\n", html.EscapeString(formula))
	return ast.WalkContinue, nil
}

// delimiters are those of formulas, by what opens them; the longer ones first.
var delimiters = [][2]string{{"$$", "$$"}, {`\[`, `\]`}, {`\(`, `\)`}, {"$", "$"}}

// mathParser finds formulas within a line.
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte{'$', '\\'} }

func (mathParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	before := block.PrecendingCharacter()
	for _, d := range delimiters {
		rest, opens := bytes.CutPrefix(line, []byte(d[0]))
		if !opens {
			continue
		}
		end := unescaped(rest[:min(len(rest), maxFormula)], d[1])
		if end < 0 {
			return nil
		}
		formula, after := string(rest[:end]), rest[end+len(d[1]):]
		if !isFormula(formula) || !fits(d[0], before, formula, after) {
			return nil
		}
		source := line[:len(line)-len(after)]
		block.Advance(len(source))
		return &math{source: source}
	}
	return nil
}

// fits reports whether a formula has what its delimiters need around and inside
// them: a dollar could be a price, and a bracket an escaped one.
func fits(delimiter string, before rune, formula string, after []byte) bool {
	next := rune(0)
	if len(after) > 0 {
		next = rune(after[0])
	}
	switch delimiter {
	case "$":
		return !isWord(before) && !isWord(next) && formula == strings.TrimSpace(formula)
	case `\[`:
		return strings.ContainsAny(formula, `\^_=+<>`) && !strings.ContainsRune("([:", next)
	case `\(`:
		return !strings.ContainsRune("([:", next)
	}
	return true
}

// unescaped returns where a delimiter stands that no backslash escapes; -1 if it
// does not.
func unescaped(line []byte, delimiter string) int {
	if !bytes.Contains(line, []byte(delimiter)) {
		return -1
	}
	for at := 0; at < len(line); at++ {
		switch {
		case bytes.HasPrefix(line[at:], []byte(delimiter)):
			return at
		case line[at] == '\\':
			at++
		}
	}
	return -1
}

func isWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z'
}

// isFormula reports whether what stands between two delimiters reads like a formula,
// not like prose, code, prices or variables of a shell.
func isFormula(s string) bool {
	if strings.TrimSpace(s) == "" || strings.Contains(s, "`") {
		return false
	}
	if strings.ContainsAny(s, `\^_={}`) {
		return true
	}
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return false
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	words = slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) < 2 })
	return len(words) == 0 || len(words) == 1 && words[0] == s && utf8.RuneCountInString(s) <= 3
}

// mathBlockParser finds formulas on lines of their own, from $$ to $$ or from \[ to \].
type mathBlockParser struct{}

func (mathBlockParser) Trigger() []byte { return []byte{'$', '\\'} }

func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 {
		return nil, parser.NoChildren
	}
	for _, d := range delimiters[:2] {
		rest, opens := bytes.CutPrefix(line[at:], []byte(d[0]))
		if !opens || unescaped(rest, d[1]) >= 0 || !closes(reader, d[1]) {
			continue
		}
		node := &mathBlock{close: d[1]}
		node.Lines().Append(segment)
		reader.AdvanceToEOL()
		return node, parser.NoChildren
	}
	return nil, parser.NoChildren
}

// closes reports whether a delimiter ends one of the lines up to the next empty one.
func closes(reader text.Reader, delimiter string) bool {
	line, segment := reader.PeekLine()
	rest := reader.Source()[min(segment.Start+len(line), len(reader.Source())):]
	for size := 0; size < maxFormula && len(rest) > 0; {
		next, more, _ := bytes.Cut(rest, []byte("\n"))
		if len(bytes.TrimSpace(next)) == 0 {
			return false
		}
		if endsWith(next, delimiter) {
			return true
		}
		size, rest = size+len(next), more
	}
	return false
}

// endsWith reports whether a line ends with a delimiter, and perhaps a full stop.
func endsWith(line []byte, delimiter string) bool {
	return bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n.,;:"), []byte(delimiter))
}

func (mathBlockParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	m := n.(*mathBlock)
	line, segment := reader.PeekLine()
	if m.closed || len(bytes.TrimSpace(line)) == 0 {
		return parser.Close
	}
	m.Lines().Append(segment)
	reader.AdvanceToEOL()
	m.closed = endsWith(line, m.close)
	return parser.Continue | parser.NoChildren
}

func (mathBlockParser) Close(ast.Node, text.Reader, parser.Context) {}
func (mathBlockParser) CanInterruptParagraph() bool                 { return true }
func (mathBlockParser) CanAcceptIndentedLine() bool                 { return false }
