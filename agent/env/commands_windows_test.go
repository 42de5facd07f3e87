package env

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCommandsAreLinesOfCmd(t *testing.T) { // LOOP-35
	l, err := NewLocal(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Exec(t.Context(), Command{Line: `echo "a b"&& cd& exit 3` + "\r\n"})
	if err != nil {
		t.Fatal(err)
	}
	want := CommandResult{Stdout: "\"a b\"\r\n" + l.WorkingDirectory() + "\r\n", ExitCode: 3}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(CommandResult{}, "Duration")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestCommandsOfSeveralLinesAreRefused(t *testing.T) { // LOOP-35
	l, err := NewLocal(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Line: "echo a\necho b"}
	if got, err := l.Exec(t.Context(), c); !errors.Is(err, errLines) {
		t.Errorf("Exec = %+v, %v", got, err)
	}
	if _, err := l.Start(t.Context(), c); !errors.Is(err, errLines) {
		t.Errorf("Start: %v", err)
	}
}

func TestCommandsHaveAConsoleInUTF8(t *testing.T) { // LOOP-35
	l, err := NewLocal(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"chcp":                             "65001",
		"echo \u4e2d\u6587 \u00e9":         "\u4e2d\u6587 \u00e9",
		`echo "%ERRORLEVEL%"`:              `"0"`,
		`if 1==2 (echo a) else (echo b)`:   "b",
		`"%SystemRoot%\System32\chcp.com"`: "65001", // a quotation mark at the beginning and at the end
	} {
		got, err := l.Exec(t.Context(), Command{Line: line})
		if err != nil || got.ExitCode != 0 || !strings.HasSuffix(strings.TrimRight(got.Stdout, ".\r\n"), want) {
			t.Errorf("%s: %+v, %v; want %s", line, got, err, want)
		}
	}
}
