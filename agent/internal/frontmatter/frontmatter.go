// Package frontmatter reads the keys that stand before the text of a Markdown file. It reads whatever
// it is given: what is not valid YAML is read line by line.
package frontmatter

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of frontmatter. A file whose frontmatter is longer is not read at all: what was
// left out could have limited it.
const (
	maxFront      = 64 << 10 // bytes
	maxFrontLines = 1000
	maxNesting    = 32
)

// Front is the frontmatter of a Markdown file, and what stands below it.
type Front struct {
	// Present says that the file begins with frontmatter, and Fields are its keys in
	// their order, each once.
	Present bool
	Fields  []Field
	// Body is the text below it, with "\n" at the ends of lines. It begins on BodyLine
	// of the file, which counts from 1.
	Body     string
	BodyLine int
	// Problem says why the frontmatter is not valid YAML, and ProblemLine where. It was
	// then read leniently: a key is what a line begins with, up to the first colon.
	Problem     string
	ProblemLine int
	// Repeated are keys that stand there again. The first of each counts.
	Repeated []Field
	// TooLong says that the frontmatter is beyond the limits and was not read.
	TooLong bool

	text string              // the frontmatter
	line int                 // the line on which it begins
	keys map[string]int      // the places of folded keys in Fields
	maps map[string]ast.Node // the values of folded keys that are lists or maps
}

// Field is one key of frontmatter.
type Field struct {
	// Key is as it is written, and Line where.
	Key  string
	Line int
	// Text is the value as one text; of a list or map its values, joined. Raw is the rest
	// of the key's line as it is written, without quotes around it.
	Text, Raw string
	// Items are the values of a list, or the keys of a map whose values mean yes.
	Items []string
	Kind  Kind
}

// Kind says what shape a value has.
type Kind int

// The shapes.
const (
	Empty Kind = iota
	Text       // a text, a number or a boolean
	List
	Map
)

// Field returns a key's value. Spellings that differ in case, "-" and "_" are the same.
func (f Front) Field(key string) (Field, bool) {
	at, ok := f.keys[Fold(key)]
	if !ok {
		return Field{}, false
	}
	return f.Fields[at], true
}

var separators = strings.NewReplacer("-", "", "_", "")

// Fold makes the spellings of one key the same: allowed-tools, allowed_tools and
// allowedTools.
func Fold(key string) string { return strings.ToLower(separators.Replace(key)) }

func (f *Front) add(field Field) bool {
	key := Fold(field.Key)
	if _, twice := f.keys[key]; twice {
		f.Repeated = append(f.Repeated, field)
		return false
	}
	f.keys[key] = len(f.Fields)
	f.Fields = append(f.Fields, field)
	return true
}

func (f *Front) reset() {
	f.Fields, f.Repeated, f.keys, f.maps = nil, nil, map[string]int{}, map[string]ast.Node{}
}

// JSON returns the value of a key that is a list or a map, with all that is in it. It reports
// false for anything else, also if the frontmatter is not valid YAML. An alias of a list or a
// map is null.
func (f Front) JSON(key string) (json.RawMessage, bool) {
	node, ok := f.maps[Fold(key)]
	if !ok {
		return nil, false
	}
	raw, err := json.Marshal(plain(node))
	return raw, err == nil
}

// plain returns a node as a Go value. Nesting is limited before the text is parsed.
func plain(node ast.Node) any {
	switch n := node.(type) {
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, v := range n.Values {
			list = append(list, plain(v))
		}
		return list
	case ast.MapNode:
		out := map[string]any{}
		for it := n.MapRange(); it.Next(); {
			out[keyOf(it.Key())] = plain(it.Value())
		}
		return out
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.AnchorNode:
		return plain(n.Value)
	}
	text, ok := scalar(node, nil, 0)
	if !ok {
		return nil
	}
	return text
}

// Read reads a file's frontmatter. It reads whatever it is given.
func Read(text string) Front {
	f := cutFront(clean(text))
	f.reset()
	if !f.Present {
		return f
	}
	if len(f.text) > maxFront || strings.Count(f.text, "\n") > maxFrontLines {
		f.TooLong = true
		return f
	}
	if f.Problem == "" {
		if err := f.readYAML(); err != nil {
			f.reset()
			f.Problem, f.ProblemLine = problemOf(err)
			f.ProblemLine = min(f.ProblemLine+f.line-1, f.BodyLine-1)
		}
	}
	if f.Problem != "" {
		f.readLines()
	}
	return f
}

// Mentions reports whether the frontmatter seems to have a key, even if lenient
// reading did not find one.
func (f Front) Mentions(key *regexp.Regexp) bool { return key.MatchString(f.text) }

// clean returns a text as UTF-8 with "\n" at the ends of lines and without a byte order mark.
func clean(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd").Replace(text)
}

// cutFront cuts a text into its frontmatter and its body. Frontmatter that does not end is
// what stands before the first empty line or heading.
func cutFront(text string) Front {
	none := Front{Body: text, BodyLine: 1}
	rest := strings.TrimLeft(text, " \t\n")
	line := 1 + strings.Count(text[:len(text)-len(rest)], "\n")
	first, rest, found := strings.Cut(rest, "\n")
	if !found || strings.TrimRight(first, " \t") != "---" {
		return none
	}
	f := Front{Present: true, line: line + 1, BodyLine: line + 1}
	at, gap, gapLine := 0, -1, 0
	for next := range strings.Lines(rest) {
		mark := strings.TrimRight(next, " \t\n")
		if mark == "---" || mark == "..." {
			f.text, f.Body = rest[:at], rest[at+len(next):]
			f.BodyLine++
			return f
		}
		if gap < 0 && (mark == "" || mark[0] == '#') {
			gap, gapLine = at, f.BodyLine
		}
		at += len(next)
		f.BodyLine++
	}
	if gap < 0 {
		gap, gapLine = len(rest), f.BodyLine
	}
	f.text, f.Body, f.BodyLine = rest[:gap], rest[gap:], gapLine
	if !strings.Contains(f.text, ":") { // a line, as Markdown draws it
		return none
	}
	f.Problem, f.ProblemLine = "it has no line --- at its end", line
	return f
}

var (
	errNested = errors.New("it is nested too deeply")
	errNoMap  = errors.New("it is not a list of keys and values")
	errMerge  = errors.New("it takes keys over from elsewhere (<<), which is not followed")
	errPanic  = errors.New("it cannot be read")
)

// problemOf returns what an error of reading says, and on which line.
func problemOf(err error) (string, int) {
	if e, ok := errors.AsType[yaml.Error](err); ok {
		line := 1
		if tok := e.GetToken(); tok != nil && tok.Position != nil {
			line = max(1, tok.Position.Line)
		}
		return e.GetMessage(), line
	}
	return err.Error(), 1
}

// readYAML reads the fields of valid YAML.
func (f *Front) readYAML() (err error) {
	if nested(f.text) {
		return errNested
	}
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	file, err := parser.ParseBytes([]byte(f.text), 0, parser.AllowDuplicateMapKey())
	switch {
	case err != nil:
		return err
	case len(file.Docs) == 0 || file.Docs[0].Body == nil:
		return nil
	case len(file.Docs) > 1:
		return errNoMap
	}
	root := file.Docs[0].Body
	node, ok := root.(ast.MapNode)
	if !ok {
		if root.Type() == ast.NullType || root.Type() == ast.CommentType || root.Type() == ast.CommentGroupType {
			return nil
		}
		return errNoMap
	}
	lines := strings.Split(f.text, "\n")
	anchors := anchorsOf(root)
	for it := node.MapRange(); it.Next(); {
		kv := it.KeyValue()
		if kv.Key.Type() == ast.MergeKeyType {
			return errMerge
		}
		field := Field{Key: keyOf(kv.Key)}
		at := 0
		if tok := kv.Key.GetToken(); tok != nil && tok.Position != nil {
			at = min(max(1, tok.Position.Line), len(lines)) - 1
		}
		_, raw, _ := strings.Cut(lines[at], ":")
		field.Line, field.Raw = at+f.line, Unquote(strings.TrimSpace(raw))
		field.set(kv.Value, anchors)
		if f.add(field) && (field.Kind == List || field.Kind == Map) {
			f.maps[Fold(field.Key)] = kv.Value
		}
	}
	return nil
}

// nested reports whether a text may be nested so deeply that a parser runs out of stack: in
// brackets, or in marks of lists and keys on one line.
func nested(text string) bool {
	depth := 0
	for line := range strings.Lines(text) {
		marks := line[:len(line)-len(strings.TrimLeft(line, "-?: \t"))]
		if strings.Count(marks, "- ")+strings.Count(marks, "? ")+strings.Count(marks, ": ") > maxNesting {
			return true
		}
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxNesting {
				return true
			}
		}
	}
	return false
}

func keyOf(node ast.Node) string {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.MappingKeyNode:
		text, _ := scalar(n.Value, nil, 0)
		return text
	}
	if tok := node.GetToken(); tok != nil {
		return tok.Value
	}
	return ""
}

// anchorsOf returns the scalars that have an anchor. An alias of anything larger is empty:
// aliases of aliases could stand for any amount of text.
func anchorsOf(root ast.Node) map[string]ast.Node {
	found := map[string]ast.Node{}
	for _, n := range ast.Filter(ast.AnchorType, root) {
		if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
			if _, scalar := a.Value.(ast.ScalarNode); scalar {
				found[a.Name.String()] = a.Value
			}
		}
	}
	return found
}

// set takes the value of a node over.
func (f *Field) set(node ast.Node, anchors map[string]ast.Node) {
	switch n := node.(type) {
	case *ast.SequenceNode:
		f.Kind = List
		for _, v := range n.Values {
			if text, ok := scalar(v, anchors, 0); ok {
				f.Items = append(f.Items, text)
			}
		}
		f.Text = strings.Join(f.Items, ", ")
	case ast.MapNode:
		f.Kind = Map
		var pairs []string
		for it := n.MapRange(); it.Next(); {
			text, ok := scalar(it.Value(), anchors, 0)
			if Yes(text) {
				f.Items = append(f.Items, keyOf(it.Key()))
			}
			if ok {
				pairs = append(pairs, keyOf(it.Key())+": "+text)
			}
		}
		f.Text = strings.Join(pairs, "; ")
	default:
		if text, ok := scalar(node, anchors, 0); ok {
			f.Kind, f.Text = Text, text
		}
	}
}

// scalar returns the text of a node that is one value. It reports false for null and for
// collections.
func scalar(node ast.Node, anchors map[string]ast.Node, depth int) (string, bool) {
	if depth > 4 {
		return "", false
	}
	switch n := node.(type) {
	case nil, *ast.NullNode:
		return "", false
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.TagNode:
		return scalar(n.Value, anchors, depth+1)
	case *ast.AnchorNode:
		return scalar(n.Value, anchors, depth+1)
	case *ast.AliasNode:
		if n.Value == nil {
			return "", false
		}
		return scalar(anchors[n.Value.String()], anchors, depth+1)
	case *ast.SequenceNode, ast.MapNode:
		return "", false
	}
	if tok := node.GetToken(); tok != nil {
		return tok.Value, true // as it is written: 1.10 stays 1.10
	}
	return "", false
}

// readLines reads text that is not valid YAML: each line that begins with a key.
func (f *Front) readLines() {
	open := -1 // the key whose value goes on
	at := f.line - 1
	margin := indent(f.text)
	for line := range strings.Lines(f.text) {
		at++
		line = strings.TrimRight(line, " \t\n")
		line = line[min(len(line), margin):]
		key, rest, ok := strings.Cut(line, ":")
		key = Unquote(strings.TrimRight(key, " "))
		if ok && IsKey(key) && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			rest = strings.TrimSpace(rest)
			field := Field{Key: key, Line: at, Raw: Unquote(rest)}
			field.setText(rest)
			if open = -1; f.add(field) {
				open = len(f.Fields) - 1
			}
			continue
		}
		if open < 0 || line == "" || line[0] == '#' || !strings.ContainsAny(line[:1], " \t-]") {
			continue
		}
		f.Fields[open].goOn(strings.TrimSpace(line))
	}
}

// indent returns how far all lines are indented.
func indent(text string) int {
	least := len(text)
	for line := range strings.Lines(text) {
		if bare := strings.TrimLeft(line, " "); strings.TrimSpace(bare) != "" {
			least = min(least, len(line)-len(bare))
		}
	}
	return least
}

// IsKey reports whether a text may be a key.
func IsKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// setText reads the rest of a line as a value.
func (f *Field) setText(rest string) {
	switch {
	case rest == "":
	case strings.ContainsAny(rest[:1], "|>") && strings.Trim(rest[1:], "+-0123456789") == "": // a block follows
		f.Raw = ""
	default:
		f.Kind, f.Text = Text, Unquote(rest)
	}
}

// goOn adds a further line to a value.
func (f *Field) goOn(line string) {
	if item, ok := strings.CutPrefix(line, "- "); ok && f.Kind != Text {
		f.Kind = List
		f.Items = append(f.Items, Unquote(strings.TrimSpace(item)))
		f.Text = strings.Join(f.Items, ", ")
		return
	}
	if n := len(f.Items); n > 0 {
		f.Items[n-1] += " " + line
		return
	}
	f.Kind, f.Text = Text, strings.TrimSpace(f.Text+" "+line)
}

// Unquote takes the quotes around a text away.
func Unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// Yes reports whether a text means yes.
func Yes(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1", "y":
		return true
	}
	return false
}

// No reports whether a text means no.
func No(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "false", "no", "off", "0", "n":
		return true
	}
	return false
}
