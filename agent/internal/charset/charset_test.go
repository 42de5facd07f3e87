package charset

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

func encoded(t *testing.T, enc encoding.Encoding, text string) []byte {
	t.Helper()
	raw, err := enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// K-48: the encoding of a text is recognised, and every byte comes back.
func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		enc        encoding.Encoding
	}{
		{"GBK", "int x = 1; // 变量\r\nint y; // 返回数组的长度\r\n", simplifiedchinese.GBK},
		{"GBK", "# 配置文件\nname = 测试\n", simplifiedchinese.GBK},
		{"GB18030", "// 中文注释，还有𠮷和其他的字\n", simplifiedchinese.GB18030},
		{"Shift_JIS", "// 日本語のコメント\nint x;\n", japanese.ShiftJIS},
		{"Shift_JIS", "// 表示するファイル\n", japanese.ShiftJIS},
		{"EUC-JP", "// 設定を読み込みます\n", japanese.EUCJP},
		{"EUC-KR", "// 파일을 읽을 수 없습니다\n", korean.EUCKR},
		{"Big5", "// 這個檔案的設定\n", traditionalchinese.Big5},
		{"ISO-8859-1", "// café\n", charmap.ISO8859_1},
		{"ISO-8859-1", "Größe = Länge * Höhe; // für später\n", charmap.ISO8859_1},
		{"ISO-8859-1", "señal, não, très, smörgås\n", charmap.ISO8859_1},
		{"windows-1252", "“Größe” – naïve…\n", charmap.Windows1252},
		{"windows-1251", "// Этот файл содержит настройки программы\n", charmap.Windows1251},
		{"KOI8-R", "// Этот файл содержит настройки программы\n", charmap.KOI8R},
		{"windows-1253", "// Αυτό το αρχείο περιέχει τις ρυθμίσεις\n", charmap.Windows1253},
		{"UTF-16LE", "\uFEFFABC 新 😀\r\n", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
		{"UTF-16BE", "\uFEFFABC é\n", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
		{"UTF-32LE", "\uFEFFABC é\n", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
		{"", "\uFEFFUTF-8 é\n", encoding.Nop},
		{"", "plain\n", encoding.Nop},
		{"", "", encoding.Nop},
	} {
		raw := encoded(t, tt.enc, tt.text)
		got := Decode(raw, nil)
		if got.Name != tt.name || string(got.UTF8) != tt.text {
			t.Errorf("%q is %q in %q, want %q", tt.text, got.UTF8, got.Name, tt.name)
		}
		if back, err := got.Encode(got.UTF8); err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%q: %x, %v; want %x", tt.text, back, err, raw)
		}
	}
}

// K-48: what is not certain is not guessed, and only its ASCII may change.
func TestUncertain(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"\xff\xfd\n", "x = 1 // \x80\x81\x8d\n", "\xff\xfea", "\xF0\xCF\xC9 b\n", "\xfe\xff\xd8\x00x"} {
		text := Decode([]byte(raw), nil)
		if text.Certain() || string(text.UTF8) != raw {
			t.Errorf("%q is %q in %q", raw, text.UTF8, text.Name)
			continue
		}
		if got, err := text.Encode([]byte("new line\n" + raw)); err != nil || string(got) != "new line\n"+raw {
			t.Errorf("%q: ASCII before it: %q, %v", raw, got, err)
		}
		for _, changed := range []string{raw + "é", "", strings.ToValidUTF8(raw, "\uFFFD"), strings.ReplaceAll(raw, "\n", "") + "\xff"} {
			if got, err := text.Encode([]byte(changed)); err == nil {
				t.Errorf("%q becomes %q", raw, got)
			}
		}
	}
}

// K-48: a text that the encoding cannot hold is refused with the character.
func TestEncodeNamesTheCharacter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		enc        encoding.Encoding
		text, more string
		want       string
	}{
		{charmap.ISO8859_1, "// café\n", "新的", "新"},
		{charmap.ISO8859_1, "// café\n", "10 €", "€"},
		{simplifiedchinese.GBK, "// 返回数组的长度\n", "中文 😀", "😀"},
		{japanese.ShiftJIS, "// 日本語のコメント\n", "naïve", "ï"},
		{charmap.Windows1251, "// Этот файл содержит настройки\n", "Größe", "ö"},
	} {
		text := Decode(encoded(t, tt.enc, tt.text), nil)
		if got, err := text.Encode([]byte(tt.text + tt.more)); err == nil || !strings.Contains(err.Error(), "'"+tt.want+"'") || !strings.Contains(err.Error(), text.Name) {
			t.Errorf("%s: %x, %v", tt.more, got, err)
		}
	}
}

// K-48: what the project says decides where the text does not.
func TestSaidDecides(t *testing.T) {
	t.Parallel()
	short := encoded(t, charmap.KOI8R, "да\n")
	for said, want := range map[string]string{"koi8-r": "KOI8-R", "latin1": "ISO-8859-1", "Windows-1251": "windows-1251", "utf-8": Uncertain.Name, "nonsense": Uncertain.Name, "": Uncertain.Name} {
		if got := Decode(short, func() string { return said }); got.Name != want {
			t.Errorf("%s: %q", said, got.Name)
		}
	}
	wide := encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "plain\n")
	if got := Decode(wide, func() string { return "utf-16le" }); string(got.UTF8) != "plain\n" {
		t.Errorf("%q in %q", got.UTF8, got.Name)
	}
	if got := Decode([]byte("é\n"), func() string { return "latin1" }); !got.Charset.UTF8() {
		t.Errorf("valid UTF-8 is %q", got.Name)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xb1\xe4\xc1\xbf\n"))
	f.Add([]byte("\xff\xfea\x00\x00\xd8"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := Decode(raw, nil)
		if back, err := text.Encode(text.UTF8); err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%q in %s comes back as %q, %v", raw, text.Name, back, err)
		}
	})
}
