package pdftext

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// file writes a PDF of pages with these contents, which may be compressed.
func file(extra string, pages ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	var at []int
	object := func(body string) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(at), body)
	}
	object("<</Type/Catalog/Pages 2 0 R>>")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	object(fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", len(pages), strings.Join(kids, " ")))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	for i, contents := range pages {
		object(fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", 5+2*i))
		object(contents)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, extra, start)
	return out.Bytes()
}

func plain(contents string) string {
	return fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(contents), contents)
}

func packed(contents string) string {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write([]byte(contents))
	_ = w.Close()
	return fmt.Sprintf("<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", out.Len(), out.Bytes())
}

// OAS-301: the text of a PDF is read in lines and words.
func TestRead(t *testing.T) {
	t.Parallel()
	got, err := Read(t.Context(), file("",
		packed("BT /F1 12 Tf 72 720 Td (Tea) Tj 40 0 Td (and cups) Tj 0 -14 Td [(W)20(ord)-300(two caf\351)] TJ T* (!) ' ET"),
		plain(""),
		plain("BT /F1 12 Tf 1 0 0 1 72 700 Tm (Second page) Tj 1 0 0 1 72 680 Tm (last line) Tj ET"),
	))
	want := "--- Page 1 of 3 ---\nTea and cups\nWord two café!\n--- Page 2 of 3 ---\n\n--- Page 3 of 3 ---\nSecond page\nlast line\n"
	if err != nil || got.String() != want {
		t.Errorf("%v\n%q, not\n%q", err, got.String(), want)
	}
}

// The map of a font from codes to characters comes before its encoding, as for the fonts that
// browsers write for Chinese: single codes, ranges and lists.
func TestFontWithAMap(t *testing.T) {
	t.Parallel()
	const usual = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"
	mapped := fmt.Sprintf("%-*s>>", len(usual)-2, "<</Type/Font/Subtype/Type3/Encoding/WinAnsiEncoding/ToUnicode 7 0 R") // as long, so that offsets hold
	data := bytes.Replace(file("",
		plain("BT /F1 12 Tf <010203050607> Tj ET"),
		plain("1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <01> <4E2D> endbfchar "+
			"2 beginbfrange <02> <03> [<6587> <7684>] <05> <07> <0041> endbfrange"), // object 7
	), []byte(usual), []byte(mapped), 1)
	if got, err := Read(t.Context(), data); err != nil || !strings.Contains(got.String(), "中文的ABC") {
		t.Errorf("%v: %q", err, got.String())
	}
}

// A PDF of any kind ends in a text or in a clear error, in a moment.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	good := file("", plain("BT /F1 12 Tf (Tea) Tj ET"))
	many := make([]string, maxPages+20)
	for i := range many {
		many[i] = plain("BT /F1 12 Tf (Tea) Tj ET")
	}
	for name, tt := range map[string]struct {
		data []byte
		err  error
		says string
	}{
		"no PDF":               {[]byte("hello"), ErrBroken, ""},
		"nothing":              {nil, ErrBroken, ""},
		"only its name":        {[]byte("%PDF-1.7\n"), ErrBroken, ""},
		"half a file":          {good[:len(good)/2], ErrBroken, ""},
		"zeros":                {append([]byte("%PDF-1.7\n"), make([]byte, 1<<20)...), ErrBroken, ""},
		"no text":              {file("", plain("q 100 0 0 100 0 0 cm /Im1 Do Q")), ErrNoText, ""},
		"encrypted":            {file("/Encrypt<</Filter/Standard/V 1/R 2/P -4/O("+strings.Repeat("o", 32)+")/U("+strings.Repeat("u", 32)+")>>/ID[(a)(a)]", plain("")), ErrEncrypted, ""},
		"encrypted otherwise":  {file("/Encrypt<</Filter/Other/V 9/R 9>>/ID[(a)(a)]", plain("")), ErrEncrypted, ""},
		"a bomb":               {file("", packed(strings.Repeat("(a) Tj ", 100<<20/7))), nil, "too much on it"},
		"a bomb of operands":   {file("", packed(strings.Repeat("0 ", 3<<20)), plain("BT (Tea) Tj ET")), nil, "Tea"},
		"deep arrays":          {file("", plain("BT (Tea) Tj "+strings.Repeat("[", 1<<20))), nil, "Tea"},
		"many pages":           {file("", many...), nil, "[20 more pages are not shown.]"},
		"pages that never end": {bytes.Replace(good, []byte("/Kids[4 0 R]"), []byte("/Kids[2 0 R]"), 1), ErrNoText, ""},
		"a count that lies":    {bytes.Replace(good, []byte("/Count 1"), []byte("/Count 9"), 1), nil, "Tea"},
		"a broken operator":    {file("", plain("BT (Tea) Tj ( ET"), plain("BT (cups) Tj ET")), nil, "cups"},
		"invalid UTF-8":        {file("", plain("BT (a\xff\xfe\x00b) Tj ET")), nil, "b"},
		"a page of 10 MB":      {file("", plain("BT ("+strings.Repeat("a", 10<<20)+") Tj ET")), nil, "too much on it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := Read(ctx, tt.data)
			if !errors.Is(err, tt.err) || tt.err == nil && err != nil || !strings.Contains(got.String(), tt.says) || len(got.String()) > 5*maxText {
				t.Errorf("%v, not %v: %.300q", err, tt.err, got.String())
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ended, good); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// What a browser prints is read as a person reads it.
func TestRealFile(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	page := filepath.Join(dir, "page.html")
	if err := os.WriteFile(page, []byte(`<meta charset=utf-8><h1>Tea and cups</h1><p>A first line of words.<p>Τσάι και φλιτζάνια.`), 0o600); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "page.pdf")
	if out, err := exec.CommandContext(t.Context(), chromium, "--no-sandbox", "--user-data-dir="+dir, "--print-to-pdf="+to, "file://"+page).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(t.Context(), data)
	for _, want := range []string{"Tea and cups", "A first line of words.", "Τσάι και φλιτζάνια."} {
		if err != nil || !strings.Contains(got.String(), want) {
			t.Errorf("%v: %q, without %q", err, got.String(), want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file("", plain("BT /F1 12 Tf (Tea) Tj ET")))
	f.Add(file("", packed("BT /F1 12 Tf [(Tea) -300 (cups)] TJ ET")))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _ = Read(ctx, data)
	})
}
