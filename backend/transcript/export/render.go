package export

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
)

// rendered returns the HTML of a message in Markdown: blocks of code, headings, lists,
// quotations and paragraphs. Everything else stays as it is written.
func rendered(text string) string {
	r := renderer{}
	for line := range strings.Lines(text) {
		r.line(strings.TrimRight(line, "\n"))
	}
	r.flush()
	return r.out.String()
}

// renderer collects the lines of a block until another one begins.
type renderer struct {
	out   strings.Builder
	kind  string // p, ul, ol, blockquote, pre; empty between blocks
	fence string // of the open block of code
	lines []string
}

var (
	heading  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$`) })
	bullet   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*[-*+][ \t]+(.*)$`) })
	numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*\d{1,9}[.)][ \t]+(.*)$`) })
	quote    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}> ?(.*)$`) })
)

func (r *renderer) line(line string) {
	if r.kind == "pre" {
		if ends(line, r.fence) {
			r.flush()
			return
		}
		r.lines = append(r.lines, line)
		return
	}
	if mark := fenceOf(line); mark != "" {
		r.begin("pre")
		r.fence = mark
		return
	}
	switch m := heading().FindStringSubmatch(line); {
	case strings.TrimSpace(line) == "":
		r.flush()
	case m != nil:
		r.flush()
		level := min(len(m[1])+1, 4)
		fmt.Fprintf(&r.out, "<h%d>%s</h%d>\n", level, spans(m[2]), level)
	case bullet().MatchString(line):
		r.begin("ul")
		r.lines = append(r.lines, bullet().FindStringSubmatch(line)[1])
	case numbered().MatchString(line):
		r.begin("ol")
		r.lines = append(r.lines, numbered().FindStringSubmatch(line)[1])
	case quote().MatchString(line):
		r.begin("blockquote")
		r.lines = append(r.lines, quote().FindStringSubmatch(line)[1])
	case (r.kind == "ul" || r.kind == "ol") && strings.HasPrefix(line, "  "):
		r.lines[len(r.lines)-1] += "\n" + strings.TrimSpace(line)
	default:
		r.begin("p")
		r.lines = append(r.lines, line)
	}
}

// begin begins a block, unless one of this kind is open.
func (r *renderer) begin(kind string) {
	if r.kind != kind || kind == "pre" {
		r.flush()
		r.kind = kind
	}
}

// flush writes the open block.
func (r *renderer) flush() {
	kind, lines := r.kind, r.lines
	r.kind, r.lines = "", nil
	switch kind {
	case "pre":
		fmt.Fprintf(&r.out, "<pre tabindex=\"0\" dir=\"ltr\">%s</pre>\n", html.EscapeString(strings.Join(lines, "\n")))
	case "ul", "ol":
		fmt.Fprintf(&r.out, "<%s>\n", kind)
		for _, line := range lines {
			fmt.Fprintf(&r.out, "<li>%s</li>\n", spans(line))
		}
		fmt.Fprintf(&r.out, "</%s>\n", kind)
	case "p", "blockquote":
		fmt.Fprintf(&r.out, "<%s class=\"text\">%s</%s>\n", kind, spans(strings.Join(lines, "\n")), kind)
	}
}

// span is code, a link to a page, or strong text. It is compiled when it is first
// needed, because its long repetitions would delay every start.
var span = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(`+)([^`\n]+)(`+)|\\[([^\\]\\n]{1,500})\\]\\((https?://[^\\s()<>\"]{1,1000})\\)|\\*\\*([^*\\n]+)\\*\\*")
})

// spans returns the HTML of what stands within a block.
func spans(text string) string {
	var b strings.Builder
	at := 0
	for _, m := range span().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(html.EscapeString(text[at:m[0]]))
		at = m[1]
		group := func(i int) string { return text[m[2*i]:m[2*i+1]] }
		switch {
		case m[2] >= 0 && m[3]-m[2] == m[7]-m[6]:
			b.WriteString("<code>" + html.EscapeString(group(2)) + "</code>")
		case m[8] >= 0:
			// The address is shown, because a text may name another one.
			fmt.Fprintf(&b, `<a href="%s" rel="noopener noreferrer nofollow">%s</a>`, html.EscapeString(group(5)), html.EscapeString(group(4)))
			if group(4) != group(5) {
				fmt.Fprintf(&b, " <small>(%s)</small>", html.EscapeString(group(5)))
			}
		case m[12] >= 0:
			b.WriteString("<strong>" + html.EscapeString(group(6)) + "</strong>")
		default:
			b.WriteString(html.EscapeString(text[m[0]:m[1]]))
		}
	}
	b.WriteString(html.EscapeString(text[at:]))
	return b.String()
}
