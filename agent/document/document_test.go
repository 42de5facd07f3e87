package document_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"atelier.dev/atelier/agent/document"
)

func drawn(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, 3, 2))
	p.Set(1, 1, color.RGBA{200, 10, 10, 255})
	var out bytes.Buffer
	if err := encode(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// onePage is a PDF of one page. Its table is found by the numbers that it ends with.
func onePage(contents string) string {
	body := "%PDF-1.7\n"
	var table strings.Builder
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>", "<</Type/Page/Contents 4 0 R>>",
		fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(contents), contents),
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", len(body))
		body += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	return body + fmt.Sprintf("xref\n0 5\n0000000000 65535 f \n%strailer\n<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", table.String(), len(body))
}

// LOOP-23: pictures of common formats are shown, BMP and TIFF as PNG; an archive is listed; what
// cannot be shown says why, and what to do instead.
func TestShow(t *testing.T) {
	t.Parallel()
	asPNG := drawn(t, func(b *bytes.Buffer, p image.Image) error { return png.Encode(b, p) })
	asBMP := drawn(t, func(b *bytes.Buffer, p image.Image) error { return bmp.Encode(b, p) })
	asTIFF := drawn(t, func(b *bytes.Buffer, p image.Image) error { return tiff.Encode(b, p, nil) })
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	if _, err := w.Create("inside.txt"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	huge := bytes.Clone(asBMP)
	copy(huge[18:], "\xff\xff\xff\x0f\xff\xff\xff\x0f") // its width and height
	for _, tt := range []struct {
		name, file, data string
		kind, says       string
		failed, other    bool
	}{
		{"a PNG picture", "a.png", string(asPNG), "image/png", "is a picture", false, false},
		{"a BMP picture", "a.bmp", string(asBMP), "image/png", "is a picture", false, false},
		{"a TIFF picture", "a.tiff", string(asTIFF), "image/png", "is a picture", false, false},
		{"a picture of another name", "a.zip", string(asTIFF), "image/png", "is a picture", false, false},
		{"half a BMP picture", "a.bmp", string(asBMP[:60]), "", "a broken picture", true, false},
		{"a TIFF picture without contents", "a.tif", string(asTIFF[:9]), "", "a broken picture", true, false},
		{"a huge BMP picture", "a.bmp", string(huge), "", "cannot be shown", true, false},
		{"HEIC", "a.heic", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "", "in the format HEIC, which cannot be shown: convert it", true, false},
		{"AVIF", "a.avif", "\x00\x00\x00\x18ftypavif\x00\x00\x00\x00", "", "in the format AVIF", true, false},
		{"a film", "a.heic", "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00", "", "", false, true},
		{"a damaged PDF", "a.pdf", "%PDF-1.7\n", "", "is damaged, or no PDF", true, false},
		{"a PDF", "a.txt", onePage("BT (Tea and cups) Tj ET"), "", "--- Page 1 of 1 ---\nTea and cups", false, false},
		{"a PDF of pictures", "a.pdf", onePage("q /Im1 Do Q"), "", "pdftoppm", true, false},
		{"an archive", "a.docx", packed.String(), "", "inside.txt", false, false},
		{"half an archive", "a.zip", packed.String()[:40], "", "cannot be listed", true, false},
		{"a text", "a.png", "hello", "", "", false, true},
		{"nothing", "a.png", "", "", "", false, true},
	} {
		if !document.Known(tt.file) && tt.file != "a.txt" {
			t.Errorf("%s is not known", tt.file)
		}
		r, ok := document.Show(t.Context(), tt.file, []byte(tt.data))
		if ok == tt.other || r.IsError != tt.failed || !strings.Contains(r.Output, tt.says) {
			t.Errorf("%s: %t, %+v", tt.name, ok, r)
			continue
		}
		if (tt.kind != "") != (len(r.Media) == 1) || tt.kind != "" && r.Media[0].MIME != tt.kind {
			t.Errorf("%s: shown %d pictures", tt.name, len(r.Media))
		}
	}
	if document.Known("a.go") || document.Known("png") {
		t.Error("a text is known as a document")
	}
}
