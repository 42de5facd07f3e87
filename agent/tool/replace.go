package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/typography"
)

// fold is a degree to which two texts may differ and still match. Each fold
// includes the previous ones.
type fold int

const (
	exact fold = iota
	foldEndings
	foldSpaces
	foldPunctuation
)

// maxFolded is the largest size, in bytes, at which texts are folded.
const maxFolded = 4 << 20

// String completes the sentence "it matched with … ignored".
func (f fold) String() string {
	return [...]string{"nothing", "the kind of line endings", "spaces at line ends", "the kind of quotes, dashes, spaces and accents"}[f]
}

// replacement is a finished edit.
type replacement struct {
	content []byte
	count   int
	spans   []span // of the old content, to be replaced
	fold    fold
	// resembles completes the sentence "what was replaced …" if no fold found
	// the text.
	resembles string
}

// errNotFound says that the text to replace is not in the file.
var errNotFound = errors.New("old_string was not found. Read the file again and copy the text exactly, indentation included")

// maxReplaced limits the occurrences that one edit replaces.
const maxReplaced = 1_000_000

// replace replaces the only occurrence of old in content, or all of them
// (LOOP-25). If old does not occur exactly, it uses the smallest fold that
// finds it. Everything outside the occurrences stays the same, byte for byte;
// new text gets the file's line endings.
func replace(ctx context.Context, content []byte, old, new string, all bool) (replacement, error) {
	switch {
	case old == "":
		return replacement{}, errors.New("old_string is empty. Give the text to replace, or use Write to create a file")
	case old == new:
		return replacement{}, errors.New("old_string and new_string are equal, so there is nothing to do")
	}
	new = withEndingsOf(content, new)
	loosest := foldPunctuation
	if len(content) > maxFolded {
		loosest = exact
	}
	for f := exact; f <= loosest; f++ {
		spans, err := occurrences(ctx, content, old, f)
		switch {
		case err != nil:
			return replacement{}, err
		case len(spans) == 0:
			continue
		case len(spans) > 1 && !all:
			return replacement{}, fmt.Errorf("old_string occurs %d times, at %s. Add lines around it to name one, or set replace_all",
				len(spans), places(content, spans))
		case len(content)+len(spans)*(len(new)-len(old)) > env.MaxWhole:
			return replacement{}, fmt.Errorf("the file would grow beyond %d MB. Use a command for that", env.MaxWhole>>20)
		}
		done := splice(content, spans, new)
		if bytes.Equal(done, content) {
			return replacement{}, errors.New("the file already reads as new_string wants it")
		}
		return replacement{content: done, count: len(spans), spans: spans, fold: f}, nil
	}
	return replacement{}, errNotFound
}

// maxPlaces limits how many places are named.
const maxPlaces = 5

// places names the lines where spans begin.
func places(content []byte, spans []span) string {
	line, at := 1, 0
	var lines []string
	for _, s := range spans[:min(len(spans), maxPlaces)] {
		line += bytes.Count(content[at:s.start], []byte("\n"))
		at = s.start
		if text := fmt.Sprint(line); !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	text := "line " + lines[0]
	if len(lines) > 1 {
		last := len(lines) - 1
		text = "lines " + strings.Join(lines[:last], ", ") + " and " + lines[last]
	}
	if len(spans) > maxPlaces {
		text += " and further down"
	}
	return text
}

// withEndingsOf gives text the line endings of most lines of content.
func withEndingsOf(content []byte, text string) string {
	if majority(content) != "\r\n" {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

// span is a half-open range of bytes.
type span struct{ start, end int }

// occurrences finds old in content, without overlaps, until ctx ends.
func occurrences(ctx context.Context, content []byte, old string, f fold) (found []span, err error) {
	text, spans := folded(content, f, true)
	want, _ := folded([]byte(old), f, false)
	if len(want) == 0 || f != exact && len(bytes.TrimSpace(want)) == 0 {
		return nil, ctx.Err() // blank text matches anywhere after folding
	}
	for from := 0; ; {
		i := bytes.Index(text[from:], want)
		if i < 0 {
			return found, ctx.Err()
		}
		if len(found) == maxReplaced {
			return nil, fmt.Errorf("old_string occurs more than %d times. Use a command for that", maxReplaced)
		}
		if len(found)%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first, last := from+i, from+i+len(want)-1
		switch {
		case spans == nil:
			found = append(found, span{first, last + 1})
		case first > 0 && spans[first-1] == spans[first] || last+1 < len(spans) && spans[last+1] == spans[last]:
			from = first + 1 // it begins or ends within a character
			continue
		default:
			found = append(found, span{spans[first].start, spans[last].end})
		}
		from = last + 1
	}
}

// folded returns text under a fold and, for each of its bytes, the span of the
// original that it stands for; nil means that nothing was folded. Spaces at the
// text's end are dropped only if a line ends there.
func folded(text []byte, f fold, lineEnd bool) ([]byte, []span) {
	if f == exact {
		return text, nil
	}
	out := make([]byte, 0, len(text))
	spans := make([]span, 0, len(text))
	add := func(b string, s span) {
		out = append(out, b...)
		for range len(b) {
			spans = append(spans, s)
		}
	}
	for i := 0; i < len(text); {
		spaces := 0
		if f >= foldSpaces {
			spaces = len(text[i:]) - len(bytes.TrimLeft(text[i:], " \t"))
		}
		ending := lineEnding(text[i+spaces:])
		switch atEnd := i+spaces == len(text); {
		case ending > 0:
			add("\n", span{i, i + spaces + ending})
			i += spaces + ending
		case atEnd && lineEnd:
			i += spaces
		case spaces > 0:
			for range spaces {
				add(string(text[i]), span{i, i + 1})
				i++
			}
		default:
			n := 1
			if text[i] >= utf8.RuneSelf || i+1 < len(text) && text[i+1] >= utf8.RuneSelf {
				n = characterAt(text[i:])
			}
			plain := string(text[i : i+n])
			if f >= foldPunctuation {
				plain = typography.Fold(plain)
			}
			add(plain, span{i, i + n})
			i += n
		}
	}
	return out, spans
}

// characterAt returns the length of the character at the start of a text, with its accents.
func characterAt(text []byte) int {
	const longest = 64
	_, first := utf8.DecodeRune(text)
	for n := first; ; {
		r, size := utf8.DecodeRune(text[n:])
		if size == 0 || n > longest || !unicode.Is(unicode.Mn, r) {
			return n
		}
		n += size
	}
}

// lineEnding returns the length of the line ending at the start of text.
func lineEnding(text []byte) int {
	switch {
	case bytes.HasPrefix(text, []byte("\r\n")):
		return 2
	case bytes.HasPrefix(text, []byte("\n")):
		return 1
	}
	return 0
}

// splice replaces every span by text.
func splice(content []byte, spans []span, text string) []byte {
	var b bytes.Buffer
	at := 0
	for _, s := range spans {
		b.Write(content[at:s.start])
		b.WriteString(text)
		at = s.end
	}
	b.Write(content[at:])
	return b.Bytes()
}
