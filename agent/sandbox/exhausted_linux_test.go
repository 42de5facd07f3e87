package sandbox

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The error of a command that cannot be started for lack of descriptors says
// what to do. The limit holds for a process, so the test runs itself as another
// one.
func TestTooManyFilesOpen(t *testing.T) {
	const variable = "SANDBOX_TEST_EXHAUSTED"
	if os.Getenv(variable) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTooManyFilesOpen$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		t.Fatal(err)
	}
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close()
		}
	}()
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		open = append(open, f)
	}
	_, err := Start(t.Context(), bash("true"))
	if err == nil || !strings.Contains(err.Error(), "stop commands that run on") {
		t.Errorf("starting failed with %v", err)
	}
}
