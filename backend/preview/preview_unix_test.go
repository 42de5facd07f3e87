//go:build unix

package preview_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/preview"
)

// OC-05: a picture of the project is shown, made smaller if it is large; nothing outside the project is read, and
// no script is run.
func TestShow(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var drawn bytes.Buffer
	if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 3000, 10))); err != nil {
		t.Fatal(err)
	}
	write("logo.png", drawn.Bytes())
	write("named.txt", drawn.Bytes())
	write("broken.png", drawn.Bytes()[:40])
	write("paper.pdf", []byte("%PDF-1.7\n"))
	write("script.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`))
	write("main.go", []byte("package main\n"))
	write("empty", nil)
	if err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(folder, "out.png")), syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := preview.New(func(context.Context, string) (string, error) { return folder, nil })
	for name, want := range map[string]preview.PreviewKind{
		"logo.png": preview.KindPicture, "named.txt": preview.KindPicture, "broken.png": preview.KindOther, "paper.pdf": preview.KindPDF,
		"script.svg": preview.KindOther, "main.go": preview.KindOther, "empty": preview.KindOther,
	} {
		got, err := p.Show(t.Context(), preview.PreviewRequest{Path: name})
		if err != nil || got.Kind != want || (got.Picture != nil) != (want == preview.KindPicture) {
			t.Errorf("%s: %s %v", name, got.Kind, err)
		}
	}
	got, err := p.Show(t.Context(), preview.PreviewRequest{Path: "logo.png"})
	if err != nil {
		t.Fatal(err)
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(got.Picture.Data)); err != nil || size.Width > 2000 || got.Size != int64(drawn.Len()) {
		t.Errorf("%+v %v", size, err)
	}
	for name, want := range map[string]backend.ProblemID{
		"gone.png": backend.ProblemFileMissing, "out.png": backend.ProblemFileMissing, "pipe": backend.ProblemFileMissing, ".": backend.ProblemFileMissing,
		"../x": backend.ProblemChangesOutside, "/etc/passwd": backend.ProblemChangesOutside,
	} {
		var problem *backend.Error
		if _, err := p.Show(t.Context(), preview.PreviewRequest{Path: name}); !errors.As(err, &problem) || problem.ID != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
