package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pieceOfCl100k returns the length of the first piece of a text that is not empty:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func pieceOfCl100k(text string) int {
	if n := contraction(text); n > 0 {
		return n
	}
	start := beforeWord(text)
	if n := run(text[start:], unicode.IsLetter); n > 0 {
		return start + n
	}
	if n := run(text, unicode.IsLetter); n > 0 {
		return n
	}
	return otherPiece(text, "\r\n")
}

// pieceOfO200k returns the length of the first piece of a text that is not empty.
// Its words end where a capital letter follows a small one:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|
//	\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
func pieceOfO200k(text string) int {
	for _, word := range []func(string) int{smallWord, capitals} {
		for _, start := range []int{beforeWord(text), 0} {
			if n := word(text[start:]); n > 0 {
				n += start
				return n + contraction(text[n:])
			}
		}
	}
	return otherPiece(text, "\r\n/")
}

// smallWord returns the length of a word that ends with small letters, or 0.
func smallWord(text string) int {
	n := run(text, isCapital)
	if small := run(text[n:], isSmall); small > 0 {
		return n + small
	}
	for n > 0 { // letters without case, and marks, are both
		r, size := utf8.DecodeLastRuneInString(text[:n])
		if isSmall(r) {
			return n
		}
		n -= size
	}
	return 0
}

// capitals returns the length of a word of capital letters, or 0.
func capitals(text string) int { return run(text, isCapital) }

func isCapital(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M)
}

func isSmall(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M)
}

// otherPiece returns the length of a first piece that is not a word. The ends may
// follow signs.
func otherPiece(text, ends string) int {
	first, size := utf8.DecodeRuneInString(text)
	if unicode.IsNumber(first) {
		n := size
		for range 2 {
			r, size := utf8.DecodeRuneInString(text[n:])
			if !unicode.IsNumber(r) {
				break
			}
			n += size
		}
		return n
	}
	signs := 0
	if first == ' ' {
		signs = 1
	}
	if n := run(text[signs:], isSign); n > 0 {
		n += signs
		return n + run(text[n:], func(r rune) bool { return strings.ContainsRune(ends, r) })
	}
	n := run(text, unicode.IsSpace)
	if end := strings.LastIndexAny(text[:n], "\r\n"); end >= 0 {
		return end + 1
	}
	// The last space before a word belongs to it.
	if _, last := utf8.DecodeLastRuneInString(text[:n]); n < len(text) && n > last {
		return n - last
	}
	return n
}

func isSign(r rune) bool { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// beforeWord returns the length of the first character if it can stand before a
// word, else 0.
func beforeWord(text string) int {
	r, size := utf8.DecodeRuneInString(text)
	if r == '\r' || r == '\n' || unicode.IsLetter(r) || unicode.IsNumber(r) {
		return 0
	}
	return size
}

// contraction returns the length of an English contraction, such as 'll, or 0.
func contraction(text string) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch text[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(text) > 2 {
		switch strings.ToLower(text[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// run returns the length of the characters of a kind with which a text begins. It
// ends soon after the longest piece that is counted.
func run(text string, kind func(rune) bool) int {
	for i, r := range text {
		if !kind(r) || i > longestPiece {
			return i
		}
	}
	return len(text)
}
