package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"atelier.dev/atelier/agent"
)

func encoded(t *testing.T, enc encoding.Encoding, text string) string {
	t.Helper()
	raw, err := enc.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// K-48: a file keeps its encoding, its mark and its line ends, whatever changes it.
func TestFilesKeepTheirEncoding(t *testing.T) {
	t.Parallel()
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	for name, tt := range map[string]struct {
		enc              encoding.Encoding
		before, old, new string
	}{
		"GBK":          {simplifiedchinese.GBK, "int x = 1; // 变量\nint y; // 数组的长度\n", "变量", "新的变量"},
		"Shift_JIS":    {japanese.ShiftJIS, "// 日本語のコメント\r\nint x;\r\n", "int x;", "int x; // 表示"},
		"ISO-8859-1":   {charmap.ISO8859_1, "// café\nint x;\n", "café", "thé"},
		"windows-1251": {charmap.Windows1251, "// Этот файл содержит настройки программы\n", "файл", "новый файл"},
		"UTF-16LE":     {utf16, "\uFEFFSTRINGTABLE\r\nIDS_A \"é\"\r\n", "IDS_A", "IDS_新"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw := encoded(t, tt.enc, tt.before)
			after := strings.Replace(tt.before, tt.old, tt.new, 1)
			b := newPatchBench(t, map[string]string{"f": raw, "g": raw, "h": raw})
			if got := b.succeed("Read", args{"file_path": "f"}).Output; !strings.Contains(got, tt.old) || !strings.Contains(got, "[The file is in "+name+".") {
				t.Errorf("read %q", got)
			}
			b.succeed("Edit", args{"file_path": "f", "old_string": tt.old, "new_string": tt.new})
			b.succeed("Read", args{"file_path": "g"})
			if got := b.succeed("Write", args{"file_path": "g", "content": strings.ReplaceAll(strings.TrimPrefix(after, "\uFEFF"), "\r\n", "\n")}).Output; !strings.Contains(got, "the encoding "+name) {
				t.Errorf("written: %q", got)
			}
			var hunk []string
			for line := range strings.Lines(strings.ReplaceAll(strings.TrimPrefix(tt.before, "\uFEFF"), "\r\n", "\n")) {
				line = strings.TrimSuffix(line, "\n")
				if changed := strings.Replace(line, tt.old, tt.new, 1); changed != line {
					hunk = append(hunk, "-"+line, "+"+changed)
				} else {
					hunk = append(hunk, " "+line)
				}
			}
			b.succeed("ApplyPatch", patch(append([]string{"*** Update File: h"}, hunk...)...))
			want := encoded(t, tt.enc, after)
			for _, file := range []string{"f", "g", "h"} {
				if got := b.content(file); got != want {
					t.Errorf("%s has %q, want %q", file, got, want)
				}
			}
			if name == "ISO-8859-1" {
				b.refuse("Edit", args{"file_path": "f", "old_string": "int x", "new_string": "int 新"}, "ISO-8859-1, which has no character '新'")
				b.refuse("Write", args{"file_path": "f", "content": "€"}, "'€'")
				b.refuse("ApplyPatch", patch("*** Update File: f", "-int x;", "+int 新;"), "'新'")
			}
		})
	}
}

// K-48: where the encoding is not certain, only plain ASCII is changed.
func TestAnUncertainEncodingIsNotGuessed(t *testing.T) {
	t.Parallel()
	raw := "int x = 1; // \xff\xfd\nint y;\n"
	b := newPatchBench(t, map[string]string{"f": raw, "sub/g": raw, "sub/.editorconfig": "[*]\ncharset = latin1\n"})
	if got := b.succeed("Read", args{"file_path": "f"}).Output; !strings.Contains(got, "not certain") {
		t.Errorf("read %q", got)
	}
	b.refuse("Write", args{"file_path": "f", "content": "int x;\n"}, "its encoding is not certain")
	b.refuse("Edit", args{"file_path": "f", "old_string": "int y", "new_string": "int é"}, "its encoding is not certain")
	b.refuse("ApplyPatch", patch("*** Update File: f", "-int y;", "+int é;"), "its encoding is not certain")
	b.succeed("Edit", args{"file_path": "f", "old_string": "int x = 1", "new_string": "long x = 2"})
	if got := b.content("f"); got != "long x = 2; // \xff\xfd\nint y;\n" {
		t.Errorf("content %q", got)
	}
	b.succeed("Read", args{"file_path": "sub/g"}) // the project says what it is
	b.succeed("Edit", args{"file_path": "sub/g", "old_string": "int y", "new_string": "int é"})
	if got := b.content("sub/g"); got != "int x = 1; // \xff\xfd\nint \xe9;\n" {
		t.Errorf("content %q", got)
	}
}

// K-48: a replaced file keeps its line ends and its mark; a new one has those of the project.
func TestWriteKeepsLineEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files               map[string]string
		path, content, want string
		said                string
	}{
		"CRLF":            {map[string]string{"f": "a\r\nb\r\n"}, "f", "x\ny\n", "x\r\ny\r\n", "CRLF line endings, as before"},
		"mostly CRLF":     {map[string]string{"f": "a\r\nb\r\nc\n"}, "f", "x\ny\n", "x\r\ny\r\n", "CRLF"},
		"mostly LF":       {map[string]string{"f": "a\nb\nc\r\n"}, "f", "x\ny\n", "x\ny\n", ""},
		"its own":         {map[string]string{"f": "a\r\nb\r\n"}, "f", "x\r\ny\n", "x\r\ny\n", ""},
		"CR":              {map[string]string{"f": "a\rb\r"}, "f", "x\ny\n", "x\ry\r", "CR line endings"},
		"mark":            {map[string]string{"f": "\uFEFFa\r\n"}, "f", "x\n", "\uFEFFx\r\n", "a byte order mark"},
		"gitattributes":   {map[string]string{".gitattributes": "* text=auto\n*.bat text eol=crlf\n"}, "sub/f.bat", "x\n", "x\r\n", "as the project has it"},
		"editorconfig":    {map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = crlf\n[*.sh]\nend_of_line = lf\n"}, "a/b/f.txt", "x\n", "x\r\n", "CRLF"},
		"a later section": {map[string]string{".editorconfig": "[*]\nend_of_line = crlf\n[{*.sh,*.py}]\nend_of_line=lf\n"}, "f.sh", "x\n", "x\n", ""},
		"a nearer file":   {map[string]string{".editorconfig": "[*]\nend_of_line = crlf\n", "sub/.gitattributes": "*.txt eol=lf\n"}, "sub/f.txt", "x\n", "x\n", ""},
		"not for it":      {map[string]string{".gitattributes": "docs/*.bat eol=crlf\n"}, "f.bat", "x\n", "x\n", ""},
		"an empty file":   {map[string]string{"f.bat": "", ".gitattributes": "*.bat eol=crlf"}, "f.bat", "x\n", "x\r\n", "CRLF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range []string{"Write", "ApplyPatch"} {
				b := newPatchBench(t, tt.files)
				if _, ok := tt.files[tt.path]; ok {
					b.succeed("Read", args{"file_path": tt.path})
				}
				in := args{"file_path": tt.path, "content": tt.content}
				if tool == "ApplyPatch" {
					if strings.Contains(tt.content, "\r") {
						continue
					}
					in = patch("*** Add File: "+tt.path, "+"+strings.ReplaceAll(strings.TrimSuffix(tt.content, "\n"), "\n", "\n+"))
				}
				got := b.succeed(tool, in).Output
				if tool == "Write" && (tt.said == "" && strings.Contains(got, "It has") || !strings.Contains(got, tt.said)) {
					t.Errorf("it says %q", got)
				}
				if got := b.content(tt.path); got != tt.want {
					t.Errorf("%s: %q, want %q", tool, got, tt.want)
				}
			}
		})
	}
}

// A10, A24: a file is found by a name that looks the same, and by any path of the project.
func TestNamesThatLookTheSame(t *testing.T) {
	t.Parallel()
	for real, given := range map[string]string{
		"Screenshot 3.00\u202FPM.txt": "Screenshot 3.00 PM.txt",
		"cafe\u0301/x.txt":            "café/x.txt",
		"übung.txt":                   "u\u0308bung.txt",
		"it’s.txt":                    "it's.txt",
		"a–b/c\u00A0d.txt":            "a-b/c d.txt",
		"“q”…txt":                     `"q"...txt`,
	} {
		b := newPatchBench(t, map[string]string{real: "one\n"})
		b.succeed("Read", args{"file_path": given})
		b.succeed("Edit", args{"file_path": given, "old_string": "one", "new_string": "two"})
		if got := b.content(real); got != "two\n" {
			t.Errorf("%s: %q", given, got)
		}
		b.succeed("ApplyPatch", patch("*** Update File: "+given, "-two", "+three"))
		for tool, in := range map[string]args{
			"Glob": {"pattern": strings.ReplaceAll(given, ".txt", ".*")}, "Grep": {"pattern": "three", "glob": given}, "ReadMany": {"paths": []string{given}},
		} {
			if got := b.succeed(tool, in).Output; !strings.Contains(got, real) {
				t.Errorf("%s %v: %q", tool, in, got)
			}
		}
		if got := b.succeed("Grep", args{"pattern": "three", "path": given, "output_mode": "content"}).Output; !strings.Contains(got, "three") {
			t.Errorf("Grep in %s: %q", given, got)
		}
		if paths := b.tools["Read"].(agent.Accessor).Access(t.Context(), args{"file_path": given}.json(t)).Reads; len(paths) != 1 || paths[0] != b.path(real) {
			t.Errorf("the gate is told %q", paths)
		}
	}
	b := newBench(t, map[string]string{"a–b": "x", "a—b": "x"})
	b.refuse("Read", args{"file_path": "a-b"}, "does not exist") // two are alike
	b.succeed("Write", args{"file_path": "a-b", "content": "new"})
	if got := b.content("a–b"); got != "x" {
		t.Errorf("another file has %q", got)
	}
}

// A24: a project that is opened through a link has two names.
func TestTwoNamesOfAProject(t *testing.T) {
	t.Parallel()
	real := newBench(t, map[string]string{"a.txt": "one\n", "sub/b.txt": "one\n"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real.dir, link); err != nil {
		t.Fatal(err)
	}
	b := openBench(t, link)
	for _, file := range []string{"a.txt", "sub/b.txt"} {
		b.succeed("Read", args{"file_path": filepath.Join(link, file)})
		b.succeed("Edit", args{"file_path": filepath.Join(real.dir, file), "old_string": "one", "new_string": "two"})
		b.succeed("Edit", args{"file_path": file, "old_string": "two", "new_string": "three"})
	}
}

// A23: what an edit that fails says, and what it puts right itself.
func TestEditsThatMiss(t *testing.T) {
	t.Parallel()
	text := "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"
	for name, tt := range map[string]struct {
		old, new, want string
		fails          bool
	}{
		"numbers":            {"1 | func a() {\n2 | \treturn 1", "1 | func a() {\n2 | \treturn 3", "func a() {\n\treturn 3\n", false},
		"numbers, tabs":      {"     5\tfunc b() {\n     6\t\treturn 2", "func b() {\n\treturn 4", "func b() {\n\treturn 4\n", false},
		"numbers, arrows":    {"1→func a() {", "1→func c() {", "func c() {", false},
		"numbers and blanks": {"3 | }\n\n5 | func b() {", "}\n\nfunc d() {", "}\n\nfunc d() {", false},
		"numbers of others":  {"9 | func z() {", "x", "was not found", true},
		"nearest":            {"func b() {\n\treturn 3\n}", "x", "line 6 of the file:\n  expected: \treturn 3\n  found:    \treturn 2", true},
		"indentation":        {"func a() {\n    return 1\n}", "x", "found:    \treturn 1", true},
		"nothing like it":    {"import x", "y", "No place in the file resembles it", true},
		"two":                {"}\n", "x", "occurs 2 times, at lines 3 and 7.", true},
	} {
		b := newBench(t, map[string]string{"f": text})
		b.succeed("Read", args{"file_path": "f"})
		in := args{"file_path": "f", "old_string": tt.old, "new_string": tt.new}
		if tt.fails {
			b.refuse("Edit", in, tt.want)
			continue
		}
		if got := b.succeed("Edit", in).Output; !strings.Contains(got, "line numbers") || !strings.Contains(b.content("f"), tt.want) {
			t.Errorf("%s: %q, %q", name, got, b.content("f"))
		}
	}
}

// A20: lines that read as they did may be changed although others have changed.
func TestEditOfLinesAsSeen(t *testing.T) {
	t.Parallel()
	before := "one\ntwo\nthree\nfour\nfive\n"
	for name, tt := range map[string]struct {
		now, old, want string
		fails          bool
	}{
		"lines before":  {"zero\n" + before, "three", "You have not seen these lines:\n1 | zero", false},
		"lines behind":  {before + "six\nseven\n", "three", "6 | six\n7 | seven", false},
		"lines gone":    {"three\n", "three", "some are gone", false},
		"formatted":     {"one\n\ttwo\nthree\n\tfour\nfive\n", "three", "2 | \ttwo\n4 | \tfour", false},
		"that line":     {"one\ntwo\nthree!\nfour\nfive\n", "three", "at line 3, where this changes it. Read it there again, then change it. You have not seen these lines:\n3 | three!", true},
		"a line beside": {"one\ntwo!\nthree\nfour\nfive\n", "two!\nthree", "2 | two!", true},
		"not there":     {"one\ntwo\n3\n", "three", "has changed on disk since it was last read. You have not seen these lines:\n3 | 3", true},
	} {
		b := newBench(t, map[string]string{"f": before})
		b.succeed("Read", args{"file_path": "f"})
		b.put("f", tt.now)
		in := args{"file_path": "f", "old_string": tt.old, "new_string": "x"}
		if tt.fails {
			b.refuse("Edit", in, tt.want)
			if got := b.content("f"); got != tt.now {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if got := b.succeed("Edit", in).Output; !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
		if name != "lines gone" { // else it would lose what it has not seen
			b.refuse("Write", args{"file_path": "f", "content": "all"}, "read")
		}
	}
}

// F2: an edit of every occurrence is bounded, and stops.
func TestReplaceAllIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"many": strings.Repeat("a", 3<<20), "grows": strings.Repeat("ab\n", 200_000)})
	for _, tt := range []struct{ file, old, new, want string }{
		{"many", "a", "bbbbbbbb", "more than 1000000 times"},
		{"grows", "a", strings.Repeat("x", 1000), "would grow beyond 64 MB"},
		{"grows", "ab\n", strings.Repeat("y\n", 300), "would grow beyond 64 MB"},
	} {
		b.succeed("Read", args{"file_path": tt.file, "limit": 1})
		before := b.content(tt.file)
		b.refuse("Edit", args{"file_path": tt.file, "old_string": tt.old, "new_string": tt.new, "replace_all": true}, tt.want)
		if b.content(tt.file) != before {
			t.Errorf("%s was changed", tt.file)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	for tool, in := range map[string]args{
		"Edit": {"file_path": "grows", "old_string": "a", "new_string": "c", "replace_all": true}, "Write": {"file_path": "new", "content": "x"},
	} {
		if r := b.runContext(ctx, tool, in, func(string) {}); !r.IsError {
			t.Errorf("%s after Stop: %q", tool, r.Output)
		}
	}
	if _, err := os.Stat(b.path("new")); err == nil || strings.Contains(b.content("grows"), "c") {
		t.Error("something was written after Stop")
	}
}

// A10: a text is found although its accents, dots or signs are written otherwise.
func TestEditFoldsAccents(t *testing.T) {
	t.Parallel()
	for text, old := range map[string]string{
		"Cafe\u0301 au lait\n": "Café au lait", "Übung\n": "U\u0308bung", "wait…\n": "wait...", "wait...\n": "wait…",
		"“Größe” – naïve\n": "\"Gro\u0308ße\" - nai\u0308ve", "e\u0301e\u0301\n": "éé",
	} {
		b := newPatchBench(t, map[string]string{"f": text, "g": text})
		b.succeed("Read", args{"file_path": "f"})
		b.succeed("Edit", args{"file_path": "f", "old_string": old, "new_string": "x"})
		b.succeed("ApplyPatch", patch("*** Update File: g", "-"+old, "+x"))
		if b.content("f") != "x\n" || b.content("g") != "x\n" {
			t.Errorf("%q: %q, %q", text, b.content("f"), b.content("g"))
		}
	}
	b := newBench(t, map[string]string{"f": "wait…\n"})
	b.succeed("Read", args{"file_path": "f"})
	b.refuse("Edit", args{"file_path": "f", "old_string": "wait..", "new_string": "x"}, "was not found") // a part of a character
}

// Interface 4, B-F15: what must fail is known before anybody is asked.
func TestPreviewsKnowWhatMustFail(t *testing.T) {
	t.Parallel()
	b := newPatchBench(t, map[string]string{"f": "one\n", "read": "one\n", "twin": "one\n", "locked": "one\n"})
	if err := errors.Join(os.Link(b.path("twin"), b.path("twin2")), os.Symlink("f", b.path("link")), os.Chmod(b.path("locked"), 0o444)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"read", "twin", "locked", "link"} {
		b.succeed("Read", args{"file_path": name})
	}
	edit := func(path, old string) args { return args{"file_path": path, "old_string": old, "new_string": "x"} }
	write := func(path string) args { return args{"file_path": path, "content": "x"} }
	for _, tt := range []struct {
		tool string
		in   args
		want string
	}{
		{"Edit", edit("f", "one"), "has not been read"},
		{"Edit", edit("read", "two"), "was not found"},
		{"Edit", edit("none", "one"), "does not exist"},
		{"Edit", edit("twin", "one"), "has 2 names (hard links)"},
		{"Edit", edit("locked", "one"), "is read-only"},
		{"Edit", edit("link", "one"), "is a symbolic link to f"},
		{"Write", write("f"), "has not been read"},
		{"Write", write("twin"), "has 2 names"},
		{"Write", write("link"), "is a symbolic link to f"},
		{"ApplyPatch", patch("*** Update File: read", "-two", "+x"), "were not found"},
		{"ApplyPatch", patch("*** Update File: none", "-two", "+x"), "does not exist"},
		{"ApplyPatch", patch("*** Update File: twin", "-one", "+x"), "has 2 names"},
		{"ApplyPatch", patch("*** Update File: locked", "-one", "+x"), "is read-only"},
		{"ApplyPatch", patch("*** Update File: link", "-one", "+x"), "is a symbolic link to f"},
	} {
		changes, err := b.tools[tt.tool].(agent.Previewer).Preview(t.Context(), tt.in.json(t))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %v: %+v, %v; want %q", tt.tool, tt.in, changes, err, tt.want)
		}
		b.refuse(tt.tool, tt.in, tt.want)
	}
}
