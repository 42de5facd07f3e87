package tool

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

func TestBash(t *testing.T) { // LOOP-26, OAS-306
	t.Parallel()
	b := newBench(t, map[string]string{"f": "content"})
	tests := []struct {
		name string
		in   args
		want agent.Result
	}{
		{"output", args{"command": "cat f; echo; echo err >&2"}, agent.Result{Output: "content\nerr\n"}},
		{"colours stay", args{"command": `printf '\033[31mred\033[0m'`}, agent.Result{Output: "\x1b[31mred\x1b[0m"}},
		{"nothing printed", args{"command": "true"}, agent.Result{Output: "[The command succeeded and printed nothing.]"}},
		{"exit code", args{"command": "echo no; exit 3"}, agent.Result{Output: "no\n[Exit code 3]", Details: command(3)}},
		{"silent failure", args{"command": "false"}, agent.Result{Output: "[Exit code 1]", Details: command(1)}},
		{"no line end", args{"command": "printf x; exit 2"}, agent.Result{Output: "x\n[Exit code 2]", Details: command(2)}},
		{"invalid bytes", args{"command": `printf '\xff'`}, agent.Result{Output: "\uFFFD"}},
		{"no input", args{"command": "cat; read x || echo end"}, agent.Result{Output: "end\n"}},
		{"state is not kept", args{"command": "cd /; X=1; pwd"}, agent.Result{Output: "/\n"}},
		{"editor", args{"command": "git commit --allow-empty 2>/dev/null; echo $GIT_EDITOR $PAGER $TERM"}, agent.Result{Output: "false cat dumb\n"}},
		{"too long a timeout", args{"command": "echo x", "timeout": 9_000_000}, agent.Result{Output: "x\n[The timeout was set to 600000 ms, the longest allowed.]"}},
	}
	for _, tt := range tests {
		if tt.want.Details == nil {
			tt.want.Details = command(0)
		}
		got := b.run("Bash", tt.in)
		got.Data = nil // the text and the details were made from it
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if r := b.run("Bash", args{"command": "pwd"}); r.Output != b.dir+"\n" {
		t.Errorf("a new call starts in %q", r.Output)
	}
	b.refuse("Bash", args{"command": "  "}, "The command is empty.")
}

// LOOP-26: the directory of a command is shown separately from the command.
func TestBashInAnotherDirectory(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"sub/f": "content", "file": ""})
	if got := b.succeed("Bash", args{"command": "cat f; pwd", "workdir": "sub"}); got.Output != "content"+b.path("sub")+"\n" {
		t.Errorf("printed %q", got.Output)
	}
	if got := b.succeed("Bash", args{"command": "pwd", "workdir": "/", "yield_time_ms": 60_000}); got.Output != "/\n" {
		t.Errorf("a task printed %q", got.Output)
	}
	b.refuse("Bash", args{"command": "ls", "workdir": "none"}, "the command did not run: none does not exist.")
	b.refuse("Bash", args{"command": "ls", "workdir": "file", "run_in_background": true}, "the command did not run: file is not a directory.")
	for workdir, want := range map[string]string{"": "", ".": "", b.dir: "", "sub": b.path("sub"), "sub/..": "", "..": filepath.Dir(b.dir), "/": "/"} {
		got := b.tools["Bash"].(agent.Accessor).Access(t.Context(), args{"command": "make", "workdir": workdir}.json(t))
		if diff := cmp.Diff(agent.Access{Command: "make", Dir: want}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", workdir, diff)
		}
	}
}

func command(code int) *agent.Details {
	return &agent.Details{Command: &agent.CommandResult{ExitCode: code}}
}

func TestBashTimeout(t *testing.T) { // LOOP-41, LOOP-122, LOOP-165
	t.Parallel()
	b := newBench(t, nil)
	begin := time.Now()
	got := b.run("Bash", args{"command": "echo partial; sleep 300", "timeout": 200})
	got.Data = nil
	want := agent.Result{
		Output: "partial\n[ERROR: Command timed out after 200ms. Partial output is shown above. " +
			"You can retry with a longer timeout by setting the timeout parameter.]",
		IsError: true,
		Details: &agent.Details{Command: &agent.CommandResult{ExitCode: 143, TimedOut: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if took := time.Since(begin); took > time.Minute { // the command would take five
		t.Errorf("took %v", took)
	}
}

func TestBashLimits(t *testing.T) { // K-01
	t.Parallel()
	b := &bash{timeout: 2 * time.Minute}
	for ms, want := range map[int64]time.Duration{
		-1: 2 * time.Minute, 0: 2 * time.Minute, 1: time.Millisecond, 600_000: 10 * time.Minute, 600_001: 10 * time.Minute, 1 << 62: 10 * time.Minute,
	} {
		if got, clamped := b.limit(ms); got != want || clamped != (ms > 600_000) {
			t.Errorf("limit(%d) = %v, %t", ms, got, clamped)
		}
	}
}

func TestInterruptedBashKeepsItsOutput(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var streamed strings.Builder
	got := b.runContext(ctx, "Bash", args{"command": "echo first; sleep 300; echo never"}, func(text string) {
		streamed.WriteString(text)
		cancel() // the user stops it at the first line
	})
	if want := "first\n[The user interrupted the command. Partial output is shown above.]"; got.Output != want || !got.IsError {
		t.Errorf("result %+v, want %q", got, want)
	}
	if streamed.String() != "first\n" {
		t.Errorf("streamed %q", streamed.String())
	}
}

func TestBashCapsItsOutput(t *testing.T) { // K-02, R-OUT
	t.Parallel()
	b := newBench(t, nil)
	streamed := 0
	got := b.runContext(t.Context(), "Bash", args{"command": "yes ä | head -c 20000000; echo END"}, func(text string) { streamed += len(text) })
	if n := len(got.Output); n > 1<<20+200 || !strings.HasSuffix(got.Output, "END\n") || !strings.Contains(got.Output, "bytes of output were dropped here") {
		t.Errorf("%d bytes, ending in %q", n, got.Output[max(0, n-20):])
	}
	if got.Details.Command.Dropped == 0 || streamed > maxStreamed {
		t.Errorf("dropped %d, streamed %d", got.Details.Command.Dropped, streamed)
	}
	if !utf8.ValidString(got.Output) {
		t.Error("the output is not valid UTF-8")
	}
}

func TestBashMayLeaveAServerRunning(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	got := b.succeed("Bash", args{"command": "sleep 5 & echo started"})
	if !strings.HasPrefix(got.Output, "started\n[A process was left running in the background") {
		t.Errorf("result %q", got.Output)
	}
	quiet := b.succeed("Bash", args{"command": "sleep 5 >log 2>&1 & echo started"})
	if quiet.Output != "started\n" {
		t.Errorf("result %q", quiet.Output)
	}
}

func TestBashInAVanishedFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	if got := b.run("Bash", args{"command": "rmdir ../" + b.dir[strings.LastIndex(b.dir, "/")+1:]}); got.IsError {
		t.Fatal(got.Output)
	}
	b.refuse("Bash", args{"command": "true"}, "the command did not run")
}
