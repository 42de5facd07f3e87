package env

import (
	"errors"
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
