package command

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are lines that only read, one a line.
//
//go:embed testdata/readers.txt
var readers string

// others are lines that do more, might, or say it in a way that is not known
// to be harmless.
//
//go:embed testdata/others.txt
var others string

func list(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n")
}

func TestReadersAreFound(t *testing.T) {
	t.Parallel()
	for _, line := range list(readers) {
		if _, ok := Read(line); !ok {
			t.Errorf("not found to only read: %s", line)
		}
	}
}

func TestOthersAreNot(t *testing.T) { // K-38
	t.Parallel()
	long := strings.Repeat("echo a;", maxLine/7+1)
	lines := append(list(others),
		"", " ", "\n", "# only a comment", "ls \\", "ls '", `ls "`, "ls\x00", "ls\rrm x", "ls \x1b[1m", "ls \u202ex", "ls \u200bx", "ls \u3164x", "ls \xff",
		"ls\nrm a.txt", "sed -n '1p\nw x' a.txt", "ls \"\\\n\"", long, long[:maxLine-10],
		strings.Repeat("(", maxBrackets+1), strings.Repeat("$(", 10_000), strings.Repeat("[", 100_000),
		strings.Repeat("ls|", 10_000)+"ls", strings.Repeat("ls&&", 8_000)+"ls", strings.Repeat("ls;", 51), strings.Repeat("if ", 10_000),
		strings.Repeat("! ", 16_000)+"ls", strings.Repeat(`"`, 32_000), "cat <<EOF\n$(touch x)\nEOF", "cat <<'EOF'\nx\nEOF", "ls\u00a0-la",
	)
	for _, line := range lines {
		if r, ok := Read(line); ok {
			t.Errorf("found to only read: %.80q %+v", line, r)
		}
	}
	if n := len(lines) + len(list(readers)); n < 150 {
		t.Errorf("%d lines, want 150 and more", n)
	}
}

// Real bash runs every line that is listed as reading only, and nothing
// changes.
func TestReadersReadInRealBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "b.txt": "one\n", "sub/c.txt": "one\n", "with space.txt": "x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	environ := append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0", "GOTOOLCHAIN=local", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	for _, command := range []string{"git init -q -b main", "git add .", "git -c user.name=x -c user.email=x@y commit -qm first"} {
		cmd := exec.Command(bash, "-c", command)
		cmd.Dir, cmd.Env = dir, environ
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no git here: %v %s", err, out)
		}
	}
	before := tree(t, dir)
	for _, line := range list(readers) {
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", line)
		cmd.Dir, cmd.Env = dir, environ
		_ = cmd.Run() // some find nothing, some programs are missing
		if after := tree(t, dir); after != before {
			t.Fatalf("%s changed the folder:\n%s\nwas\n%s", line, after, before)
		}
	}
}

// tree describes everything in a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		changed := info.ModTime().String()
		if d.Name() == ".git" || d.Name() == "index" { // git describe --dirty writes the index anew, as it was
			changed = ""
		}
		b.WriteString(path + " " + info.Mode().String() + " " + changed + "\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	for _, line := range list(readers + others) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := Read(line)
		if !ok {
			return
		}
		if len(line) > maxLine {
			t.Error("a line beyond the limit")
		}
		for _, path := range append(append([]string{r.Dir}, r.Paths...), r.Trees...) {
			for element := range strings.SplitSeq(path, "/") {
				if element == ".." {
					t.Errorf("%q reads %q", line, path)
				}
			}
		}
		for _, program := range r.Programs {
			if p := row(program); p.usage == nil && p.queries == nil && (p.wraps == nil || p.wraps.usage == nil) && !slices.Contains(strings.Fields("git find xargs ps test ["), program) {
				t.Errorf("%q runs %q", line, program)
			}
		}
		for _, name := range r.Files {
			if !contains(r.Paths, name) {
				t.Errorf("%q prints %q, which it does not read", line, name)
			}
		}
	})
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}
