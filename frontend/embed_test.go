package frontend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// A compressed file is read under its own name as if it were not, with its own
// size, and under its stored name as it is stored.
func TestUnpacked(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("let a = 1\n", 10_000)
	stored := compress(t, text)
	files := unpacked{fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html>")}, "assets/app.js.gz": {Data: stored},
		"short.js.gz": {Data: []byte{1}}, "broken.js.gz": {Data: []byte("not compressed")}, "cut.js.gz": {Data: stored[:len(stored)/2]},
	}}
	for name, want := range map[string]string{"index.html": "<!doctype html>", "assets/app.js": text, "assets/app.js.gz": string(stored)} {
		got, err := fs.ReadFile(files, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: %.20q, %v", name, got, err)
		}
		info, err := fs.Stat(files, name)
		if err != nil || info.Size() != int64(len(want)) || info.Name() != name[strings.LastIndexByte(name, '/')+1:] {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if _, err := files.Open("assets/none.js"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a missing file:", err)
	}
	for _, name := range []string{"short.js", "broken.js", "cut.js"} {
		if content, err := fs.ReadFile(files, name); err == nil {
			t.Errorf("%s was read: %.20q", name, content)
		}
	}
}

func compress(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
