package export

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Markdown writes a session in Markdown. The labels are in a language: zh-CN, or
// English.
func Markdown(w io.Writer, info backend.SessionInfo, events iter.Seq2[agent.Event, error], language string) error {
	out, words := bufio.NewWriter(w), wordsIn(language)
	fmt.Fprintf(out, "# %s\n\n", inline(title(info)))
	for _, fact := range facts(info, events, words) {
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
	case answer, document:
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
	if input := visible(shown(p.input)); len(p.diffs) == 0 && !told(input, visible(p.about)) {
		fmt.Fprintf(&b, "\n%s", fenced("", input))
	}
	for _, d := range p.diffs {
		fmt.Fprintf(&b, "\n%s\n\n%s", code(visible(changed(d))), fenced("diff", d.Diff))
	}
	if len(p.diffs) == 0 {
		b.WriteString(strings.TrimSuffix("\n"+fenced("", p.output), "\n"))
	}
	return b.String() + "\n"
}

// told reports whether the line about a call says all of its input.
func told(input, about string) bool {
	_, value, one := strings.Cut(input, ": ")
	return input == "" || one && value == about
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

// harmless returns Markdown that neither leaves a block of code open nor has HTML,
// pictures or links that run something.
func harmless(text string) string {
	var b strings.Builder
	fence, indent, block := "", 0, []string(nil) // of the open block
	target := false                              // the line before ends where the target of a link begins
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "":
			rest := strings.TrimLeft(line, " ")
			if target {
				b.WriteString("\n") // else some readers take the fence for the target
			}
			info, _, _ := strings.Cut(rest[len(mark):], "|") // which some readers take for a table
			fence, indent, block, target = mark, len(line)-len(rest), []string{info}, false
		case fence != "" && ends(line, fence):
			b.WriteString(blockOf(fence, block))
			fence = ""
		case fence != "":
			block = append(block, line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):])
		default:
			line, target = unmarked(line, target)
			b.WriteString(line + "\n")
		}
	}
	if fence != "" {
		b.WriteString(blockOf(fence, block))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// blockOf returns a block of code. lines are its information and its lines. It begins
// at the margin: within an item of a list, its fence could as well end a block. It is
// fenced so that readers who end blocks sooner than others see the same one.
func blockOf(fence string, lines []string) string {
	for _, line := range lines[1:] {
		line = strings.TrimLeft(line, " \t")
		if n := len(line) - len(strings.TrimLeft(line, fence[:1])); n >= len(fence) {
			fence = strings.Repeat(fence[:1], n+1)
		}
	}
	return fence + strings.Join(append(lines, fence), "\n") + "\n"
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

// ends reports whether a line ends the block of code that a fence began.
func ends(line, fence string) bool {
	mark := fenceOf(line)
	return strings.HasPrefix(mark, fence) && strings.Trim(line, " \t") == mark
}

// targets are the places before the target of a link, and the beginning of a line that
// goes on with one.
var (
	targets = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:\]\(|\]:|<)\s*<?`) })
	goesOn  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s>]*<?`) })
)

// unmarked returns a line of Markdown without HTML, pictures and links that run
// something. target says whether the line may begin with the target of a link, and
// whether the next one may. Code in the line is treated in the same way, because other
// lines decide where code ends.
func unmarked(line string, target bool) (clean string, next bool) {
	places := targets().FindAllStringIndex(line, -1)
	if target {
		places = slices.Insert(places, 0, goesOn().FindStringIndex(line))
	}
	var b strings.Builder
	at := 0
	for _, place := range places {
		if place[1] >= at && runs(line[place[1]:]) {
			b.WriteString(line[at:place[1]] + "unsafe-")
			at = place[1]
		}
	}
	b.WriteString(line[at:])
	end := strings.TrimSpace(line)
	next = strings.HasSuffix(end, "](") || strings.HasSuffix(end, "]:") || target && strings.Trim(end, "> ") == ""
	return strings.NewReplacer("<", "&lt;", "![", `!\[`).Replace(b.String()), next
}

// runs reports whether a target runs something, or reads a file. Its characters can be
// escaped, and some readers pass over spaces.
func runs(target string) bool {
	var scheme strings.Builder
	for target != "" && scheme.Len() <= len("javascript") {
		size := 1
		if end := strings.IndexByte(target[:min(len(target), 40)], ';'); end > 0 && target[0] == '&' {
			size = end + 1
		} else {
			_, size = utf8.DecodeRuneInString(target)
		}
		for _, r := range html.UnescapeString(target[:size]) {
			switch {
			case r == ':':
				return slices.Contains([]string{"javascript", "vbscript", "data", "file"}, scheme.String())
			case r|0x20 >= 'a' && r|0x20 <= 'z':
				scheme.WriteRune(r | 0x20)
			case r != '\\' && !unicode.IsSpace(r) && !unicode.IsControl(r):
				return false
			}
		}
		target = target[size:]
	}
	return false
}
