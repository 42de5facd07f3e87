package env

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// A17: an odd path is refused with the file that is meant.
func TestAPathThatDoesNotExistNamesAnother(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := newLocal(t, map[string]string{"src/a.txt": "x", "src/my file.txt": "x", "docs/Über.md": "x", "lib/util/strings.go": "x", "README.md": "x"})
	write(t, filepath.Join(home, "notes.txt"), "x")
	for path, want := range map[string]string{
		"@src/a.txt": "src/a.txt", "`src/a.txt`": "src/a.txt", `"src/a.txt"`: "src/a.txt", "'src/a.txt'": "src/a.txt", " src/a.txt ": "src/a.txt",
		"src/a.txt\n": "src/a.txt", "file://src/a.txt": "src/a.txt", "file://" + l.dir + "/src/a.txt": "src/a.txt", "src/a.txt:1": "src/a.txt",
		":src/a.txt": "src/a.txt", `src\a.txt`: "src/a.txt", "/src/a.txt": "src/a.txt", "~/src/a.txt": "src/a.txt",
		"src/a.txt:12:3": "src/a.txt", "src/a.txt#L3-L9": "src/a.txt", "src/a.txt(17,3)": "src/a.txt", "<src/a.txt>": "src/a.txt", "**src/a.txt**": "src/a.txt",
		"[a](src/a.txt)": "src/a.txt", "src/a.txt,": "src/a.txt", "b/src/a.txt": "src/a.txt", `src/my\ file.txt`: "src/my file.txt", "src/my%20file.txt": "src/my file.txt",
		"@`src/a.txt:3`.": "src/a.txt", "${workspaceFolder}/src/a.txt": "src/a.txt", `C:\src\a.txt`: "src/a.txt", filepath.Base(l.dir) + "/src/a.txt": "src/a.txt",
		"src/a.tx": "src/a.txt", "SRC/A.txt": "src/a.txt", "srv/a.txt": "src/a.txt", "strings.go": "lib/util/strings.go", "other/strings.go": "lib/util/strings.go",
		"readme.md": "README.md", "docs/uber.md": "docs/Über.md",
		"../a.txt": "src/a.txt", "src/nothing-like-it.zip": "", "/etc/hosst": "", "none": "",
	} {
		_, err := l.ReadFile(t.Context(), path)
		switch {
		case err == nil:
			t.Errorf("%q exists", path)
		case want == "" && strings.Contains(err.Error(), " does not exist;"):
			t.Errorf("%q: %v", path, err)
		case want != "" && !strings.Contains(err.Error(), "; "+want+" does"):
			t.Errorf("%q: %v; want %s", path, err, want)
		}
	}
}

// A11: what is literally there counts before what brackets mean as a pattern.
func TestPatternsOfFrameworks(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"app/[id]/page.tsx": "hit", "app/[...slug]/page.tsx": "hit", "app/(dash)/page.tsx": "hit", "app/@modal/page.tsx": "hit",
		"app/[[...all]]/x.ts": "hit", "app/i/page.tsx": "hit", "x[1].txt": "hit", "x1.txt": "hit", "lib/[a]/deep/[b]/f.ts": "hit",
		"api/{slug}/v.ts": "hit", "a{b}.txt": "hit", "ab.txt": "hit", "api/{a,b}/w.ts": "hit", "api/a/w.ts": "hit",
	}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		for pattern, want := range map[string][]string{
			"app/[id]/page.tsx":        {"app/[id]/page.tsx"},
			"app/[id]/**":              {"app/[id]/page.tsx"},
			"app/[...slug]/**":         {"app/[...slug]/page.tsx"},
			"app/(dash)/*.tsx":         {"app/(dash)/page.tsx"},
			"app/@modal/*":             {"app/@modal/page.tsx"},
			"app/[[...all]]/*.ts":      {"app/[[...all]]/x.ts"},
			"**/[id]/page.tsx":         {"app/[id]/page.tsx", "app/i/page.tsx"},
			"**/[b]/f.ts":              {"lib/[a]/deep/[b]/f.ts"},
			"x[1].txt":                 {"x[1].txt"},
			"x[0-9].txt":               {"x1.txt"},
			"lib/[a]/**/[b]/*":         {"lib/[a]/deep/[b]/f.ts"},
			"app/[ij]/page.{tsx,none}": {"app/i/page.tsx"},
			"api/{slug}/*":             {"api/{slug}/v.ts"},
			"a{b}.txt":                 {"a{b}.txt"},
			"api/{a,b}/w.ts":           {"api/{a,b}/w.ts"},
			"api/{slug}/{v,w}.ts":      {"api/{slug}/v.ts"},
			"{a,b}b.txt":               {"ab.txt"},
		} {
			got, err := l.Glob(t.Context(), GlobQuery{Pattern: pattern})
			if diff := cmp.Diff(want, sorted(got.Lines)); err != nil || diff != "" {
				t.Errorf("Glob %s: %v (-want +got):\n%s", pattern, err, diff)
			}
			hits, err := l.Grep(t.Context(), GrepQuery{Pattern: "hit", Glob: pattern})
			if diff := cmp.Diff(want, sorted(hits.Lines)); err != nil || diff != "" {
				t.Errorf("Grep %s: %v (-want +got):\n%s", pattern, err, diff)
			}
		}
	})
}

// A14, K-52: a search says which links it did not follow, and a refusal names the target.
func TestLinksAreNamed(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "hit")
	bothSearches(t, map[string]string{"a.txt": "x", "real/b.txt": "hit", "AGENTS.md": "x", ".gitignore": "hidden\n", ".git/HEAD": "x"}, func(t *testing.T, l *Local) {
		for link, target := range map[string]string{"ext": outside, "file.txt": filepath.Join(outside, "secret.txt"), "in": "real", "CLAUDE.md": "AGENTS.md", "hidden": outside, "gone": "nowhere"} {
			if err := os.Symlink(target, filepath.Join(l.dir, link)); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"ext -> " + outside, "file.txt -> " + outside + "/secret.txt"}
		for name, search := range map[string]func() (Hits, error){
			"Grep": func() (Hits, error) { return l.Grep(t.Context(), GrepQuery{Pattern: "absent"}) },
			"Glob": func() (Hits, error) { return l.Glob(t.Context(), GlobQuery{Pattern: "**/secret.txt"}) },
		} {
			got, err := search()
			if diff := cmp.Diff(want, got.Links); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
		}
		for path, want := range map[string]string{
			"CLAUDE.md": "is a symbolic link to AGENTS.md; use that path", "file.txt": "is a symbolic link to " + outside + "/secret.txt", "gone": "is a symbolic link to nowhere",
			"ext/secret.txt": "leads out of the project through a symbolic link, to " + outside + "/secret.txt", "ext/new.txt": "leads out of the project",
		} {
			if err := l.WriteFile(t.Context(), path, []byte("y")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q", path, err, want)
			}
		}
		if _, err := l.ReadFile(t.Context(), "ext/secret.txt"); err == nil || !strings.Contains(err.Error(), "to "+outside+"/secret.txt") {
			t.Error(err)
		}
	})
}

// K-48: a search finds texts in the encodings in which they are.
func TestGrepDecodes(t *testing.T) {
	t.Parallel()
	gbk, err := simplifiedchinese.GBK.NewEncoder().String("int x = 1; // 变量\nint y; // 返回数组的长度\n")
	sjis, err2 := japanese.ShiftJIS.NewEncoder().String("// 表示するファイル\n")
	utf16, err3 := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String("\uFEFFname = 变量\r\n")
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"a/gbk.c": gbk, "b.txt": "变量 in UTF-8\n", "c/sjis.c": sjis, "d.rc": utf16, "e.txt": "caf\xe9\n", "f.txt": "int plain;\n"}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		for _, tt := range []struct {
			query GrepQuery
			want  []string
		}{
			{GrepQuery{Pattern: "变量", Mode: GrepContent}, []string{"a/gbk.c:1:int x = 1; // 变量", "b.txt:1:变量 in UTF-8", "d.rc:1:name = 变量"}},
			{GrepQuery{Pattern: "int .*数组", Mode: GrepContent}, []string{"a/gbk.c:2:int y; // 返回数组的长度"}},
			{GrepQuery{Pattern: "int x", Mode: GrepContent}, []string{"a/gbk.c:1:int x = 1; // 变量"}},
			{GrepQuery{Pattern: "int", Mode: GrepContent, Path: "a", After: 1}, []string{"a/gbk.c:1:int x = 1; // 变量", "a/gbk.c:2:int y; // 返回数组的长度"}},
			{GrepQuery{Pattern: "ファイル"}, []string{"c/sjis.c"}},
			{GrepQuery{Pattern: "café", Mode: GrepContent}, []string{"e.txt:1:café"}},
			{GrepQuery{Pattern: "变量", Mode: GrepCount}, []string{"a/gbk.c:1", "b.txt:1", "d.rc:1"}},
			{GrepQuery{Pattern: "变量", Glob: "*.c"}, []string{"a/gbk.c"}},
			{GrepQuery{Pattern: "^int \\w+;$", Mode: GrepContent}, []string{"f.txt:1:int plain;"}},
			{GrepQuery{Pattern: "变|int", Limit: 2}, []string{"a/gbk.c", "b.txt"}},
		} {
			got, err := l.Grep(t.Context(), tt.query)
			if diff := cmp.Diff(tt.want, got.Lines); err != nil || diff != "" {
				t.Errorf("%+v: %v (-want +got):\n%s", tt.query, err, diff)
			}
		}
	})
}

// A25: what blocks in the system is left alone when its context ends.
func TestAReadThatBlocksObeysStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		answers := make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			_, err := await(ctx, func() (int, error) { <-answers; return 1, nil })
			ended <- err
		}()
		synctest.Wait()
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		close(answers) // and its goroutine ends
	})
}

// A13: a file that cannot be renamed over is written in place, and is whole again if that fails.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "x", "longer than it was before\n", strings.Repeat("y", 1<<20)} {
		l := newLocal(t, map[string]string{"f": "as it was\n"})
		p, err := l.locate("f")
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		old, err := p.root.Lstat(p.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.overwrite(t.Context(), old, []byte(data)); err != nil || content(t, filepath.Join(l.dir, "f")) != data {
			t.Errorf("%d bytes: %v", len(data), err)
		}
		if now, err := p.root.Lstat(p.name); err != nil || !os.SameFile(old, now) {
			t.Errorf("it is another file now: %v", err)
		}
		write(t, filepath.Join(l.dir, "other"), "x")
		if err := p.root.Rename("other", "f"); err != nil {
			t.Fatal(err)
		}
		if err := p.overwrite(t.Context(), old, []byte("z")); err == nil || content(t, filepath.Join(l.dir, "f")) != "x" {
			t.Errorf("a file of somebody else is overwritten: %v", err)
		}
	}
}

func sorted(lines []string) []string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	return lines
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A15: an error repeats the beginning of a path that no system takes, and nothing is made.
func TestAPathInAnErrorIsShort(t *testing.T) {
	t.Parallel()
	l := newLocal(t, nil)
	for _, path := range []string{strings.Repeat("x", 50_000), strings.Repeat("d/", 30_000) + "f", strings.Repeat("ü", 9_000), strings.Repeat("../", 4_000) + "x", "/" + strings.Repeat("z", 40_000)} {
		_, read := l.ReadLines(t.Context(), path, 1, 10)
		_, listed := l.ListDirectory(t.Context(), path, 1)
		for _, err := range []error{read, listed, l.WriteFile(t.Context(), path, []byte("x"))} {
			if err == nil || len(err.Error()) > 1000 {
				t.Errorf("%.20q: %.300v", path, err)
			}
		}
	}
	if left, err := os.ReadDir(l.WorkingDirectory()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
