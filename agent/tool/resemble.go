package tool

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds text that a model remembers only nearly (native-tools: the
// chain that Gemini's models are used to). It is asked for by the caller, comes
// after every exact way, and refuses where more than one place would do.

const (
	// maxResembled is the product of lengths up to which distances are
	// measured: what is beyond takes too long.
	maxResembled = 20 << 20
	// minResembled is the shortest text, in runes, whose like is looked for:
	// shorter ones resemble everything.
	minResembled = 10
	// tolerance is the share of a text that may differ.
	tolerance = 0.1
	// spaceWeight is what a space more or less counts, next to 1 for a letter.
	spaceWeight = 0.1
)

// replaceLike replaces the part of content that resembles old: the same lines
// but for their indentation, else the same tokens but for the space between
// them, else the lines that differ by less than a tenth. It reports false where
// there is none, or where there are several and all is not set.
func replaceLike(content []byte, old, new string, all bool) (replacement, bool) {
	if strings.TrimSpace(old) == "" {
		return replacement{}, false
	}
	lines := linesOf(content)
	for _, way := range []struct {
		find      func() []span
		resembles string
	}{
		{func() []span { return sameButIndentation(content, lines, old) }, "differs from it in its indentation"},
		{func() []span { return sameTokens(content, old) }, "differs from it in the space between words"},
		{func() []span { return nearest(content, lines, old) }, "differs from it by less than a tenth"},
	} {
		spans := way.find()
		if len(spans) == 0 {
			continue
		}
		if len(spans) > 1 && !all {
			return replacement{}, false
		}
		done := replacement{content: spliceIndented(content, spans, old, withEndingsOf(content, new)), count: len(spans), resembles: way.resembles}
		return done, !bytes.Equal(done.content, content)
	}
	return replacement{}, false
}

// linesOf returns the lines of a text, without their endings.
func linesOf(content []byte) []span {
	var lines []span
	for start := 0; start < len(content); {
		end, next := len(content), len(content)
		if i := bytes.IndexByte(content[start:], '\n'); i >= 0 {
			end, next = start+i, start+i+1
		}
		if end > start && content[end-1] == '\r' {
			end--
		}
		lines = append(lines, span{start, end})
		start = next
	}
	return lines
}

// block is the text as lines, without what surrounds it.
func block(text string) []string {
	return strings.Split(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

func sameButIndentation(content []byte, lines []span, old string) (found []span) {
	want := block(old)
	for i := range want {
		want[i] = strings.TrimSpace(want[i])
	}
	for i := 0; i+len(want) <= len(lines); i++ {
		same := true
		for j, line := range want {
			same = same && string(bytes.TrimSpace(content[lines[i+j].start:lines[i+j].end])) == line
		}
		if same {
			found = append(found, span{lines[i].start, lines[i+len(want)-1].end})
			i += len(want) - 1
		}
	}
	return found
}

// wordRunes is the class of what words consist of.
const wordRunes = `\p{L}\p{M}\p{N}_`

// token matches what stands together whatever the space around it.
var token = regexp.MustCompile(`[` + wordRunes + `]+|[^` + wordRunes + `\s]`)

// sameTokens finds old from the start of a line to the end of a word.
func sameTokens(content []byte, old string) (found []span) {
	tokens := token.FindAllString(old, -1)
	if len(tokens) < 2 {
		return nil
	}
	var pattern strings.Builder
	pattern.WriteString(`(?m)^([ \t]*`)
	for i, t := range tokens {
		switch {
		case i == 0:
		case wordy(tokens[i-1]) && wordy(t):
			pattern.WriteString(`\s+`)
		default:
			pattern.WriteString(`\s*`)
		}
		pattern.WriteString(regexp.QuoteMeta(t))
	}
	pattern.WriteByte(')')
	if wordy(tokens[len(tokens)-1]) {
		pattern.WriteString(`(?:$|[^` + wordRunes + `])`)
	}
	like, err := regexp.Compile(pattern.String())
	if err != nil { // too long for an expression
		return nil
	}
	for _, at := range like.FindAllSubmatchIndex(content, -1) {
		found = append(found, span{at[2], at[3]})
	}
	return found
}

func wordy(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// nearest finds the lines that differ least from old, and little enough.
func nearest(content []byte, lines []span, old string) (found []span) {
	want := block(old)
	text := []rune(strings.Join(want, "\n"))
	if len(text) < minResembled || len(text)*len(content) > maxResembled {
		return nil
	}
	best := tolerance * float64(len(text))
	for i := 0; i+len(want) <= len(lines); i++ {
		at := span{lines[i].start, lines[i+len(want)-1].end}
		have := []rune(strings.ReplaceAll(string(content[at.start:at.end]), "\r\n", "\n"))
		d, ok := distance(have, text, best)
		if !ok {
			continue
		}
		if d < best {
			best, found = d, nil
		}
		if len(found) == 0 || found[len(found)-1].end <= at.start {
			found = append(found, at)
		}
	}
	return found
}

// distance is the weighted edit distance of two texts, if it is at most limit.
func distance(a, b []rune, limit float64) (float64, bool) {
	row := make([]float64, len(b)+1)
	for j, r := range b {
		row[j+1] = row[j] + weight(r)
	}
	for _, r := range a {
		diagonal, least := row[0], row[0]+weight(r)
		row[0] = least
		for j, s := range b {
			change := diagonal
			if r != s {
				change += max(weight(r), weight(s))
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+weight(r), row[j]+weight(s))
			least = min(least, row[j+1])
		}
		if least > limit {
			return 0, false
		}
	}
	return row[len(b)], row[len(b)] <= limit
}

func weight(r rune) float64 {
	if unicode.IsSpace(r) {
		return spaceWeight
	}
	return 1
}

// spliceIndented puts text in the place of every span, indented as what was
// there is: text is written for the indentation of old.
func spliceIndented(content []byte, spans []span, old, text string) []byte {
	var b bytes.Buffer
	at := 0
	was := indentation(strings.TrimLeft(old, "\r\n"))
	for _, s := range spans {
		b.Write(content[at:s.start])
		is := indentation(string(content[s.start:s.end]))
		lines := strings.Split(strings.TrimRight(text, "\r\n"), "\n")
		for i, line := range lines {
			if rest, ok := strings.CutPrefix(line, was); ok && strings.TrimSpace(line) != "" {
				lines[i] = is + rest
			}
		}
		b.WriteString(strings.Join(lines, "\n"))
		at = s.end
	}
	b.Write(content[at:])
	return b.Bytes()
}

func indentation(line string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
