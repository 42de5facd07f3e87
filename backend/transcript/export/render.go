package export

import (
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensions "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The parser takes time that grows with the square of what a message nests or opens
// and does not close. A message beyond these limits is shown as it is written.
const (
	maxRendered = 128 << 10 // bytes
	maxOpened   = 1000      // links, and definitions of links and footnotes
	maxNested   = 200       // bytes of a line before its text
)

func isCostly(message string) bool {
	if len(message) > maxRendered || strings.Count(message, "](")+strings.Count(message, "]:") > maxOpened {
		return true
	}
	for line := range strings.Lines(message) {
		if len(line)-len(strings.TrimLeft(line, "> -+*.)\t0123456789")) > maxNested {
			return true
		}
	}
	return false
}

// rendered returns the HTML of a message in Markdown, as the window shows it. HTML
// in it is text, pictures are links, and only links to web pages are links.
func rendered(message string) string {
	if isCostly(message) {
		return plainText(message)
	}
	var b strings.Builder
	if err := converter().Convert([]byte(lengthened(message)), &b); err != nil {
		return plainText(message)
	}
	return b.String()
}

// converter has the parsers of GitHub's Markdown but those for HTML. It is made
// when it is first needed, because it delays a start.
var converter = sync.OnceValue(func() goldmark.Markdown {
	blocks := parser.WithBlockParsers(
		util.Prioritized(mathBlockParser{}, 50),
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	)
	inlines := parser.WithInlineParsers(
		util.Prioritized(mathParser{}, 50),
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	)
	paragraphs := parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...)
	prepared := parser.WithASTTransformers(util.Prioritized(preparation{}, 500))
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(blocks, inlines, paragraphs, prepared)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.Footnote,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"}))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))),
	)
})

// preparation changes a parsed message before it is rendered: each block gets the
// direction of its own text, headings go below those of the document, and footnotes
// that nothing refers to stay.
type preparation struct{}

func (preparation) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	for block := document.FirstChild(); block != nil; block = block.NextSibling() {
		if kind := block.Kind(); kind != ast.KindFencedCodeBlock && kind != ast.KindCodeBlock {
			block.SetAttributeString("dir", []byte("auto"))
		}
		list, _ := block.(*extensions.FootnoteList)
		if list == nil {
			continue
		}
		for note := list.FirstChild(); note != nil; note = note.NextSibling() {
			if note := note.(*extensions.Footnote); note.Index < 0 {
				list.Count++
				note.Index = list.Count
			}
		}
	}
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if heading, ok := n.(*ast.Heading); ok && entering {
			heading.Level = min(heading.Level+1, 4)
		}
		return ast.WalkContinue, nil
	})
}

// nodes renders what differs from the library's own HTML.
type nodes struct{}

func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindCodeBlock, codeBlock)
	r.Register(ast.KindFencedCodeBlock, codeBlock)
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindImage, image)
	r.Register(kindMath, mathSource)
	r.Register(kindMathBlock, mathSource)
	r.Register(extensions.KindTaskCheckBox, taskBox)
	r.Register(extensions.KindFootnoteLink, footnoteLink)
	r.Register(extensions.KindFootnoteBacklink, nothing)
	r.Register(extensions.KindFootnoteList, footnoteList)
	r.Register(extensions.KindFootnote, footnote)
}

func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkContinue, nil
}

func codeBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		code, language := strings.TrimSuffix(string(n.Lines().Value(source)), "\n"), ""
		if fenced, ok := n.(*ast.FencedCodeBlock); ok {
			language = string(fenced.Language(source))
		}
		fmt.Fprintf(w, "<pre tabindex=\"0\" dir=\"ltr\">%s</pre>\n", coloured(code, language))
	}
	return ast.WalkContinue, nil
}

// webLink returns the beginning and the end of a link to an address, which is shown
// behind a text that names another one. Both are empty unless it is that of a web page.
func webLink(address, shown string) (begin, end string) {
	lower := strings.ToLower(address)
	if !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") {
		return "", ""
	}
	escaped := html.EscapeString(string(util.URLEscape([]byte(address), false)))
	end = "</a>"
	if shown != address {
		end += fmt.Sprintf(" <small>(%s)</small>", html.EscapeString(address))
	}
	return fmt.Sprintf(`<a href="%s" rel="noopener noreferrer nofollow">`, escaped), end
}

func link(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	begin, end := webLink(destination(n.(*ast.Link).Destination), textIn(n, source))
	if entering {
		end = begin
	}
	_, err := w.WriteString(end)
	return ast.WalkContinue, err
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	l := n.(*ast.AutoLink)
	shown := string(l.Label(source))
	begin, end := webLink(string(l.URL(source)), shown)
	if end != "" {
		end = "</a>"
	}
	_, err := w.WriteString(begin + html.EscapeString(shown) + end)
	return ast.WalkContinue, err
}

// image renders a picture as a link, because it would be loaded.
func image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	address, shown := destination(n.(*ast.Image).Destination), textIn(n, source)
	if shown == "" {
		shown = address
	}
	begin, end := webLink(address, shown)
	_, err := w.WriteString(begin + html.EscapeString(shown) + end)
	return ast.WalkSkipChildren, err
}

// destination returns the address of a link without Markdown's escapes.
func destination(written []byte) string {
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(written))))
}

// textIn returns the text of a node, without marks.
func textIn(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(child ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := child.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func taskBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		box := "☐ "
		if n.(*extensions.TaskCheckBox).IsChecked {
			box = "☑ "
		}
		_, err := w.WriteString(box)
		return ast.WalkContinue, err
	}
	return ast.WalkContinue, nil
}

func footnoteLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(w, "<sup>%d</sup>", n.(*extensions.FootnoteLink).Index)
	}
	return ast.WalkContinue, nil
}

func footnoteList(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "</ol>\n"
	if entering {
		tag = "<ol class=\"notes\">\n"
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

func footnote(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "</li>\n"
	if entering {
		tag = "<li dir=\"auto\">"
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}
