package tool

import (
	"bytes"
	"context"
	"errors"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file finds text that a model remembers only approximately; Gemini's
// models rely on such a search. Callers opt in. It runs after every exact
// search and refuses if more than one place matches.

const (
	// maxSteps limits one search to less than a second.
	maxSteps = 64 << 20
	// minResembled is the shortest text, in runes, that is searched for
	// approximately. A shorter one resembles everything.
	minResembled = 10
	// An inserted, deleted or changed letter costs letterWeight, a space
	// spaceWeight. The total may be as large as the number of runes, which
	// allows a tenth of the letters to differ.
	letterWeight = 10
	spaceWeight  = 1
)

// errTooLong ends a search that has used up its budget.
var errTooLong = errors.New("old_string was not found, and the search for similar text was given up because old_string is too long. " +
	"Read the file again and give fewer lines, copied exactly")

// budget is the remaining cost of a search. All three searches share it, in
// steps of about the same time.
type budget struct {
	ctx       context.Context
	left      int
	unchecked int // steps since the context was last checked
	err       error
}

// checkEvery is how many steps pass between two checks of the context.
const checkEvery = 1 << 16

func newBudget(ctx context.Context) *budget {
	return &budget{ctx: ctx, left: maxSteps, err: ctx.Err()}
}

// spend takes steps and reports whether the search may go on.
func (b *budget) spend(steps int) bool {
	b.left -= steps
	if b.unchecked += steps; b.unchecked >= checkEvery && b.err == nil {
		b.unchecked, b.err = 0, b.ctx.Err()
	}
	if b.left < 0 && b.err == nil {
		b.err = errTooLong
	}
	return b.err == nil
}

// replaceLike replaces the part of content that resembles old: the same lines
// with other indentation, else the same tokens with other space between them,
// else lines that differ by less than a tenth. It fails with [errNotFound] if
// there is no such part, or if there are several and all is not set. It fails
// with the context's error, or [errTooLong], if the search was stopped.
func replaceLike(b *budget, content []byte, old, new string, all bool) (replacement, error) {
	if strings.TrimSpace(old) == "" || len(content) > maxFolded {
		return replacement{}, errNotFound
	}
	lines := linesOf(content)
	for _, way := range []struct {
		find      func() []span
		resembles string
	}{
		{func() []span { return sameButIndentation(b, content, lines, old) }, "differs from it in its indentation"},
		{func() []span { return sameTokens(b, content, old) }, "differs from it in the space between words"},
		{func() []span { return nearest(b, content, lines, old) }, "differs from it by less than a tenth"},
	} {
		spans := way.find()
		switch {
		case b.err != nil:
			return replacement{}, b.err
		case len(spans) == 0:
			continue
		case len(spans) > 1 && !all:
			return replacement{}, errNotFound
		}
		done := replacement{content: spliceIndented(content, spans, old, withEndingsOf(content, new)), count: len(spans), spans: spans, resembles: way.resembles}
		if bytes.Equal(done.content, content) {
			return replacement{}, errNotFound
		}
		return done, nil
	}
	return replacement{}, errNotFound
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

// block splits the text into lines without leading and trailing space.
func block(text string) []string {
	return strings.Split(strings.Trim(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// pieces is a sequence of texts without line feeds, joined so that a run of
// them can be found in linear time.
type pieces struct {
	joined []byte // a line feed before and after each
	starts []int  // of each piece, after its line feed
}

func (p *pieces) add(piece []byte) {
	if len(p.joined) == 0 {
		p.joined = append(p.joined, '\n')
	}
	p.starts = append(p.starts, len(p.joined))
	p.joined = append(append(p.joined, piece...), '\n')
}

// find calls found with the index of the first piece of every run that equals
// want, in order and without overlaps between runs for which found returns
// true.
func (p *pieces) find(b *budget, want pieces, found func(first int) bool) {
	for from := 0; b.spend(len(want.joined)); {
		i := bytes.Index(p.joined[from:], want.joined)
		if i < 0 {
			return
		}
		from += i + 1
		if first := sort.SearchInts(p.starts, from); found(first) {
			from += len(want.joined) - 2 // its last line feed may begin the next run
		}
	}
}

func sameButIndentation(b *budget, content []byte, lines []span, old string) (found []span) {
	var have, want pieces
	for _, line := range block(old) {
		want.add([]byte(strings.TrimSpace(line)))
	}
	for _, line := range lines {
		have.add(bytes.TrimSpace(content[line.start:line.end]))
		if !b.spend(line.end - line.start + 1) {
			return nil
		}
	}
	have.find(b, want, func(first int) bool {
		found = append(found, span{lines[first].start, lines[first+len(want.starts)-1].end})
		return true
	})
	return found
}

// token is a unit that space does not divide: a word, or another character.
type token struct {
	span
	line int // start of its line if it is the first token there, else -1
}

// tokensOf splits a text into its tokens.
func tokensOf(b *budget, text []byte) (tokens []token, p pieces) {
	line := 0 // -1 once the line has more than indentation
	for i := 0; i < len(text) && b.spend(1); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '\n':
			line = i + 1
		case r == ' ' || r == '\t':
		case r == '\r' || r == '\f':
			line = -1
		default:
			end := i + n
			for wordy(r) && end < len(text) && b.spend(1) {
				next, n := utf8.DecodeRune(text[end:])
				if !wordy(next) {
					break
				}
				end += n
			}
			tokens = append(tokens, token{span{i, end}, line})
			p.add(bytes.ToValidUTF8(text[i:end], []byte(string(utf8.RuneError))))
			i, line, n = end, -1, 0
		}
		i += n
	}
	return tokens, p
}

// sameTokens finds old from the start of a line to the end of a word.
func sameTokens(b *budget, content []byte, old string) (found []span) {
	wanted, want := tokensOf(b, []byte(old))
	if len(wanted) < 2 {
		return nil
	}
	tokens, have := tokensOf(b, content)
	have.find(b, want, func(first int) bool {
		if tokens[first].line < 0 {
			return false
		}
		found = append(found, span{tokens[first].line, tokens[first+len(wanted)-1].end})
		return true
	})
	return found
}

func wordy(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// spliceIndented replaces every span by text. The text is written for the
// indentation of old and gets that of the span.
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
