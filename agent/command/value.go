package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a word may become: one possibility after the other.
type value []possible

// possible is a text that a word may become.
type possible struct {
	text string
	// exact says that the program gets this text. Otherwise parts are as they
	// are written: $NAME.
	exact bool
	// glob says that bash puts the names of matching files in its place.
	glob bool
	// fetched says that it comes from the network.
	fetched bool
	// The rest is for lines that only read. pattern is the text with its wildcards, in the
	// syntax of path/filepath's Match, if glob is set. names says that it stands for names
	// that were found. odd says that the text is known in a way that is not accepted there,
	// and any that it is unknown and reading it does nothing.
	pattern         string
	names, odd, any bool
}

// plain reports whether the text is accepted in a line that only reads.
func (p possible) plain() bool { return p.exact && !p.glob && !p.odd }

var escaped = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// asPattern is the text as a pattern.
func (p possible) asPattern() string {
	if p.glob {
		return p.pattern
	}
	return escaped.Replace(p.text)
}

// and appends another text.
func (p possible) and(q possible) possible {
	both := possible{text: p.text + q.text, exact: p.exact && q.exact, glob: p.glob || q.glob, fetched: p.fetched || q.fetched}
	both.odd, both.names = p.odd || q.odd, p.names || q.names
	both.any = !both.exact && (p.exact || p.any) && (q.exact || q.any)
	if both.glob {
		both.pattern = p.asPattern() + q.asPattern()
	}
	return both
}

// unnamed stands for words that nobody knows yet.
const unnamed = "…"

func literal(text string) value { return value{{text: text, exact: true}} }

func (v value) text() string {
	if len(v) == 0 {
		return ""
	}
	return v[0].text
}

// exact reports whether the value is known and the only one.
func (v value) exact() bool { return len(v) == 1 && v[0].exact && !v[0].glob }

func (v value) fetched() bool {
	return slices.ContainsFunc(v, func(p possible) bool { return p.fetched })
}

func (v value) isOption() bool { return strings.HasPrefix(v.text(), "-") && v.text() != "-" }

func either(a, b value) value {
	all := slices.Concat(a, b)
	if len(all) > maxValues {
		return append(all[:maxValues:maxValues], possible{text: unnamed})
	}
	return all
}

func exact(words []value) bool {
	return !slices.ContainsFunc(words, func(v value) bool { return !v.exact() })
}

func join(words []value) string {
	texts := make([]string, 0, len(words))
	for _, v := range words {
		texts = append(texts, v.text())
	}
	return strings.Join(texts, " ")
}

// product appends each possibility of b to each of a. A text beyond the limit is not
// known: a variable in itself doubles each time.
func product(a, b value) value {
	var all value
	for _, x := range a {
		for _, y := range b {
			if len(all) == maxValues {
				return append(all, possible{text: unnamed})
			}
			if len(x.text)+len(y.text) > maxText {
				all = append(all, possible{text: unnamed, fetched: x.fetched || y.fetched})
				continue
			}
			all = append(all, x.and(y))
		}
	}
	return all
}

// changed returns what ${NAME:-other} and ${NAME%/*} become if the variable is known. It
// reports false for any other form.
func changed(by syntax.Expansion, known value) (value, bool) {
	if len(known) == 0 || slices.ContainsFunc(known, func(k possible) bool { return !k.exact || k.glob || k.text == "" }) {
		return nil, false
	}
	switch by.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return known, true
	case syntax.RemSmallSuffix:
		known = slices.Clone(known)
		for i, k := range known {
			if at := strings.LastIndexByte(k.text, '/'); at >= 0 {
				known[i].text = k.text[:at]
			}
		}
		return known, by.Word != nil && by.Word.Lit() == "/*"
	}
	return nil, false
}
