package charset

import (
	_ "embed" // for the characters of languages
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// script is how a language uses the characters of an encoding.
type script int

const (
	ideographs script = iota // words need no space to ASCII
	alphabet                 // words have letters of the alphabet only
	latin                    // words have ASCII letters, and few others
)

var latin1 = Charset{"ISO-8859-1", charmap.ISO8859_1}

// known are the encodings that a text can be recognised as, each with the language
// whose common characters it is judged by. Of two that are equally likely the first
// one counts.
var known = []struct {
	Charset
	language string
	script   script
	prior    float64 // how likely it is beforehand, as a logarithm
}{
	{Charset{"GBK", simplifiedchinese.GBK}, "zh-Hans", ideographs, 0},
	{Charset{"GB18030", simplifiedchinese.GB18030}, "zh-Hans", ideographs, -1},
	{Charset{"Shift_JIS", japanese.ShiftJIS}, "ja", ideographs, 0},
	{Charset{"EUC-JP", japanese.EUCJP}, "ja", ideographs, 0},
	{Charset{"Big5", traditionalchinese.Big5}, "zh-Hant", ideographs, -1},
	{Charset{"EUC-KR", korean.EUCKR}, "ko", ideographs, 0},
	{latin1, "west", latin, 0},
	{Charset{"windows-1252", charmap.Windows1252}, "west", latin, 0},
	{Charset{"windows-1250", charmap.Windows1250}, "central", latin, -4},
	{Charset{"ISO-8859-2", charmap.ISO8859_2}, "central", latin, -4},
	{Charset{"windows-1254", charmap.Windows1254}, "tr", latin, -6},
	{Charset{"windows-1251", charmap.Windows1251}, "ru", alphabet, 0},
	{Charset{"KOI8-R", charmap.KOI8R}, "ru", alphabet, -1},
	{Charset{"IBM866", charmap.CodePage866}, "ru", alphabet, -5},
	{Charset{"ISO-8859-5", charmap.ISO8859_5}, "ru", alphabet, -9},
	{Charset{"windows-1253", charmap.Windows1253}, "el", alphabet, -4},
	{Charset{"ISO-8859-7", charmap.ISO8859_7}, "el", alphabet, -9},
	{Charset{"windows-1255", charmap.Windows1255}, "he", alphabet, -9},
	{Charset{"windows-1256", charmap.Windows1256}, "ar", alphabet, -9},
	{Charset{"windows-874", charmap.Windows874}, "th", alphabet, -9},
}

//go:embed common.txt
var common string

// languages has for each language how likely each common character is, as a logarithm.
var languages = sync.OnceValue(func() map[string]map[rune]float64 {
	all := map[string]map[rune]float64{}
	for line := range strings.Lines(common) {
		name, characters, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		likely, sum := map[rune]float64{}, 0.0
		rank := 0.0
		for _, r := range characters {
			if likely[unicode.ToLower(r)] > 0 {
				continue
			}
			likely[unicode.ToLower(r)] = 1 / (rank + before)
			sum += 1 / (rank + before)
			rank++
		}
		for r, p := range likely {
			likely[r] = math.Log(p / sum)
		}
		all[name] = likely
	}
	return all
})

const (
	before  = 8.0   // the frequency of ranks is 1/(rank + before)
	rare    = -14.0 // of a character that is not common
	odd     = -5.0  // of a character that does not belong beside its neighbour
	average = -9.5  // what a text's characters must be at least, on average
	margin  = 4.0   // by which the likeliest reading must be likelier than others
)

// fewest are the characters beyond ASCII that a text must have to be recognised: letters
// of another alphabet say little.
var fewest = map[script]int{ideographs: 2, alphabet: 5, latin: 1}

// guess returns the encoding in which a text is likely to be written; [Uncertain] if
// several are, or none.
func guess(sample []byte) Charset {
	type reading struct {
		Charset
		text  string
		score float64
		latin bool
		sound bool // likely enough by itself
	}
	best, second := reading{score: math.Inf(-1)}, math.Inf(-1)
	for _, k := range known {
		text, ok := decoded(k.enc, sample)
		if !ok {
			continue
		}
		score, n := likelihood(text, languages()[k.language], k.script)
		r := reading{k.Charset, text, score + k.prior, k.script == latin, n >= fewest[k.script] && score/float64(n) > average}
		// Two readings as Latin letters are no rivals. They differ in single letters: what
		// is not changed stays as it is, and what one of them lacks is refused.
		rivals := text != best.text && !(best.latin && r.latin)
		switch {
		case r.score > best.score:
			if rivals {
				second = best.score
			}
			best = r
		case rivals:
			second = max(second, r.score)
		}
	}
	if !best.sound || best.score-second < margin {
		return Uncertain
	}
	return best.Charset
}

// decoded decodes a sample, whose last character may be cut.
func decoded(enc encoding.Encoding, sample []byte) (string, bool) {
	text := make([]byte, 3*len(sample)+utf8.UTFMax)
	n, _, _ := enc.NewDecoder().Transform(text, sample, false)
	text = text[:n]
	for _, r := range string(text) {
		if r == utf8.RuneError || r >= utf8.RuneSelf && (unicode.IsControl(r) || unicode.Is(unicode.Co, r)) {
			return "", false
		}
	}
	return string(text), len(text) > 0
}

// likelihood returns how likely a text is in a language, as a logarithm, and the number
// of its characters that are not ASCII.
func likelihood(text string, likely map[rune]float64, s script) (sum float64, n int) {
	var last rune
	for _, r := range text {
		if r < utf8.RuneSelf {
			if s == alphabet && isLetter(r) && last >= utf8.RuneSelf && unicode.IsLetter(last) {
				sum += odd
			}
			last = r
			continue
		}
		n++
		p, ok := likely[unicode.ToLower(r)]
		if !ok {
			p = rare
		}
		sum += p
		switch {
		case s == alphabet && isLetter(last) && unicode.IsLetter(r):
			sum += odd
		case s == alphabet && unicode.IsLower(last) && unicode.IsUpper(r):
			sum += odd
		case s == latin && last >= utf8.RuneSelf:
			sum += odd / 2
		}
		last = r
	}
	return sum, n
}

func isLetter(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
