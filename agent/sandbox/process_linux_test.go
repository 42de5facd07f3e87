package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func startBash(t *testing.T, script string, change func(*Spec)) *Process {
	t.Helper()
	spec := bash(script)
	spec.Merge = true
	if change != nil {
		change(&spec)
	}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// until waits for a condition, for at most ten seconds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// expect reads until the process has printed text.
func expect(t *testing.T, p *Process, text string) {
	t.Helper()
	var got strings.Builder
	until(t, text, func() bool {
		got.WriteString(p.Read())
		return strings.Contains(got.String(), text)
	})
}

func TestProcessIsTalkedTo(t *testing.T) { // OAS-306
	t.Parallel()
	p := startBash(t, `echo hello; while read -r line; do echo "got $line"; done; echo over; exit 4`, func(s *Spec) { s.Input = true })
	expect(t, p, "hello\n")
	if err := p.Write("one\ntw"); err != nil {
		t.Fatal(err)
	}
	expect(t, p, "got one\n")
	if err := p.Write("o\n\x04"); err != nil {
		t.Fatal(err)
	}
	got, err := p.Wait(t.Context())
	if diff := cmp.Diff(Result{ExitCode: 4}, got, cmpopts.IgnoreFields(Result{}, "Duration")); err != nil || diff != "" {
		t.Errorf("Wait: %v (-want +got):\n%s", err, diff)
	}
	if text := p.Read(); text != "got two\nover\n" || p.Read() != "" {
		t.Errorf("left to read: %q", text)
	}
	if err := p.Write("x"); !errors.Is(err, ErrEnded) {
		t.Errorf("Write after the end: %v", err)
	}
}

func TestProcessWithoutInputHasTheNullDevice(t *testing.T) { // R-STDIN
	t.Parallel()
	p := startBash(t, `cat; trap 'echo caught; exit 5' INT; echo ready; while true; do sleep 0.05; done`, nil)
	expect(t, p, "ready")
	if err := p.Write("x"); !errors.Is(err, ErrNoInput) {
		t.Errorf("Write: %v", err)
	}
	if err := p.Write("\x03"); err != nil {
		t.Error(err)
	}
	if got, err := p.Wait(t.Context()); err != nil || got.ExitCode != 5 || got.Interrupted {
		t.Errorf("after Ctrl-C: %+v, %v", got, err)
	}
}

func TestWriteDoesNotWaitForADeafProcess(t *testing.T) {
	t.Parallel()
	p := startBash(t, "exec sleep 300", func(s *Spec) { s.Input = true })
	if err := p.Write(strings.Repeat("x", 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := startBash(t, "sleep 300", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait: %v", err)
	}
}

func TestStopLeavesNoProcess(t *testing.T) { // K-37, R-PROC
	t.Parallel()
	for name, script := range stubborn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := "TOKEN_OF_TEST=" + rand.Text()
			p := startBash(t, script, func(s *Spec) { s.Env = append(os.Environ(), token) })
			expect(t, p, "ready")
			p.Stop()
			if got, err := p.Wait(t.Context()); err != nil || !got.Interrupted || got.TimedOut {
				t.Errorf("result %+v, %v", got, err)
			}
			if alive := carrying(t, token); len(alive) > 0 {
				t.Errorf("still alive: %q", alive)
			}
		})
	}
}

func TestScopeEndsLeftoverProcesses(t *testing.T) { // LOOP-159
	t.Parallel()
	token := "TOKEN_OF_TEST=" + rand.Text()
	mine, other := NewScope(), NewScope()
	for _, scope := range []Scope{mine, mine, other} {
		spec := bash(`setsid sleep 300 >/dev/null 2>&1 & echo started`)
		spec.Scope, spec.Env = scope, append(os.Environ(), token)
		if _, err := Run(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
	}
	mine.End()
	if alive := carrying(t, token); len(alive) != 1 {
		t.Errorf("alive: %q, want the other scope's", alive)
	}
	other.End()
	if alive := carrying(t, token); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
}

// TestHelperProgram is not a test but a program that runs a command until it is
// killed itself.
func TestHelperProgram(t *testing.T) {
	script := os.Getenv("HELPER_SCRIPT")
	if script == "" {
		t.Skip("runs only as a program of its own")
	}
	spec := bash(script)
	spec.Env = os.Environ()
	spec.Output = func(text string) { fmt.Print(text) }
	if _, err := Run(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	<-t.Context().Done()
}

func TestNothingOutlivesAKilledProgram(t *testing.T) { // K-37, R-PROC
	t.Parallel()
	for name, script := range stubborn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := "TOKEN_OF_TEST=" + rand.Text()
			program := exec.Command(os.Args[0], "-test.run=^TestHelperProgram$", "-test.v")
			program.Env = append(os.Environ(), "HELPER_SCRIPT="+script, token)
			output, err := program.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(output)
			for lines.Scan() && !strings.Contains(lines.Text(), "ready") {
			}
			if len(carrying(t, token)) < 2 {
				t.Error("nothing to kill")
			}
			_ = program.Process.Kill()
			_ = program.Wait()
			until(t, "the end of its processes", func() bool { return len(carrying(t, token)) == 0 })
		})
	}
}

// A command finds the guard beside itself, even the program's first one. It looks more
// than once, because a program has begun a moment before its arguments can be read.
func TestGuardBeforeTheFirstCommand(t *testing.T) { // not parallel: it dismisses the program's only guard
	for range 20 {
		guard.dismiss()
		spec := bash(`for pass in {1..100}; do for dir in $(grep -ls "atelier-[g]uard" /proc/[0-9]*/cmdline); do
			grep -qs "^PPid:.$PPID$" "${dir%cmdline}status" && echo guarded && exit; done; done`)
		if got, err := Run(t.Context(), spec); err != nil || string(got.Stdout) != "guarded\n" {
			t.Fatalf("%q, %v", got.Stdout, err)
		}
	}
}

func TestShutdownDismissesTheGuard(t *testing.T) { // not parallel: it dismisses the program's only guard
	g := guardian{}
	g.watch()
	pidOf := func() (pid string) {
		children, _ := filepath.Glob("/proc/self/task/*/children")
		for _, name := range children {
			list, _ := os.ReadFile(name)
			for _, child := range strings.Fields(string(list)) {
				if line, _ := os.ReadFile("/proc/" + child + "/cmdline"); bytes.Contains(line, []byte("atelier-guard")) {
					pid = child
				}
			}
		}
		return pid
	}
	if pidOf() == "" {
		t.Fatal("there is no guard")
	}
	alive := g.alive
	g.watch()
	if g.alive != alive {
		t.Error("there is a second guard")
	}
	g.dismiss()
	g.dismiss()
	if g.alive != nil {
		t.Error("the guard was not dismissed")
	}
}

func TestOutputBeyondMemoryIsSpilled(t *testing.T) { // R-OUT
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "private", "output")
	spec := bash(`head -c 3000000 /dev/zero | tr '\0' a; printf 'ä\xffTAIL'`)
	spec.Limit, spec.SpillDir = 1000, dir
	got, err := Run(t.Context(), spec)
	if err != nil || got.Spill.Path == "" || got.Spill.Cut || got.Dropped == 0 {
		t.Fatalf("Run = %+v, %v", got.Spill, err)
	}
	data, err := os.ReadFile(got.Spill.Path)
	if want := strings.Repeat("a", 3000000) + "ä\uFFFDTAIL"; err != nil || string(data) != want {
		t.Errorf("the file has %d bytes, %v; want %d", len(data), err, len(want))
	}
	for path, want := range map[string]os.FileMode{got.Spill.Path: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, want)
		}
	}

	spec = bash("head -c 1000 /dev/zero | tr '\\0' a")
	spec.Limit, spec.SpillDir = 1000, dir
	if got, err := Run(t.Context(), spec); err != nil || got.Spill != (Spill{}) || len(got.Stdout) != 1000 {
		t.Errorf("short output: %+v, %v; want it in memory alone", got.Spill, err)
	}
	spec = bash("yes | head -c 70000000")
	spec.SpillDir = dir
	got, err = Run(t.Context(), spec)
	if info, statErr := os.Stat(got.Spill.Path); err != nil || statErr != nil || !got.Spill.Cut || info.Size() != maxSpill {
		t.Errorf("endless output: %+v, %v, %v; want a file of %d bytes", got.Spill, err, statErr, maxSpill)
	}
	spec = bash("yes | head -c 3000")
	spec.Limit, spec.SpillDir = 1000, "/dev/null/impossible"
	if got, err := Run(t.Context(), spec); err != nil || got.Spill != (Spill{}) || got.ExitCode != 0 {
		t.Errorf("without a place: %+v, %v", got, err)
	}
}

func TestReadsOfMuchOutputStayBounded(t *testing.T) { // R-OUT
	t.Parallel()
	p := startBash(t, `yes | head -c 1000000; echo END; read -r go; yes n | head -c 1000`,
		func(s *Spec) { s.Limit, s.Input, s.SpillDir = 1000, true, t.TempDir() })
	expect(t, p, "END\n")
	if err := p.Write("go\n"); err != nil {
		t.Fatal(err)
	}
	got, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if text := p.Read(); text != strings.Repeat("n\n", 500) {
		t.Errorf("the second part is %q", text)
	}
	if info, err := os.Stat(got.Spill.Path); err != nil || info.Size() < 1000 {
		t.Errorf("the file: %+v, %v", info, err)
	}
}

// LOOP-123: a command that is told to end has two seconds for it.
func TestGraceIsTwoSeconds(t *testing.T) {
	t.Parallel()
	if grace != 2*time.Second {
		t.Errorf("%s pass between SIGTERM and SIGKILL", grace)
	}
}

// If memory runs out, the kernel kills the command rather than this program.
func TestCommandsAreSacrificedFirst(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Spec{Argv: []string{"cat"}, Input: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	score := func(pid string) int {
		data, err := os.ReadFile("/proc/" + pid + "/oom_score_adj")
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if command, own := score(strconv.Itoa(p.cmd.Process.Pid)), score("self"); command <= own {
		t.Errorf("a command has %d, this program %d", command, own)
	}
}

// A command reads the input that it is given, and need not read it. What it
// leaves behind cannot keep it from ending.
func TestGivenInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3<<20)
	for line, want := range map[string]string{
		"wc -c":                       "3145728\n",
		"exit 0":                      "",
		"exec <&-; echo closed":       "closed\n",
		"head -c 2":                   "xx",
		"sleep 300 >/dev/null & echo": "\n",
	} {
		scope := NewScope()
		got, err := Run(t.Context(), Spec{Argv: []string{"bash", "-c", line}, Stdin: []byte(long), Scope: scope})
		scope.End()
		if err != nil || got.Stdout != want || got.ExitCode != 0 {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
	}
	if got, err := Run(t.Context(), Spec{Argv: []string{"cat"}, Stdin: []byte{}}); err != nil || got.Stdout != "" {
		t.Errorf("no input: %+v, %v", got, err)
	}
}
