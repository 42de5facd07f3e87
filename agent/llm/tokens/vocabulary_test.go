package tokens

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "writes the vocabularies anew")

// reference is a tokenizer of another module, by which ours is checked, and a
// vocabulary of ours.
type reference struct {
	file  string
	codec *codec.Codec
	own   *vocabulary
}

var references = sync.OnceValue(func() []reference {
	return []reference{
		{"cl100k.ranks", codec.NewCl100kBase(), cl100k()},
		{"o200k.ranks", codec.NewO200kBase(), o200k()},
	}
})

// The embedded vocabularies have the tokens and ranks of the reference.
func TestVocabularies(t *testing.T) {
	for _, r := range references() {
		want := encode(tokensOf(r.codec))
		if *update {
			if err := os.WriteFile(r.file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(r.file); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs from the reference (%v); go test ./agent/llm/tokens -update writes it anew", r.file, err)
		}
	}
}

// tokensOf returns the tokens by their ranks.
func tokensOf(c *codec.Codec) (tokens []string) {
	for {
		token, err := c.Decode([]uint{uint(len(tokens))})
		if err != nil {
			return tokens
		}
		tokens = append(tokens, token)
	}
}

// encode writes a vocabulary as newVocabulary reads it.
func encode(tokens []string) []byte {
	order := make([]int, len(tokens))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(len(tokens[a])-len(tokens[b]), strings.Compare(tokens[a], tokens[b]))
	})
	counts := make([]uint32, 1+len(tokens[order[len(order)-1]]))
	var text, ranks []byte
	for _, rank := range order {
		counts[len(tokens[rank])]++
		text = append(text, tokens[rank]...)
		ranks = append(ranks, byte(rank), byte(rank>>8), byte(rank>>16))
	}
	counts[0] = uint32(len(counts) - 1)
	var out []byte
	for _, n := range counts {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return slices.Concat(out, text, ranks)
}

// texts have what the patterns of the tokenizers tell apart.
var texts = []string{
	"", " ", "  ", "\n", " \n  x", "a\r\n\r\nb", "\t\tif x {\n\t\t\treturn 42, nil // it's a test\n\t\t}\n",
	"I'll we've THEY'RE don't 'tis x's 'S 'LL ''", "camelCase HTTPServer ABCdef ǅungla éàÉ ÀÉx", "1234567 3.14159 ²³¼ ٣٤٥٦",
	"你好，世界！这是一个测试。", "お誕生日おめでとう", "مرحبا بالعالم", "नमस्ते दुनिया", "e\u0301a\u0300 \u0301x", "👩‍👩‍👧‍👦 🎉🎉",
	"https://example.com/a/b?c=d&e=f#g", "//\n/// */\n", "_foo_bar__baz $x->y() <div class=\"a\">", "   trailing   ", "a\u00a0b\u2003c\u3000d",
	"\u2028x\u0085y", "- name: x\n  value: |\n    text\n\n\n", strings.Repeat(" ", 100) + "x", strings.Repeat("=", 90) + "\n", "ªº ʰʱ ⅷⅧ ᾈ",
}

// Our counts are those of the reference.
func TestCountIsThatOfTheReference(t *testing.T) {
	for _, r := range references() {
		for _, text := range texts {
			want, err := r.codec.Count(text)
			if got := r.own.count(text); err != nil || got != want {
				t.Errorf("%s: %q has %d tokens, want %d (%v)", r.file, text, got, want, err)
			}
		}
	}
}

// A word that is too long to be joined at once counts little more than it is.
func TestCountOfLongWords(t *testing.T) {
	for _, r := range references() {
		for _, text := range []string{strings.Repeat("a", 5000), strings.Repeat("abcdefghij", 500), strings.Repeat("漢字仮名", 300), strings.Repeat(" ", 3000)} {
			want, err := r.codec.Count(text)
			if got := r.own.count(text); err != nil || got < want || got > want+4*(1+len(text)/longestPiece) {
				t.Errorf("%s: %.10q… has %d tokens, want %d (%v)", r.file, text, got, want, err)
			}
		}
	}
}

// Empty lines are one piece, as the patterns say; the reference cuts them at each
// line.
func TestEmptyLinesAreOnePiece(t *testing.T) {
	for _, r := range references() {
		if got := r.own.piece(" \n \n  x"); got != len(" \n \n") {
			t.Errorf("%s: the first piece has %d bytes", r.file, got)
		}
	}
}

// misread is what the reference does not read as its patterns say: empty lines, and
// a character that it leaves out.
var misread = regexp.MustCompile(`[\r\n]\s*[^\S\r\n]\s*[\r\n]|\x7f`)

func FuzzCount(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	refs := references()
	f.Fuzz(func(t *testing.T, text string) {
		// The reference reads broken characters as others, and long words as a whole.
		if text = strings.ToValidUTF8(text, "?"); len(text) > longestPiece || misread.MatchString(text) {
			return
		}
		for _, r := range refs {
			want, err := r.codec.Count(text)
			if err != nil {
				t.Skip()
			}
			if got := r.own.count(text); got != want {
				t.Errorf("%s: %q has %d tokens, want %d", r.file, text, got, want)
			}
		}
	})
}
