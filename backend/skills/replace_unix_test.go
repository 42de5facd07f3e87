//go:build unix

package skills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A parcel is compared with the skill that stands there: its texts line by line, other
// files by their sizes, and every file's right to be run.
func TestParcelIsCompared(t *testing.T) {
	t.Parallel()
	main := packed{mainFile, false, []byte("one\ntwo\n")}
	for name, tt := range map[string]struct {
		old, fresh []packed
		want       string // empty if they are the same
	}{
		"the same":             {[]packed{main, {"a/b", false, []byte{0}}}, []packed{main, {"a/b", false, []byte{0}}}, ""},
		"another case":         {[]packed{{"skill.md", false, main.data}}, []packed{main}, ""},
		"another text":         {[]packed{main}, []packed{{mainFile, false, []byte("one\nthree\n")}}, "changed SKILL.md, 10 bytes, before 8\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"},
		"another line ending":  {[]packed{main}, []packed{{mainFile, false, []byte("one\ntwo")}}, "changed SKILL.md, 7 bytes, before 8\n@@ -1,2 +1,2 @@\n one\n-two\n+two\n\\ No newline at end of file\n"},
		"other bytes":          {[]packed{main, {"x", false, []byte{0, 1}}}, []packed{main, {"x", false, []byte{0, 2, 3}}}, "changed x, 3 bytes, before 2\n"},
		"one more, one less":   {[]packed{main, {"old", false, []byte("1")}}, []packed{main, {"new", false, []byte("22")}}, "removed old, 1 bytes\nadded new, 2 bytes\n"},
		"the right to run":     {[]packed{main, {"x", false, nil}}, []packed{main, {"x", true, nil}}, "x: executable true, before false\n"},
		"nothing stands there": {nil, []packed{main}, ""},
	} {
		folder := filepath.Join(t.TempDir(), "x")
		for _, f := range tt.old {
			mode := os.FileMode(0o644)
			if f.exec {
				mode = 0o755
			}
			path := filepath.Join(folder, f.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.data, mode); err != nil {
				t.Fatal(err)
			}
		}
		same, got := parcel{name: "x", files: tt.fresh}.instead(t.Context(), folder)
		if want := tt.want == "" && tt.old != nil; got != tt.want || same != want {
			t.Errorf("%s: %t %q", name, same, got)
		}
	}
	big := packed{mainFile, false, []byte(strings.Repeat("x\n", 30_000))}
	var files []packed
	folder := filepath.Join(t.TempDir(), "x")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		files = append(files, packed{name, false, big.data})
		if err := os.WriteFile(filepath.Join(folder, name), []byte(strings.Repeat("y\n", 30_000)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if same, got := (parcel{name: "x", files: files}).instead(t.Context(), folder); same || len(got) > maxDifference+8 || !strings.HasSuffix(got, "\n…") {
		t.Errorf("%t, %d bytes", same, len(got))
	}
}
