package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/windows"
)

func TestRunReportsHowACommandEnded(t *testing.T) { // LOOP-26, LOOP-35
	t.Parallel()
	for name, tt := range map[string]struct {
		spec Spec
		want Result
	}{
		"program":              {helper("streams"), Result{Stdout: "out\n", Stderr: "err\n", ExitCode: 7}},
		"shell":                {cmd("echo out& exit 7"), Result{Stdout: "out\r\n", ExitCode: 7}},
		"quotes in the line":   {cmd(shell("streams") + ` 2>nul & echo "a b"& exit 3`), Result{Stdout: "out\n\"a b\"\r\n", ExitCode: 3}},
		"empty standard input": {helper("cat"), Result{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Run(t.Context(), tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Result{}, "Duration")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunStartsInTheGivenDirectory(t *testing.T) { // LOOP-35
	t.Parallel()
	dir, err := windows.GetSystemDirectory()
	if err != nil {
		t.Fatal(err)
	}
	spec := helper("where")
	spec.Dir = dir
	got, err := Run(t.Context(), spec)
	if err != nil || !strings.EqualFold(strings.TrimSpace(got.Stdout), dir) {
		t.Errorf("Run = %+v, %v; want %s", got, err, dir)
	}
	spec.Dir = filepath.Join(dir, "missing")
	if _, err := Run(t.Context(), spec); err == nil {
		t.Error("no error for a missing directory")
	}
	if _, err := Run(t.Context(), Spec{Argv: []string{`C:\no\such.exe`}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing program: %v", err)
	}
}

func TestRunFiltersByDefault(t *testing.T) { // LOOP-36
	t.Setenv("some_api_key", "secret")
	t.Setenv("Plain", "passes")
	got, err := Run(t.Context(), helper("environ"))
	if err != nil {
		t.Fatal(err)
	}
	environ := strings.Split(got.Stdout, "\n")
	for entry, want := range map[string]bool{"some_api_key=secret": false, "Plain=passes": true, "GIT_TERMINAL_PROMPT=0": true} {
		if slices.Contains(environ, entry) != want {
			t.Errorf("%s: %t, want %t", entry, !want, want)
		}
	}
}

// Each pattern prints the ids of its processes and "ready", and would run
// forever.
var stubborn = map[string]struct {
	spec      func() Spec
	processes int
}{
	"program":        {func() Spec { return helper("sleep") }, 1},
	"shell":          {func() Spec { return cmd(shell("sleep") + " & echo not reached") }, 1},
	"shell in shell": {func() Spec { return cmd("cmd.exe /d /c " + shell("sleep")) }, 1},
	"deaf":           {func() Spec { return helper("deaf") }, 1},
	"left console":   {func() Spec { return helper("away") }, 2},
	"orphan":         {func() Spec { return cmd(shell("orphan") + " & " + shell("sleep")) }, 2},
}

func TestRunLeavesNoProcess(t *testing.T) { // LOOP-35, LOOP-123, K-37
	t.Parallel()
	for name, tt := range stubborn {
		for _, end := range []string{"abort", "timeout"} {
			t.Run(end+"/"+name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				spec := tt.spec()
				if end == "timeout" {
					spec.Timeout = 3 * time.Second
				} else {
					spec.Output = func(text string) {
						if strings.Contains(text, "ready") {
							cancel()
						}
					}
				}
				got, err := Run(ctx, spec)
				if err != nil || got.TimedOut != (end == "timeout") || got.Interrupted == got.TimedOut {
					t.Errorf("Run = %+v, %v", got, err)
				}
				checkGone(t, got.Stdout, tt.processes)
				if limit := spec.Timeout + 2*grace + time.Second; got.Duration > limit {
					t.Errorf("took %v, want at most %v", got.Duration, limit)
				}
			})
		}
	}
}

func TestNothingOutlivesAKilledProgram(t *testing.T) { // LOOP-35, K-37, R-PROC
	t.Parallel()
	for name, tt := range stubborn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output := runHost(t, "0s", windows.CREATE_NO_WINDOW, tt.spec(), func(program *os.Process) {
				if err := program.Kill(); err != nil {
					t.Error(err)
				}
			})
			until(t, "the end of its processes", func() bool { return !slices.ContainsFunc(pids(t, output), isAlive) })
			checkGone(t, output, tt.processes)
		})
	}
}

func TestCommandIsAskedToEndWhereItCanBe(t *testing.T) { // LOOP-123
	t.Parallel()
	for name, tt := range map[string]struct {
		console uint32
		want    string
	}{
		"program without a console": {windows.DETACHED_PROCESS, "ready\ncaught\nhost: true, 5, true, <nil>\n"},
		"program with a console":    {windows.CREATE_NO_WINDOW, "ready\nhost: true, 3221225786, true, <nil>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.console == windows.DETACHED_PROCESS && isWine() {
				t.Skip("wine knows no Ctrl-Break")
			}
			got := runHost(t, "1s", tt.console, helper("polite"), func(*os.Process) {})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKillEndsProcessesThatIgnoreTheStop(t *testing.T) { // LOOP-123
	t.Parallel()
	command := exec.Command(os.Args[0], "helper", "deaf")
	command.SysProcAttr = ownSession()
	var deaf tree
	if err := deaf.start(child{Cmd: command}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(deaf.release)
	deaf.kill(command.Process, time.Now())
	if !deaf.job.empty() {
		t.Fatal("the process is alive")
	}
	if err := command.Wait(); exitCode(command.ProcessState) != int(interruptedExit) {
		t.Errorf("Wait: %v", err)
	}
}

func TestScopeEndsLeftoverProcesses(t *testing.T) { // LOOP-159
	t.Parallel()
	mine, other := NewScope(), NewScope()
	left := func(scope Scope) string {
		spec := helper("orphan")
		spec.Scope = scope
		got, err := Run(t.Context(), spec)
		if err != nil || got.ExitCode != 0 || got.Left {
			t.Fatalf("Run = %+v, %v", got, err)
		}
		return got.Stdout
	}
	first, second, third := left(mine), left(mine), left(other)
	mine.End()
	checkGone(t, first+second, 2)
	if found := pids(t, third); len(found) != 1 || !isAlive(found[0]) {
		t.Errorf("processes %v of the other scope are not alive", found)
	}
	other.End()
	checkGone(t, third, 1)
}

func TestProcessIsTalkedTo(t *testing.T) { // OAS-306
	t.Parallel()
	spec := helper("cat")
	spec.Input, spec.Merge = true, true
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	if err := p.Write("one\n"); err != nil {
		t.Fatal(err)
	}
	var read string
	until(t, "an answer", func() bool { read += p.Read(); return read == "one\n" })
	if err := p.Write("two\n\x04"); err != nil {
		t.Fatal(err)
	}
	got, err := p.Wait(t.Context())
	if text := p.Read(); err != nil || got.ExitCode != 0 || text != "two\n" {
		t.Errorf("Wait = %+v, %v; read %q", got, err, text)
	}
}

func TestWriteDoesNotWaitForADeafProcess(t *testing.T) {
	t.Parallel()
	spec := helper("sleep")
	spec.Input = true
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	if err := p.Write(strings.Repeat("x", 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write: %v", err)
	}
}

func TestShellCommandLineIsLeftAsItIs(t *testing.T) { // LOOP-35
	t.Parallel()
	for want, argv := range map[string][]string{
		`C:\Windows\CMD.EXE /d /s /c "echo "a b" ^& "%PATH%""`: {`C:\Windows\CMD.EXE`, "/d", "/s", "/c", `echo "a b" ^& "%PATH%"`},
		`"C:\my dir\cmd.exe" "dir"`:                            {`C:\my dir\cmd.exe`, "dir"},
		"":                                                     {"git.exe", "commit", "-m", `a "b"`},
	} {
		if diff := cmp.Diff(want, shellCommandLine(argv)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", argv, diff)
		}
	}
}
