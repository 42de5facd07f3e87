package env

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bothSearches runs a test with ripgrep and with our own search.
func bothSearches(t *testing.T, files map[string]string, test func(t *testing.T, l *Local)) {
	t.Helper()
	for _, name := range []string{"ripgrep", "own"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLocal(t, files)
			if name == "own" {
				l.ripgrep = ""
			} else if l.ripgrep == "" {
				t.Skip("ripgrep is not installed")
			}
			test(t, l)
		})
	}
}

func TestGrep(t *testing.T) { // LOOP-27, OAS-305
	t.Parallel()
	files := map[string]string{
		"a.go": "package a\n\nfunc Hello() {}\n// hello again\n", "b.txt": "hello\n\n\n\nhello\n",
		"sub/c.go": "func hello() {}\n", "bin": "hello\x00", ".git/config": "hello", "latin1": "caf\xe9 hello\n", "crlf": "dos\r\nwindows\r\n",
		"odd": "x:3:y\nmark\n", "odd-1-": "mark\n", "odd:2:z": "mark\n",
	}
	tests := []struct {
		name  string
		query GrepQuery
		want  Hits
	}{
		{"files", GrepQuery{Pattern: "hello"}, Hits{Lines: []string{"a.go", "b.txt", "latin1", "sub/c.go"}}},
		{"type", GrepQuery{Pattern: "hello", Type: "go"}, Hits{Lines: []string{"a.go", "sub/c.go"}}},
		{"glob by name", GrepQuery{Pattern: "hello", Glob: "*.go"}, Hits{Lines: []string{"a.go", "sub/c.go"}}},
		{"glob by path", GrepQuery{Pattern: "hello", Glob: "sub/**"}, Hits{Lines: []string{"sub/c.go"}}},
		{"glob turned round", GrepQuery{Pattern: "hello", Glob: "!*.go"}, Hits{Lines: []string{"b.txt", "latin1"}}},
		{"count", GrepQuery{Pattern: "hello", Mode: GrepCount}, Hits{Lines: []string{"a.go:1", "b.txt:2", "latin1:1", "sub/c.go:1"}}},
		{"content", GrepQuery{Pattern: "hel+o", Mode: GrepContent, Glob: "*.go"}, Hits{Lines: []string{"a.go:4:// hello again", "sub/c.go:1:func hello() {}"}, PathEnds: []int{4, 8}}},
		{"ignoring case", GrepQuery{Pattern: "HELLO", Mode: GrepContent, Path: "a.go", IgnoreCase: true}, Hits{Lines: []string{"a.go:3:func Hello() {}", "a.go:4:// hello again"}, PathEnds: []int{4, 4}}},
		{"plain text", GrepQuery{Pattern: "o() {", Mode: GrepContent, Fixed: true}, Hits{Lines: []string{"a.go:3:func Hello() {}", "sub/c.go:1:func hello() {}"}, PathEnds: []int{4, 8}}},
		{"plain text, ignoring case", GrepQuery{Pattern: "HELLO(", Fixed: true, IgnoreCase: true}, Hits{Lines: []string{"a.go", "sub/c.go"}}},
		{"across lines", GrepQuery{Pattern: "package.*Hello", Mode: GrepContent, Multiline: true, After: 1}, Hits{Lines: []string{"a.go:1:package a", "a.go:2:", "a.go:3:func Hello() {}", "a.go-4-// hello again"}, PathEnds: []int{4, 4, 4, 4}}},
		{"line by line", GrepQuery{Pattern: "package.*Hello"}, Hits{}},
		{"files across lines", GrepQuery{Pattern: `o\n+h`, Multiline: true}, Hits{Lines: []string{"b.txt"}}},
		{"count across lines", GrepQuery{Pattern: "^h.*?o$", Mode: GrepCount, Multiline: true}, Hits{Lines: []string{"b.txt:2"}}},
		{"CRLF", GrepQuery{Pattern: "windows$", Mode: GrepContent}, Hits{Lines: []string{"crlf:2:windows"}, PathEnds: []int{4}}},
		{"CRLF across lines", GrepQuery{Pattern: "dos$.^windows", Mode: GrepContent, Multiline: true}, Hits{Lines: []string{"crlf:1:dos", "crlf:2:windows"}, PathEnds: []int{4, 4}}},
		{"context", GrepQuery{Pattern: "hello", Mode: GrepContent, Path: "b.txt", Before: 1, After: 1}, Hits{Lines: []string{"b.txt:1:hello", "b.txt-2-", "--", "b.txt-4-", "b.txt:5:hello"}, PathEnds: []int{5, 5, 0, 5, 5}}},
		{"context of less than nothing", GrepQuery{Pattern: "hello", Mode: GrepContent, Path: "sub", Before: -1, After: -1}, Hits{Lines: []string{"sub/c.go:1:func hello() {}"}, PathEnds: []int{8}}},
		{"context without end", GrepQuery{Pattern: "hello", Mode: GrepContent, Path: "sub", Before: math.MaxInt, After: math.MaxInt}, Hits{Lines: []string{"sub/c.go:1:func hello() {}"}, PathEnds: []int{8}}},
		{"odd names", GrepQuery{Pattern: "mark", Mode: GrepContent, Before: 1},
			Hits{Lines: []string{"odd-1-x:3:y", "odd:2:mark", "--", "odd-1-:1:mark", "--", "odd:2:z:1:mark"}, PathEnds: []int{3, 3, 0, 6, 0, 7}}},
		{"limit", GrepQuery{Pattern: "hello", Limit: 2}, Hits{Lines: []string{"a.go", "b.txt"}, More: true}},
		{"exactly the limit", GrepQuery{Pattern: "hello", Type: "go", Limit: 2}, Hits{Lines: []string{"a.go", "sub/c.go"}}},
		{"directory", GrepQuery{Pattern: "hello", Path: "sub"}, Hits{Lines: []string{"sub/c.go"}}},
		{"nothing", GrepQuery{Pattern: "absent"}, Hits{}},
		{"invalid bytes", GrepQuery{Pattern: "hello", Mode: GrepContent, Path: "latin1"}, Hits{Lines: []string{"latin1:1:café hello"}, PathEnds: []int{6}}},
		{"dash", GrepQuery{Pattern: "-r"}, Hits{}},
	}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		for _, tt := range tests {
			got, err := l.Grep(t.Context(), tt.query)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
			}
		}
	})
}

func TestGrepProblems(t *testing.T) { // LOOP-27
	t.Parallel()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "x"), "hello")
	bothSearches(t, map[string]string{"a.go": "x"}, func(t *testing.T, l *Local) {
		symlink(t, outside, filepath.Join(l.dir, "escape"))
		for _, tt := range []struct {
			query GrepQuery
			want  string
		}{
			{GrepQuery{Pattern: "("}, "regex"},
			{GrepQuery{Pattern: "x", Path: "none"}, "does not exist"},
			{GrepQuery{Pattern: "x", Glob: "["}, "glob"},
			{GrepQuery{Pattern: "x", Path: "escape"}, "leads out of the project"},
			{GrepQuery{Pattern: "x", Type: "klingon"}, "klingon"},
		} {
			if hits, err := l.Grep(t.Context(), tt.query); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "regular expression", "regex"), tt.want) {
				t.Errorf("%+v: %+v, %v; want %q", tt.query, hits, err, tt.want)
			}
		}
		got, err := l.Grep(t.Context(), GrepQuery{Pattern: "hello", Path: outside})
		if want := (Hits{Lines: []string{filepath.Join(outside, "x")}}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("outside: %+v, %v", got, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Grep(ended, GrepQuery{Pattern: "x"}); !errors.Is(err, context.Canceled) {
			t.Errorf("ended context: %v", err)
		}
		if _, err := l.Glob(ended, GlobQuery{Pattern: "*"}); !errors.Is(err, context.Canceled) {
			t.Errorf("ended context: %v", err)
		}
	})
}

func TestGrepOfEndlessOutputStops(t *testing.T) {
	t.Parallel()
	files := map[string]string{"big": strings.Repeat("match\n", 1_000_000)}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		got, err := l.Grep(t.Context(), GrepQuery{Pattern: "match", Mode: GrepContent})
		if err != nil || len(got.Lines) != MaxHits || !got.More || got.TimedOut {
			t.Errorf("%d lines, more %t, %v", len(got.Lines), got.More, err)
		}
	})
}

func TestGrepReportsTheMatchInLongLines(t *testing.T) { // LOOP-27
	t.Parallel()
	ü := func(n int) string { return strings.Repeat("ü", n) }
	files := map[string]string{"f": ü(600) + "hit\n" + strings.Repeat("y", 499) + "\nhit" + ü(600) + "\n" + ü(90_000) + "hit" + ü(90_000) + "\n"}
	start, end := "[... omitted start of long line] ", " [... omitted end of long line]"
	want := []string{
		"f:1:" + start + ü(125) + "hit", "f:2:" + strings.Repeat("y", 499), "f:3:hit" + ü(497) + end,
		"f:4:" + start + ü(125) + "hit" + ü(372) + end,
	}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		got, err := l.Grep(t.Context(), GrepQuery{Pattern: "hit|y", Mode: GrepContent})
		if diff := cmp.Diff(want, got.Lines); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// Reading ends with its context even within one file and within one line.
func TestReadingEndsWithinALine(t *testing.T) { // LOOP-23, LOOP-27
	t.Parallel()
	l := newLocal(t, map[string]string{"endless": strings.Repeat("x", sniffed)})
	l.ripgrep = ""
	if err := os.Truncate(filepath.Join(l.dir, "endless"), 1<<40); err != nil {
		t.Skip("no sparse files: ", err)
	}
	for name, read := range map[string]func(context.Context) error{
		"Grep": func(ctx context.Context) error {
			hits, err := l.Grep(ctx, GrepQuery{Pattern: "x", Mode: GrepCount})
			if len(hits.Lines) > 0 {
				t.Errorf("a file that was not read to its end is counted: %q", hits.Lines)
			}
			return err
		},
		"ReadLines": func(ctx context.Context) error {
			_, err := l.ReadLines(ctx, "endless", 2, 1)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}

func TestGlob(t *testing.T) { // LOOP-28, OAS-304
	t.Parallel()
	files := map[string]string{"a.go": "", "b.txt": "", "sub/c.go": "", "sub/deep/d.go": "", ".git/e.go": ""}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		for i, name := range []string{"sub/c.go", "a.go", "sub/deep/d.go", "b.txt"} { // newest first
			at := time.Now().Add(-time.Duration(i) * time.Hour)
			if err := os.Chtimes(filepath.Join(l.dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		outside := t.TempDir()
		write(t, filepath.Join(outside, "x.go"), "")
		tests := []struct {
			query GlobQuery
			want  Hits
		}{
			{GlobQuery{Pattern: "**/*.go"}, Hits{Lines: []string{"sub/c.go", "a.go", "sub/deep/d.go"}}},
			{GlobQuery{Pattern: "*.go"}, Hits{Lines: []string{"a.go"}}},
			{GlobQuery{Pattern: "**/*.{go,txt}", Limit: 2}, Hits{Lines: []string{"sub/c.go", "a.go"}, More: true}},
			{GlobQuery{Pattern: "sub/*.go"}, Hits{Lines: []string{"sub/c.go"}}},
			{GlobQuery{Pattern: "*.go", Path: "sub"}, Hits{Lines: []string{"sub/c.go"}}},
			{GlobQuery{Pattern: filepath.Join(l.dir, "sub/**/d.go")}, Hits{Lines: []string{"sub/deep/d.go"}}},
			{GlobQuery{Pattern: "a.go"}, Hits{Lines: []string{"a.go"}}},
			{GlobQuery{Pattern: outside + "/*"}, Hits{Lines: []string{outside + "/x.go"}}},
			{GlobQuery{Pattern: "*.none"}, Hits{}},
		}
		for _, tt := range tests {
			got, err := l.Glob(t.Context(), tt.query)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%+v: %v (-want +got):\n%s", tt.query, err, diff)
			}
		}
		for pattern, want := range map[string]string{"[": "not a valid pattern", "none/*": "does not exist"} {
			if got, err := l.Glob(t.Context(), GlobQuery{Pattern: pattern}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v, %v; want %q", pattern, got, err, want)
			}
		}
	})
}

func TestGlobSkipsIgnoredFiles(t *testing.T) { // OAS-304
	t.Parallel()
	files := map[string]string{"a.js": "x", "node_modules/p/b.js": "x", ".gitignore": "node_modules\n", ".git/HEAD": "x"}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		want := Hits{Lines: []string{"a.js"}}
		got, err := l.Glob(t.Context(), GlobQuery{Pattern: "**/*.js"})
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("Glob = %+v, %v", got, err)
		}
		got, err = l.Grep(t.Context(), GrepQuery{Pattern: "x"})
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("Grep = %+v, %v", got, err)
		}
		// A file that is named outright is searched.
		got, err = l.Glob(t.Context(), GlobQuery{Pattern: "node_modules/**/*.js"})
		if err != nil || !cmp.Equal(Hits{Lines: []string{"node_modules/p/b.js"}}, got) {
			t.Errorf("Glob = %+v, %v", got, err)
		}
	})
}

// A search prints no secrets, names the files that it left out, and searches
// such a file only if it is named.
func TestGrepWithholdsSecrets(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.txt": "canary\n", "deploy/server.pem": "canary\n", "id_rsa": "canary\n"}
	bothSearches(t, files, func(t *testing.T, l *Local) {
		if l.ripgrep != "" { // our own ignores everything that is hidden
			for _, name := range []string{".env", ".ssh/id_ed25519"} {
				path := filepath.Join(l.dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte("canary\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, q := range []GrepQuery{{}, {Mode: GrepContent}, {Mode: GrepCount}, {Glob: "*"}, {Glob: "!*.go"}} {
			q.Pattern = "canary"
			hits, err := l.Grep(t.Context(), q)
			if err != nil || len(hits.Lines) != 1 || !strings.HasPrefix(hits.Lines[0], "a.txt") {
				t.Errorf("%+v: %q, %v", q, hits.Lines, err)
			}
			if got := strings.Join(hits.Withheld, " "); !strings.Contains(got, filepath.Join("deploy", "server.pem")) || !strings.Contains(got, "id_rsa") ||
				strings.Contains(got, ".env") != (l.ripgrep != "") {
				t.Errorf("%+v: passed over %s", q, got)
			}
		}
		if hits, err := l.Grep(t.Context(), GrepQuery{Pattern: "canary", Path: "id_rsa"}); err != nil || len(hits.Lines) != 1 || len(hits.Withheld) > 0 {
			t.Errorf("by its name: %+v, %v", hits, err)
		}
	})
}
