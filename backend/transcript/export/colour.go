package export

import (
	"html"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

const (
	// maxColoured limits a block of code that is coloured, in bytes.
	maxColoured = 64 << 10
	// colouring limits the time that a block may take: some lexers are slow on made texts.
	colouring = 200 * time.Millisecond
)

// coloured returns the HTML of code whose tokens have classes. Code of a language that is
// not known, that is long or that takes long has none.
func coloured(code, language string) string {
	name, _, _ := strings.Cut(language, " ")
	if name == "" || len(code) > maxColoured {
		return html.EscapeString(code)
	}
	lexer := lexers.Get(name)
	if lexer == nil {
		return html.EscapeString(code)
	}
	tokens, err := chroma.Coalesce(lexer).Tokenise(nil, code)
	if err != nil {
		return html.EscapeString(code)
	}
	begin := time.Now()
	var b strings.Builder
	for token := range tokens.Stdlib() {
		if time.Since(begin) > colouring {
			return html.EscapeString(code)
		}
		value := html.EscapeString(token.Value)
		if class := classOf(token.Type); class != "" {
			value = `<span class="` + class + `">` + value + `</span>`
		}
		b.WriteString(value)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// classOf returns the class of a token, of which the style sheet has the colour that the
// window uses; empty for what has the colour of text.
func classOf(token chroma.TokenType) string {
	switch token {
	case chroma.KeywordType, chroma.NameBuiltin, chroma.NameBuiltinPseudo, chroma.NameVariable:
		return "c-type"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameTag, chroma.NameClass, chroma.NameDecorator, chroma.NameKeyword:
		return "c-name"
	case chroma.NameAttribute:
		return "c-number"
	case chroma.GenericInserted:
		return "c-text"
	case chroma.GenericDeleted:
		return "c-gone"
	}
	switch {
	case token.InCategory(chroma.Keyword):
		return "c-keyword"
	case token.InCategory(chroma.Comment):
		return "c-comment"
	case token.InSubCategory(chroma.LiteralNumber):
		return "c-number"
	case token.InSubCategory(chroma.LiteralString):
		return "c-text"
	}
	return ""
}
