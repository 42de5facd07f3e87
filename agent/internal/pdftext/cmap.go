package pdftext

import (
	"encoding/hex"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"
	"golang.org/x/text/unicode/norm"
)

// cmap says which characters the codes of a font stand for. The library has one, but looks at it
// only for fonts without an encoding of their own; those that browsers write for Chinese have one
// without characters.
type cmap struct {
	length int // of a code, in bytes
	known  map[string]string
}

// maxCodes limits the codes of a font: all that two bytes can have.
const maxCodes = 1 << 16

var (
	cmapSection = regexp.MustCompile(`(?s)begin(codespacerange|bfchar|bfrange)(.*?)end(?:codespacerange|bfchar|bfrange)`)
	cmapPair    = regexp.MustCompile(`<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>`)
	cmapRange   = regexp.MustCompile(`<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(?:<([0-9A-Fa-f]+)>|\[([^\]]*)\])`)
	cmapText    = regexp.MustCompile(`<([0-9A-Fa-f]+)>`)
)

// readCmap reads a stream that says so; nil if it does not.
func readCmap(stream pdf.Value) *cmap {
	if stream.Kind() != pdf.Stream || larger(stream, maxStream) {
		return nil
	}
	r := stream.Reader()
	defer func() { _ = r.Close() }() // which is in memory
	data, _ := io.ReadAll(io.LimitReader(r, maxStream))
	c := &cmap{length: 1, known: map[string]string{}}
	for _, section := range cmapSection.FindAllStringSubmatch(string(data), -1) {
		switch section[1] {
		case "codespacerange":
			if pair := cmapPair.FindStringSubmatch(section[2]); pair != nil {
				c.length = min(max(len(pair[1])/2, 1), 4)
			}
		case "bfchar":
			for _, pair := range cmapPair.FindAllStringSubmatch(section[2], -1) {
				c.add(unhex(pair[1]), unhex(pair[2]))
			}
		case "bfrange":
			for _, r := range cmapRange.FindAllStringSubmatch(section[2], -1) {
				c.addRange(unhex(r[1]), unhex(r[2]), unhex(r[3]), cmapText.FindAllStringSubmatch(r[4], -1))
			}
		}
	}
	if len(c.known) == 0 {
		return nil
	}
	return c
}

func unhex(digits string) string {
	out, _ := hex.DecodeString(digits) // as far as it goes
	return string(out)
}

func (c *cmap) add(code, characters string) {
	if len(c.known) < maxCodes {
		c.known[code] = fromUTF16(characters)
	}
}

// addRange adds the codes from one to another: each stands for the character after that of
// the code before it, or for the text of the list.
func (c *cmap) addRange(from, to, first string, list [][]string) {
	for i := 0; len(from) == len(to) && from <= to && len(c.known) < maxCodes; i++ {
		switch {
		case first != "":
			c.add(from, first)
			first = next(first)
		case i < len(list):
			c.add(from, unhex(list[i][1]))
		default:
			return
		}
		if from == to {
			return
		}
		from = next(from)
	}
}

// next returns a number of several bytes and one.
func next(number string) string {
	out := []byte(number)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i]++; out[i] != 0 {
			break
		}
	}
	return string(out)
}

func fromUTF16(text string) string {
	units := make([]uint16, 0, len(text)/2)
	for i := 0; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	return string(utf16.Decode(units))
}

// Decode implements [pdf.TextEncoding].
func (c *cmap) Decode(raw string) string {
	var out strings.Builder
	for len(raw) >= c.length {
		out.WriteString(c.known[raw[:c.length]])
		raw = raw[c.length:]
	}
	return out.String()
}

// usual writes ligatures and radicals, which fonts have for their shapes, as the characters
// that people search for.
func usual(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x2F00 && r <= 0x2FD5 { // radicals of characters
			return []rune(norm.NFKC.String(string(r)))[0]
		}
		return r
	}, ligatures.Replace(s))
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")
