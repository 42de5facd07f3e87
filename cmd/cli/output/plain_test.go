package output

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"prose", "Grüße, 世界 👩‍🚀\n\tdone\n", "Grüße, 世界 👩‍🚀\n\tdone\n"},
		{"a clipboard", "\x1b]52;c;cm0gLXJmIH4=\x07", "⟨U+001B⟩]52;c;cm0gLXJmIH4=⟨U+0007⟩"},
		{"a cleared screen", "\x1b[2J\x1b[H", "⟨U+001B⟩[2J⟨U+001B⟩[H"},
		{"a C1 control", "\u009b2J", "⟨U+009B⟩2J"},
		{"a C1 control as a byte", "\x9b2J", "\uFFFD2J"},
		{"an overwritten line", "safe\revil", "safe⟨U+000D⟩evil"},
		{"backspaces and DEL", "a\b\x7f", "a⟨U+0008⟩⟨U+007F⟩"},
		{"another order", "\u202egnp.exe\u2066", "⟨U+202E⟩gnp.exe⟨U+2066⟩"},
		{"line ends of Windows", "a\r\nb\r\n", "a\nb\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for size := 1; size <= len(tt.text); size++ { // however the text is divided
				var out strings.Builder
				p := &Plain{Out: &out}
				for rest := tt.text; rest != ""; rest = rest[min(size, len(rest)):] {
					if n, err := p.Write([]byte(rest[:min(size, len(rest))])); err != nil || n != min(size, len(rest)) {
						t.Fatalf("wrote %d bytes, %v", n, err)
					}
				}
				if out.String() != tt.want {
					t.Errorf("in pieces of %d: %q, want %q", size, out.String(), tt.want)
				}
			}
		})
	}
}

// Eight bytes at once are found printable exactly if each of them is.
func TestPrintableBytes(t *testing.T) {
	t.Parallel()
	for _, others := range []string{"        ", "~~~~~~~~"} {
		for place := range others {
			for c := range 256 {
				eight := []byte(others)
				eight[place] = byte(c)
				if got, want := printable(binary.LittleEndian.Uint64(eight)), c >= ' ' && c < 0x7f; got != want {
					t.Errorf("%q is printable: %v", eight, got)
				}
			}
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("a\x1b[2Jb\r"), []byte("\nc\xe2\x80"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var out strings.Builder
		p := &Plain{Out: &out}
		_, _ = p.Write(first) // a builder accepts everything
		_, _ = p.Write(second)
		got := out.String()
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if isCommand(r) && r != '\n' && r != '\t' {
				t.Errorf("%q passed on %U", got, r)
			}
		}
		if len(p.held) >= utf8.UTFMax {
			t.Errorf("%q is held back", p.held)
		}
	})
}

// Lines of JSON contain nothing that a terminal acts on, and have the same
// meaning.
func TestJSONIsPlainAndExact(t *testing.T) {
	t.Parallel()
	text := "\x1b[2J \u009b2J \x7f \u202e \r\n 世界 \\u001b <&>"
	var out strings.Builder
	if err := WriteJSON(&Plain{Out: &out}, map[string]string{"text": text}); err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSuffix(out.String(), "\n")
	if strings.ContainsFunc(line, isCommand) || strings.Contains(line, "⟨") {
		t.Errorf("the line is %q", line)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(line), &got); err != nil || got["text"] != text {
		t.Errorf("the line says %q, %v", got["text"], err)
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got, want := OneLine("Bash\n· Read: ok\x1b[1A"), "Bash⟨U+000A⟩· Read: ok⟨U+001B⟩[1A"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := []rune(OneLine(strings.Repeat("世", 1000))); len(got) != maxName+1 || got[maxName] != '…' {
		t.Errorf("a long name became %d characters", len(got))
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestClosedOutputIsNoticed(t *testing.T) {
	t.Parallel()
	told := 0
	p := &Plain{Out: closedPipe{}, Closed: func() { told++ }}
	if _, err := p.Write([]byte("x")); err == nil || told != 1 {
		t.Errorf("reported %d times, %v", told, err)
	}
}
