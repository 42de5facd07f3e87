package export

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Markdown writes a session in Markdown. The labels are in a language: zh-CN, or
// English.
func Markdown(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error], language string) error {
	out, words := bufio.NewWriter(w), wordsIn(language)
	fmt.Fprintf(out, "# %s\n\n", inline(title(info)))
	for _, fact := range facts(info, words) {
		fmt.Fprintf(out, "- %s: %s\n", fact[0], inline(fact[1]))
	}
	for p, err := range pieces(info, events) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s", p.markdown(words))
	}
	fmt.Fprintf(out, "\n---\n\n%s\n", words["made"])
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

func (p piece) markdown(w words) string {
	text := visible(p.text)
	switch p.kind {
	case prompt:
		return fmt.Sprintf("## %s · %s\n\n%s", w["you"], day(p.at), quoted(text))
	case expanded:
		return fmt.Sprintf("<details>\n<summary>%s</summary>\n\n%s\n</details>\n", w["expanded"], fenced("", text))
	case steering:
		return fmt.Sprintf("**%s**\n\n%s", w["steered"], quoted(text))
	case answer:
		return harmless(text) + "\n"
	case reasoning:
		return fmt.Sprintf("*%s*\n\n%s", w["thought"], quoted(text))
	case summary:
		return fmt.Sprintf("**%s**\n\n%s", w["summary"], quoted(text))
	case note:
		return fmt.Sprintf("*%s: %s*\n", w["note"], inline(text))
	case command:
		return fmt.Sprintf("**%s** %s%s\n\n%s", w["ran"], code(text), p.mark(w), fenced("", p.output))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**", inline(visible(p.tool)))
	if p.about != "" {
		fmt.Fprintf(&b, " %s", code(visible(p.about)))
	}
	fmt.Fprintf(&b, "%s\n", p.mark(w))
	if input := visible(shown(p.input)); len(p.diffs) == 0 && input != "" && strings.Contains(input, "\n") {
		fmt.Fprintf(&b, "\n%s", fenced("", input))
	}
	for _, d := range p.diffs {
		fmt.Fprintf(&b, "\n%s\n\n%s", code(visible(d.Path)), fenced("diff", d.Diff))
	}
	if len(p.diffs) == 0 {
		b.WriteString(strings.TrimSuffix("\n"+fenced("", p.output), "\n"))
	}
	return b.String() + "\n"
}

// mark says that something failed.
func (p piece) mark(w words) string {
	if p.failed {
		return " — " + w["failed"]
	}
	return ""
}

// longestRun is the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// fenced returns a text as a block of code, which nothing in the text can end; empty
// if there is no text.
func fenced(language, text string) string {
	if text = strings.TrimRight(visible(text), "\n"); text == "" {
		return ""
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return fmt.Sprintf("%s%s\n%s\n%s\n", fence, language, text, fence)
}

// code returns a text as code within a line.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// marks are the characters that mean something in a line of Markdown.
var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[\\\\`*_\\[\\]<>|~#]") })

// inline returns a text as it is, within a line.
func inline(text string) string {
	return marks().ReplaceAllString(strings.Join(strings.Fields(text), " "), `\$0`)
}

// quoted returns what somebody wrote as a quotation, as it is.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(harmless(text)) {
		b.WriteString("> " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// schemes are those of links that run something.
var schemes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\]\(\s*<?|\]:\s*<?|<)\s*(javascript|vbscript|data|file)\s*:`)
})

// harmless returns Markdown that neither leaves a block of code open nor has HTML or
// links that run something.
func harmless(text string) string {
	var b strings.Builder
	fence := "" // of the open block
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "`~")) == "":
			fence = ""
		case fence == "":
			line = unmarked(line)
		}
		b.WriteString(line + "\n")
	}
	if fence != "" {
		b.WriteString(fence + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// fenceOf returns the fence with which a line begins.
func fenceOf(line string) string {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 {
		return ""
	}
	for _, c := range []string{"`", "~"} {
		rest := strings.TrimLeft(trimmed, c)
		if n := len(trimmed) - len(rest); n >= 3 && (c == "~" || !strings.Contains(rest, "`")) {
			return strings.Repeat(c, n)
		}
	}
	return ""
}

// unmarked returns a line of Markdown without HTML and links that run something. Code
// in the line is treated in the same way, because other lines decide where code ends.
func unmarked(line string) string {
	line = schemes().ReplaceAllString(line, "${1}unsafe-$2:")
	return strings.ReplaceAll(line, "<", "&lt;")
}
