package fetch

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"atelier.dev/atelier/internal/text"
)

// The limits of what becomes Markdown. What has more becomes plain text, which takes
// time in proportion to its length alone.
const (
	maxElements  = 200_000 // to convert
	maxToScore   = 50_000  // to look for the article among
	minArticle   = 500     // characters
	maxLinks     = 40
	maxLinkText  = 120
	maxLink      = 500 // of its address
	articleShare = 4   // an article has at least a quarter of the page's text
)

// readable returns the title, the text and the links of a page of HTML: its article if it
// has one, else all but menus and scripts.
func readable(source string, at *url.URL) (title, text string, links []Link) {
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil { // nested too deeply
		return "", textOf(source), nil
	}
	title = titleOf(doc)
	count := tidy(doc, at)
	if count > maxElements {
		return title, textOf(source), nil
	}
	all := markdown(doc)
	if count <= maxToScore {
		parser := readability.NewParser()
		parser.KeepClasses, parser.MaxElemsToParse = true, maxToScore // a class names the language of code
		if parser.CheckDocument(doc) {
			article, err := parser.ParseDocument(doc, at)
			if err == nil && article.Node != nil {
				part := markdown(article.Node)
				if n := utf8.RuneCountInString(part); n >= minArticle && n >= utf8.RuneCountInString(all)/articleShare {
					return title, part, linksOf(article.Node)
				}
			}
		}
	}
	return title, all, linksOf(doc)
}

// markdown converts a part of a page.
func markdown(n *html.Node) string {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	text, err := c.ConvertNode(n)
	if err != nil {
		return ""
	}
	return string(text)
}

// dropped are elements that are no part of what a page says.
var dropped = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg, atom.Canvas, atom.Nav, atom.Footer,
	atom.Button, atom.Select, atom.Textarea, atom.Input, atom.Dialog,
}

// tidy removes what a page does not say, and makes its links whole. It returns the number
// of elements that are left.
func tidy(doc *html.Node, at *url.URL) (count int) {
	var gone []*html.Node
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count++
		switch {
		case slices.Contains(dropped, n.DataAtom), hidden(n):
			gone = append(gone, n)
		case n.DataAtom == atom.Base:
			if base, err := at.Parse(attribute(n, "href")); err == nil && attribute(n, "href") != "" {
				at = base
			}
		case n.DataAtom == atom.A:
			if !whole(n, "href", at) {
				n.Data, n.DataAtom = "span", atom.Span
			}
		case n.DataAtom == atom.Img:
			if !whole(n, "src", at) {
				gone = append(gone, n)
			}
		}
	}
	for _, n := range gone {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
	return count
}

// hidden reports whether nobody sees an element: text may hide there from the user and
// speak to the model.
func hidden(n *html.Node) bool {
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return a.Val != "until-found"
		case "aria-hidden":
			return a.Val == "true"
		case "style":
			style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// whole makes an address whole. It removes one that does not lead to the web, and then
// returns false.
func whole(n *html.Node, name string, at *url.URL) bool {
	for i, a := range n.Attr {
		if a.Key != name {
			continue
		}
		if u, err := at.Parse(a.Val); err == nil && (u.Scheme == "http" || u.Scheme == "https") && len(a.Val) <= maxAddress {
			n.Attr[i].Val = u.String()
			return true
		}
		n.Attr = slices.Delete(n.Attr, i, i+1)
		return false
	}
	return false
}

func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil && n.Namespace == "" {
			return n.FirstChild.Data
		}
	}
	return ""
}

// linksOf returns the first links, each once.
func linksOf(part *html.Node) (links []Link) {
	seen := map[string]bool{}
	for n := range part.Descendants() {
		to := ""
		if n.DataAtom == atom.A {
			to = attribute(n, "href")
		}
		if to == "" || len(to) > maxLink || seen[to] {
			continue
		}
		if links = append(links, Link{text.Characters(strings.Join(strings.Fields(textIn(n)), " "), maxLinkText), to}); len(links) == maxLinks {
			break
		}
		seen[to] = true
	}
	return links
}

func textIn(part *html.Node) string {
	var b strings.Builder
	for n := range part.Descendants() {
		if n.Type == html.TextNode && b.Len() < 4*maxLinkText {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// blocks begin a line of their own.
var blocks = []atom.Atom{
	atom.P, atom.Div, atom.Br, atom.Li, atom.Tr, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Section, atom.Article, atom.Table, atom.Ul,
}

// textOf returns the text of a page whose structure is too much, without its structure.
func textOf(source string) string {
	z := html.NewTokenizer(strings.NewReader(source))
	var b strings.Builder
	silent := atom.Atom(0) // the element whose text is left out
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		name, _ := z.TagName()
		tag := atom.Lookup(name)
		switch {
		case silent != 0:
			if kind == html.EndTagToken && tag == silent {
				silent = 0
			}
		case kind == html.StartTagToken && (tag == atom.Script || tag == atom.Style || tag == atom.Title):
			silent = tag
		case kind == html.TextToken:
			b.WriteString(html.UnescapeString(string(z.Raw())))
		case (kind == html.StartTagToken || kind == html.SelfClosingTagToken) && slices.Contains(blocks, tag):
			b.WriteByte('\n')
		}
	}
}
