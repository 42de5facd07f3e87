package env

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShellRunsALineOrSaysWhyNot(t *testing.T) { // LOOP-35
	for name, tt := range map[string]struct {
		system, line string
		want         []string
		err          error
	}{
		"bash":           {"linux", "cd sub\nls\n", []string{"/bin/bash", "--norc", "--noprofile", "-c", "cd sub\nls\n"}, nil},
		"cmd":            {"windows", `echo "a b"& exit 3`, []string{"cmd.exe", "/d", "/s", "/c", utf8Console + `echo "a b"& exit 3`}, nil},
		"newlines about": {"windows", "\ndir\r\n", []string{"cmd.exe", "/d", "/s", "/c", utf8Console + "dir"}, nil},
		"lines":          {"windows", "npm ci\nnpm test", nil, errLines},
		"Windows lines":  {"windows", "npm ci\r\nnpm test\r\n", nil, errLines},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := interpreter(tt.system, tt.line)
			if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v; arguments (-want +got):\n%s", err, tt.err, diff)
			}
		})
	}
}

// A line that the system does not take is refused with what to do instead; one
// byte less runs.
func TestALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	fill := func(before string, n int, after string) string {
		return before + strings.Repeat("x", n-len(before)-len(after)) + after
	}
	for name, tt := range map[string]struct {
		system, line string
		refused      bool
	}{
		"the longest":        {"linux", fill("true ", maxCommand, ""), false},
		"a byte more":        {"linux", fill("true ", maxCommand+1, ""), true},
		"a here document":    {"linux", fill("cat > f <<'E'\n", 200_000, "\nE\n"), true},
		"a pipe of a script": {"darwin", fill("printf %s '", 3<<20, "' | python3"), true},
		"long for cmd.exe":   {"windows", fill("echo ", maxWindowsCommand+1, ""), true},
		"most for cmd.exe":   {"windows", fill("echo ", maxWindowsCommand, ""), false},
		"several bytes each": {"linux", "echo " + strings.Repeat("字", 45_000), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			argv, err := interpreter(tt.system, tt.line)
			if tt.refused != (err != nil) || tt.refused && !strings.Contains(err.Error(), "with Write or another tool for files") {
				t.Fatalf("refused %v, want %v", err, tt.refused)
			}
			if !tt.refused && tt.system == runtime.GOOS {
				if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
					t.Errorf("the system does not take it: %v %s", err, out)
				}
			}
		})
	}
}
