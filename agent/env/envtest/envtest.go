// Package envtest has the tests that every [env.Environment] must pass. An
// implementation calls [Run] in its tests (LOOP-125).
package envtest

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"atelier.dev/atelier/agent/env"
)

// Open returns a new environment on an empty working directory of its own. It
// is not initialized yet.
type Open func(t *testing.T) env.Environment

// patience limits operations that should take almost no time.
const patience = 20 * time.Second

// Run checks the contracts of [env.Environment]. It needs a shell with echo,
// cat, pwd, sleep, exit, variables and redirection to standard error.
func Run(t *testing.T, open Open) {
	for name, check := range map[string]func(*testing.T, env.Environment){
		"host": host, "files": files, "lines": lines, "missing files": missing, "listing": listing,
		"grep": grep, "glob": glob, "commands": commands, "ended commands": ended,
		"typing": typing, "interrupting": interrupting, "stopping": stopping, "cleaning up": cleaningUp,
		"terminal": terminal, "keys of a terminal": keys,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			if err := e.Initialize(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := e.Cleanup(context.WithoutCancel(t.Context())); err != nil {
					t.Errorf("Cleanup: %v", err)
				}
			})
			check(t, e)
		})
	}
}

func host(t *testing.T, e env.Environment) {
	if !filepath.IsAbs(e.WorkingDirectory()) || e.Platform() == "" || e.OSVersion() == "" {
		t.Errorf("facts: %q, %q, %q", e.WorkingDirectory(), e.Platform(), e.OSVersion())
	}
}

func put(t *testing.T, e env.Environment, files map[string]string) {
	t.Helper()
	for path, data := range files {
		if err := e.WriteFile(t.Context(), path, []byte(data)); err != nil {
			t.Fatalf("WriteFile(%s): %v", path, err)
		}
	}
}

func files(t *testing.T, e env.Environment) {
	absolute := filepath.Join(e.WorkingDirectory(), "absolute")
	put(t, e, map[string]string{"new/folders/file": "one\r\n\xff", "empty": "", absolute: "x", "again": "old"})
	put(t, e, map[string]string{"again": "new"})
	for path, want := range map[string]string{"new/folders/file": "one\r\n\xff", "empty": "", "absolute": "x", "again": "new"} {
		if got, err := e.ReadFile(t.Context(), path); err != nil || string(got) != want {
			t.Errorf("ReadFile(%s) = %q, %v; want %q", path, got, err, want)
		}
	}
	info, err := e.Stat(t.Context(), "new/folders/file")
	if err != nil || info.Size != 6 || !info.Mode.IsRegular() || info.ModTime.IsZero() {
		t.Errorf("Stat of a file: %+v, %v", info, err)
	}
	if info, err := e.Stat(t.Context(), "new"); err != nil || !info.Mode.IsDir() {
		t.Errorf("Stat of a directory: %+v, %v", info, err)
	}
}

func lines(t *testing.T, e env.Environment) {
	const text = "\uFEFFone\r\ntwo\nthree"
	put(t, e, map[string]string{"file": text, "binary": "a\x00b"})
	hash := env.Hash([]byte(text))
	for name, tt := range map[string]struct {
		offset, limit int
		want          env.Page
	}{
		"whole":        {1, 10, env.Page{Lines: []string{"one", "two", "three"}, First: 1, Total: 3, Hash: hash}},
		"part":         {2, 1, env.Page{Lines: []string{"two"}, First: 2, Total: 3, More: true, Hash: hash}},
		"past the end": {9, 1, env.Page{First: 9, Total: 3, Hash: hash}},
	} {
		got, err := e.ReadLines(t.Context(), "file", tt.offset, tt.limit)
		if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := e.ReadLines(t.Context(), "binary", 1, 1); err == nil {
		t.Error("ReadLines of a binary file: no error")
	}
}

func missing(t *testing.T, e env.Environment) {
	put(t, e, map[string]string{"folder/file": "x"})
	operations := map[string]func(path string) error{
		"ReadFile":      func(path string) error { _, err := e.ReadFile(t.Context(), path); return err },
		"ReadLines":     func(path string) error { _, err := e.ReadLines(t.Context(), path, 1, 1); return err },
		"Stat":          func(path string) error { _, err := e.Stat(t.Context(), path); return err },
		"ListDirectory": func(path string) error { _, err := e.ListDirectory(t.Context(), path, 1); return err },
	}
	for name, operation := range operations {
		var known *env.Error
		if err := operation("none"); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &known) || known.Path != "none" {
			t.Errorf("%s of a missing file: %v; want an *env.Error that names it and wraps fs.ErrNotExist", name, err)
		}
		if operation("") == nil {
			t.Errorf("%s without a path: no error", name)
		}
	}
	if _, err := e.ReadFile(t.Context(), "folder"); err == nil {
		t.Error("ReadFile of a directory: no error")
	}
	if err := e.WriteFile(t.Context(), "folder", nil); err == nil {
		t.Error("WriteFile over a directory: no error")
	}
}

func listing(t *testing.T, e env.Environment) {
	put(t, e, map[string]string{"b/c/d": "", "b/a": "xx", "a": "x"})
	for depth, want := range map[int][]env.Entry{
		1: {{Path: "a", Size: 1}, {Path: "b", Dir: true}},
		2: {{Path: "a", Size: 1}, {Path: "b", Dir: true}, {Path: "b/a", Size: 2}, {Path: "b/c", Dir: true}},
	} {
		got, err := e.ListDirectory(t.Context(), ".", depth)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("depth %d: %v (-want +got):\n%s", depth, err, diff)
		}
	}
}

func grep(t *testing.T, e env.Environment) {
	put(t, e, map[string]string{"a.go": "one\nTwo\ntwo\n", "sub/b.txt": "two\n", "c.go": "three\n"})
	for name, tt := range map[string]struct {
		query env.GrepQuery
		want  []string
		more  bool
	}{
		"files":       {env.GrepQuery{Pattern: "two"}, []string{"a.go", "sub/b.txt"}, false},
		"content":     {env.GrepQuery{Pattern: "^t.o$", Mode: env.GrepContent}, []string{"a.go:3:two", "sub/b.txt:1:two"}, false},
		"count":       {env.GrepQuery{Pattern: "two", Mode: env.GrepCount, IgnoreCase: true}, []string{"a.go:2", "sub/b.txt:1"}, false},
		"in a folder": {env.GrepQuery{Pattern: "two", Path: "sub"}, []string{"sub/b.txt"}, false},
		"in a file":   {env.GrepQuery{Pattern: "two", Path: "a.go", Mode: env.GrepCount}, []string{"a.go:1"}, false},
		"by name":     {env.GrepQuery{Pattern: "t", Glob: "*.go"}, []string{"a.go", "c.go"}, false},
		"limited":     {env.GrepQuery{Pattern: "t", Limit: 1}, []string{"a.go"}, true},
		"nothing":     {env.GrepQuery{Pattern: "four"}, nil, false},
	} {
		got, err := e.Grep(t.Context(), tt.query)
		want := env.Hits{Lines: tt.want, More: tt.more}
		if tt.query.Mode == env.GrepContent {
			for _, line := range tt.want {
				want.PathEnds = append(want.PathEnds, strings.Index(line, ":"))
			}
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if _, err := e.Grep(t.Context(), env.GrepQuery{Pattern: "("}); err == nil {
		t.Error("an invalid pattern: no error")
	}
	if _, err := e.Grep(t.Context(), env.GrepQuery{Pattern: "x", Path: "none"}); err == nil {
		t.Error("a missing folder: no error")
	}
}

func glob(t *testing.T, e env.Environment) {
	put(t, e, map[string]string{"a.go": "", "sub/b.go": "", "sub/deep/c.go": "", "d.txt": ""})
	for name, tt := range map[string]struct {
		query env.GlobQuery
		want  []string
	}{
		"here":        {env.GlobQuery{Pattern: "*.go"}, []string{"a.go"}},
		"everywhere":  {env.GlobQuery{Pattern: "**/*.go"}, []string{"a.go", "sub/b.go", "sub/deep/c.go"}},
		"in a folder": {env.GlobQuery{Pattern: "*.go", Path: "sub"}, []string{"sub/b.go"}},
		"nothing":     {env.GlobQuery{Pattern: "*.rs"}, nil},
	} {
		got, err := e.Glob(t.Context(), tt.query)
		sorted := cmpopts.SortSlices(func(a, b string) bool { return a < b })
		if diff := cmp.Diff(env.Hits{Lines: tt.want}, got, cmpopts.EquateEmpty(), sorted); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if got, err := e.Glob(t.Context(), env.GlobQuery{Pattern: "**", Limit: 2}); err != nil || len(got.Lines) != 2 || !got.More {
		t.Errorf("limited: %+v, %v", got, err)
	}
	if _, err := e.Glob(t.Context(), env.GlobQuery{Pattern: "[a"}); err == nil {
		t.Error("an invalid pattern: no error")
	}
}

// took is ignored when results are compared.
var took = cmpopts.IgnoreFields(env.CommandResult{}, "Duration")

func commands(t *testing.T, e env.Environment) {
	put(t, e, map[string]string{"sub/file": "content\n"})
	var streamed strings.Builder
	for name, tt := range map[string]struct {
		command env.Command
		want    env.CommandResult
	}{
		"both outputs":          {env.Command{Line: "echo out; echo err >&2"}, env.CommandResult{Stdout: "out\n", Stderr: "err\n"}},
		"merged":                {env.Command{Line: "echo 1; echo 2 >&2; echo 3", Merge: true}, env.CommandResult{Stdout: "1\n2\n3\n"}},
		"exit code":             {env.Command{Line: "echo x; exit 3"}, env.CommandResult{Stdout: "x\n", ExitCode: 3}},
		"working directory":     {env.Command{Line: "pwd"}, env.CommandResult{Stdout: e.WorkingDirectory() + "\n"}},
		"another directory":     {env.Command{Line: "cat file", Dir: "sub"}, env.CommandResult{Stdout: "content\n"}},
		"variable":              {env.Command{Line: "echo $GREETING", Env: []string{"GREETING=hello"}}, env.CommandResult{Stdout: "hello\n"}},
		"no input":              {env.Command{Line: "cat; echo end"}, env.CommandResult{Stdout: "end\n"}},
		"input is not for Exec": {env.Command{Line: "cat; echo end", Input: true}, env.CommandResult{Stdout: "end\n"}},
		"streamed":              {env.Command{Line: "echo a; echo b", Output: func(text string) { streamed.WriteString(text) }}, env.CommandResult{Stdout: "a\nb\n"}},
	} {
		got, err := e.Exec(t.Context(), tt.command)
		if diff := cmp.Diff(tt.want, got, took); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	if streamed.String() != "a\nb\n" {
		t.Errorf("streamed %q", streamed.String())
	}
	if _, err := e.Exec(t.Context(), env.Command{Line: "echo x", Dir: "none"}); err == nil {
		t.Error("a missing directory: no error")
	}
}

func ended(t *testing.T, e env.Environment) {
	begin := time.Now()
	got, err := e.Exec(t.Context(), env.Command{Line: "echo first; sleep 60; echo second", Timeout: 300 * time.Millisecond})
	if err != nil || !got.TimedOut || got.Interrupted || got.Stdout != "first\n" {
		t.Errorf("timeout: %+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got, err = e.Exec(ctx, env.Command{Line: "echo first; sleep 60; echo second", Output: func(string) { cancel() }})
	if err != nil || !got.Interrupted || got.TimedOut || got.Stdout != "first\n" {
		t.Errorf("interrupted: %+v, %v", got, err)
	}
	if _, err := e.Exec(ctx, env.Command{Line: "echo x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if took := time.Since(begin); took > patience {
		t.Errorf("took %v", took)
	}
}
