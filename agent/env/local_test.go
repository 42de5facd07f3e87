package env

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// newLocal returns an environment on a new folder with the given files.
func newLocal(t *testing.T, files map[string]string) *Local {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	l, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestNewLocalNeedsAFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for path, want := range map[string]string{
		"/no/such/folder": "does not exist",
		file:              "part of its path is a file",
	} {
		if _, err := NewLocal(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewLocal(%s) = %v, want %q", path, err, want)
		}
	}
}

func TestHostFacts(t *testing.T) { // LOOP-34
	t.Parallel()
	l := newLocal(t, nil)
	if !filepath.IsAbs(l.WorkingDirectory()) || l.Platform() != runtime.GOOS || l.OSVersion() == "" {
		t.Errorf("facts: %q, %q, %q", l.WorkingDirectory(), l.Platform(), l.OSVersion())
	}
}

func TestTheRootIsADirectory(t *testing.T) {
	t.Parallel()
	if info, err := newLocal(t, nil).Stat(t.Context(), "/"); err != nil || !info.Mode.IsDir() {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestExec(t *testing.T) { // LOOP-35, LOOP-122
	l := newLocal(t, map[string]string{"sub/start-up": "echo start-up file was read"})
	t.Setenv("BASH_ENV", filepath.Join(l.dir, "sub/start-up"))
	t.Setenv("SOME_API_KEY", "canary")
	got, err := l.Exec(t.Context(), Command{
		Line: `pwd; echo "$EXTRA:$SOME_API_KEY"; echo err >&2; exit 3`,
		Dir:  "sub", Env: []string{"EXTRA=a b"},
	})
	want := filepath.Join(l.dir, "sub") + "\na b:\n"
	if err != nil || got.Stdout != want || got.Stderr != "err\n" || got.ExitCode != 3 {
		t.Errorf("Exec = %+v, %v; want output %q", got, err, want)
	}
	got, err = l.Exec(t.Context(), Command{Line: "echo first; sleep 60", Timeout: 100 * time.Millisecond})
	if err != nil || !got.TimedOut || got.Stdout != "first\n" {
		t.Errorf("Exec = %+v, %v; want a timeout with partial output", got, err)
	}
	if _, err := l.Exec(t.Context(), Command{Line: "true", Dir: "missing"}); err == nil {
		t.Error("no error for a missing directory")
	}
}

// COM-20: a text that gzip compressed is read as it was, a part at a time. What only has its
// name, is damaged, is no text or is far larger unpacked is read as it is.
func TestReadCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local, err := NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	packed := func(text string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	whole := packed("one\ntwo\nthree\n")
	for name, tt := range map[string]struct {
		data []byte
		want string // empty if it is not read
	}{
		"text.gz":   {whole, "two"},
		"plain.gz":  {[]byte("1\n2\n"), "2"},
		"damage.gz": {whole[:len(whole)-6], ""},
		"binary.gz": {packed("a\nb\x00c\n"), ""},
		"bomb.gz":   {packed(strings.Repeat("a\n", MaxWhole)), ""},
		"text.txt":  {whole, ""},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		page, err := local.ReadLines(t.Context(), name, 2, 1)
		got := strings.Join(page.Lines, "")
		if tt.want == "" && (got == "two" || got == "a") || tt.want != "" && (err != nil || got != tt.want) || name == "text.gz" && page.Hash != "" {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}
