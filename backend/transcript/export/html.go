package export

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"iter"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

//go:embed document.css
var style string

// policy lets the document show its own style and nothing else: no script, no picture,
// no font, no form, no frame and no connection.
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

// HTML writes a session as one HTML file, with labels in a language; see [Markdown].
func HTML(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error], language string) error {
	out, words := bufio.NewWriter(w), wordsIn(language)
	name := html.EscapeString(title(info))
	fmt.Fprintf(out, `<!doctype html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<main>
<header>
<h1 dir="auto">%s</h1>
<dl>`, words["lang"], policy, name, style, name)
	for _, fact := range facts(info, events, words) {
		fmt.Fprintf(out, "<div><dt>%s</dt><dd>%s</dd></div>", html.EscapeString(fact[0]), html.EscapeString(fact[1]))
	}
	fmt.Fprint(out, "</dl>\n</header>\n")
	for p, err := range pieces(info, events) {
		if err != nil {
			return err
		}
		p.html(out, words)
	}
	fmt.Fprintf(out, "<footer>%s</footer>\n</main>\n</body>\n</html>\n", words["made"])
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

func (p piece) html(out io.Writer, w words) {
	text := visible(p.text)
	switch p.kind {
	case prompt, steering:
		label := w["you"]
		if p.kind == steering {
			label = w["steered"]
		}
		fmt.Fprintf(out, "<section class=\"you\"><h2>%s <time>%s</time></h2><div class=\"text\" dir=\"auto\">%s</div></section>\n",
			label, day(p.at), html.EscapeString(text))
	case expanded:
		fold(out, "quiet", w["expanded"], "", "", plainText(text))
	case answer, document:
		fmt.Fprintf(out, "<article dir=\"auto\">\n%s</article>\n", rendered(text))
	case reasoning:
		fold(out, "quiet", w["thought"], "", "", plainText(text))
	case summary:
		fold(out, "quiet", w["summary"], "", "", plainText(text))
	case note:
		fmt.Fprintf(out, "<p class=\"note\"><b>%s</b> <span dir=\"auto\">%s</span></p>\n", w["note"], html.EscapeString(text))
	case command:
		fold(out, "call", w["ran"], text, p.mark(w), block("", p.output))
	case call:
		fold(out, "call", visible(p.tool), visible(p.about), p.mark(w), p.callBody(w))
	}
}

// callBody is what unfolds below a call.
func (p piece) callBody(w words) string {
	var b strings.Builder
	if input := shown(p.input); len(p.diffs) == 0 && input != "" {
		b.WriteString(block(w["input"], input))
	}
	for _, d := range p.diffs {
		b.WriteString(diff(d))
	}
	if len(p.diffs) == 0 {
		b.WriteString(block(w["output"], p.output))
	}
	return b.String()
}

// fold writes a line that unfolds; a line alone if there is nothing below it. body is
// HTML.
func fold(out io.Writer, class, name, about, mark, body string) {
	line := "<b>" + html.EscapeString(name) + "</b>"
	if about != "" {
		line += " <code dir=\"auto\">" + html.EscapeString(about) + "</code>"
	}
	if mark != "" {
		line += " <em>" + html.EscapeString(strings.TrimPrefix(mark, " — ")) + "</em>"
	}
	if body == "" {
		fmt.Fprintf(out, "<p class=\"%s\">%s</p>\n", class, line)
		return
	}
	fmt.Fprintf(out, "<details class=\"%s\"><summary>%s</summary>\n%s</details>\n", class, line, body)
}

func plainText(text string) string {
	return "<div class=\"text\" dir=\"auto\">" + html.EscapeString(text) + "</div>\n"
}

// block is a text as it is, below a label; empty if there is none.
func block(label, text string) string {
	if text = strings.TrimRight(visible(text), "\n"); text == "" {
		return ""
	}
	if label != "" {
		label = "<h3>" + html.EscapeString(label) + "</h3>"
	}
	return label + "<pre tabindex=\"0\">" + html.EscapeString(text) + "</pre>\n"
}

// diff is a file's changes, a row for each line.
func diff(d agent.FileChange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<h3><code dir=\"auto\">%s</code> <ins>+%d</ins> <del>−%d</del></h3>", html.EscapeString(visible(changed(d))), d.Added, d.Removed)
	if d.Diff == "" {
		return b.String() + "\n"
	}
	b.WriteString("<pre class=\"diff\" tabindex=\"0\">")
	for line := range strings.Lines(strings.TrimRight(visible(d.Diff), "\n")) {
		line = strings.TrimRight(line, "\n")
		text := html.EscapeString(line)
		switch {
		case strings.HasPrefix(line, "@@"):
			text = "<i>" + text + "</i>"
		case strings.HasPrefix(line, "+"):
			text = "<ins>" + text + "</ins>"
		case strings.HasPrefix(line, "-"):
			text = "<del>" + text + "</del>"
		default:
			text = "<span>" + text + "</span>"
		}
		b.WriteString(text)
	}
	return b.String() + "</pre>\n"
}
