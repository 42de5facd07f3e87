package skill

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of frontmatter. What exceeds them is read leniently, line by line.
const (
	maxFront   = 64 << 10 // bytes
	maxNesting = 32
	maxKeys    = 200
	maxItems   = 500 // of one list
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
	// Repeated are keys that stand there twice; the first counts.
	Repeated []Field
}

// Field is one key of frontmatter.
type Field struct {
	// Key is as it is written, and Line where, from 1.
	Key  string
	Line int
	// Text is the value if it is one text, a number or a boolean; Raw is the rest of the
	// key's line as it is written, without quotes.
	Text, Raw string
	// Items are the values of a list, or the keys of a map whose values are true.
	Items []string
	Kind  FieldKind
}

// FieldKind says what shape a value has.
type FieldKind int

// The shapes.
const (
	FieldEmpty FieldKind = iota
	FieldText
	FieldList
	FieldMap
)

// Field returns a key's value. Spellings that differ in case, "-" and "_" are the same.
func (f Front) Field(key string) (Field, bool) {
	key = foldKey(key)
	for _, field := range f.Fields {
		if foldKey(field.Key) == key {
			return field, true
		}
	}
	return Field{}, false
}

// foldKey makes the spellings of one key the same: allowed-tools, allowed_tools and
// allowedTools.
func foldKey(key string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(key))
}

// ReadFront reads a file's frontmatter. It reads whatever it is given.
func ReadFront(text string) Front {
	text = clean(text)
	yamlText, body, ok := cutFront(text)
	if !ok {
		return Front{Body: text, BodyLine: 1}
	}
	f := Front{Present: true, Body: body, BodyLine: 3 + strings.Count(yamlText, "\n")}
	err := f.readYAML(yamlText)
	if err != nil {
		f.Fields, f.Repeated = nil, nil
		f.Problem, f.ProblemLine = problemOf(err)
		f.ProblemLine = min(f.ProblemLine+1, f.BodyLine-1) // below the first "---"
		f.readLines(yamlText)
	}
	return f
}

// clean returns a text as UTF-8 with "\n" at the ends of lines and without a byte order mark.
func clean(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.NewReplacer("\r\n", "\n", "\x00", "\ufffd").Replace(text)
}

// cutFront cuts a text into its frontmatter, which has a "\n" at the end of each of its
// lines, and the rest.
func cutFront(text string) (front, body string, ok bool) {
	first, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(first, " \t") != "---" {
		return "", text, false
	}
	at := 0
	for line := range strings.Lines(rest) {
		if mark := strings.TrimRight(line, " \t\n"); mark == "---" || mark == "..." {
			return rest[:at], rest[at+len(line):], true
		}
		at += len(line)
	}
	return "", text, false
}

var (
	errLong   = errors.New("the frontmatter is longer than 64 KB")
	errNested = errors.New("the frontmatter is nested too deeply")
	errNoMap  = errors.New("the frontmatter is not a list of keys and values")
	errPanic  = errors.New("the frontmatter cannot be read")
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
func (f *Front) readYAML(text string) (err error) {
	switch {
	case len(text) > maxFront:
		return errLong
	case nested(text):
		return errNested
	}
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	if len(file.Docs) > 1 {
		return errNoMap
	}
	node, ok := file.Docs[0].Body.(ast.MapNode)
	if !ok {
		if _, empty := file.Docs[0].Body.(*ast.NullNode); empty || file.Docs[0].Body.Type() == ast.CommentType {
			return nil
		}
		return errNoMap
	}
	lines := strings.Split(text, "\n")
	anchors := anchorsOf(file.Docs[0].Body)
	for it := node.MapRange(); it.Next() && len(f.Fields) < maxKeys; {
		kv := it.KeyValue()
		field := Field{Key: keyOf(kv.Key), Line: 1}
		if tok := kv.Key.GetToken(); tok != nil && tok.Position != nil {
			field.Line = min(max(1, tok.Position.Line), len(lines))
		}
		_, raw, _ := strings.Cut(lines[field.Line-1], ":")
		field.Raw = unquote(strings.TrimSpace(raw))
		field.Line++ // below the first "---"
		field.set(kv.Value, anchors)
		f.add(field)
	}
	return nil
}

func (f *Front) add(field Field) {
	if _, twice := f.Field(field.Key); twice {
		f.Repeated = append(f.Repeated, field)
		return
	}
	f.Fields = append(f.Fields, field)
}

// nested reports whether a text has so many brackets or levels that a parser could go
// too deep.
func nested(text string) bool {
	depth := 0
	for line := range strings.Lines(text) {
		marks := strings.TrimLeft(line, "-?: \t")
		if strings.Count(line[:len(line)-len(marks)], "-")+strings.Count(line[:len(line)-len(marks)], "?")+strings.Count(line[:len(line)-len(marks)], ":") > maxNesting && strings.TrimSpace(marks) != "" {
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
	if s, ok := node.(*ast.StringNode); ok {
		return s.Value
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
		f.Kind = FieldList
		for _, v := range n.Values[:min(len(n.Values), maxItems)] {
			if text, ok := scalar(v, anchors, 0); ok {
				f.Items = append(f.Items, text)
			}
		}
	case ast.MapNode:
		f.Kind = FieldMap
		for it := n.MapRange(); it.Next() && len(f.Items) < maxItems; {
			if text, _ := scalar(it.Value(), anchors, 0); truth(text) {
				f.Items = append(f.Items, keyOf(it.Key()))
			}
		}
	default:
		if text, ok := scalar(node, anchors, 0); ok {
			f.Kind, f.Text = FieldText, text
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
func (f *Front) readLines(text string) {
	var open *Field // the key whose value goes on
	read := 0
	for line := range strings.Lines(text) {
		read++
		if read > 5000 || len(f.Fields) >= maxKeys {
			return
		}
		line = strings.TrimRight(line, " \t\n")
		key, rest, ok := strings.Cut(line, ":")
		if ok && isKey(key) && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			rest = strings.TrimSpace(rest)
			field := Field{Key: key, Line: read + 1, Raw: unquote(rest)}
			field.setText(rest)
			n := len(f.Fields)
			f.add(field)
			if open = nil; len(f.Fields) > n {
				open = &f.Fields[n]
			}
			continue
		}
		if open == nil || line == "" || line[0] == '#' || !strings.ContainsAny(line[:1], " \t-") {
			continue
		}
		open.goOn(strings.TrimSpace(line))
	}
}

func isKey(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// setText reads the rest of a line as a value.
func (f *Field) setText(rest string) {
	inner, open := strings.CutPrefix(rest, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	switch {
	case rest == "" || strings.Trim(rest, "|>+-0123456789") == "" && strings.ContainsAny(rest[:1], "|>"):
		f.Raw = ""
	case open && closed && !strings.ContainsAny(inner, "[]"):
		f.Kind = FieldList
		for _, item := range splitTools(inner) {
			f.Items = append(f.Items, unquote(item))
		}
	default:
		f.Kind, f.Text = FieldText, unquote(rest)
	}
}

// goOn adds a further line to a value.
func (f *Field) goOn(line string) {
	item, isItem := strings.CutPrefix(line, "- ")
	switch {
	case isItem && f.Kind != FieldText && len(f.Items) < maxItems:
		f.Kind = FieldList
		f.Items = append(f.Items, unquote(strings.TrimSpace(item)))
	case f.Kind == FieldText || f.Kind == FieldEmpty:
		if f.Kind == FieldText && len(f.Text) < maxFront {
			line = f.Text + " " + line
		}
		f.Kind, f.Text = FieldText, line
	}
}

// unquote takes the quotes around a text away.
func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// truth reports whether a text means yes.
func truth(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "on", "1", "y":
		return true
	}
	return false
}

// falsehood reports whether a text means no.
func falsehood(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "false", "no", "off", "0", "n":
		return true
	}
	return false
}
