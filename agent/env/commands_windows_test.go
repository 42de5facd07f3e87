package env

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestCommandsAreLinesOfCmd(t *testing.T) { // LOOP-35
	l, err := NewLocal(os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Exec(t.Context(), Command{Line: `echo "a b"&& cd& exit 3`})
	if err != nil {
		t.Fatal(err)
	}
	want := CommandResult{Stdout: "\"a b\"\r\n" + l.WorkingDirectory() + "\r\n", ExitCode: 3}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(CommandResult{}, "Duration")); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}
