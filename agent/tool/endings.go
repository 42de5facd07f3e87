package tool

import (
	"bytes"
	"context"
	"strings"

	"atelier.dev/atelier/agent/env"
)

const byteOrderMark = "\uFEFF"

// endingNames are the names of line endings.
var endingNames = map[string]string{"\n": "LF", "\r\n": "CRLF", "\r": "CR"}

// majority returns the ending of most lines; LF if two are equally frequent, and an empty
// text if the content has none.
func majority(content []byte) string {
	crlf := bytes.Count(content, []byte("\r\n"))
	lf, cr := bytes.Count(content, []byte("\n"))-crlf, bytes.Count(content, []byte("\r"))-crlf
	switch {
	case lf+cr+crlf == 0:
		return ""
	case crlf > lf && crlf >= cr:
		return "\r\n"
	case cr > lf:
		return "\r"
	}
	return "\n"
}

// withEnding gives a text that has no carriage returns another line ending. An empty
// ending changes nothing.
func withEnding(text, ending string) string {
	if ending == "" || strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(text, "\n", ending)
}

// formed gives a new text for a path the form of the text that it replaces, if there is
// one: its line endings, if the new text has no carriage return, and its byte order mark. A
// new file gets the line endings that the project has for it. kept has phrases for what
// the file has beyond the given text.
func formed(ctx context.Context, e env.Environment, path string, before env.Text, text string) (_ string, kept []string) {
	ending, why := majority(before.UTF8), ", as before"
	if ending == "" {
		ending, why = env.ConventionsOf(ctx, e, absolute(e, path)).LineEnd, ", as the project has it"
	}
	if converted := withEnding(text, ending); converted != text {
		text, kept = converted, append(kept, endingNames[ending]+" line endings"+why)
	}
	if bytes.HasPrefix(before.UTF8, []byte(byteOrderMark)) && !strings.HasPrefix(text, byteOrderMark) {
		text, kept = byteOrderMark+text, append(kept, "a byte order mark, as before")
	}
	if !before.Charset.UTF8() {
		kept = append(kept, "the encoding "+before.Name+", as before")
	}
	return text, kept
}
