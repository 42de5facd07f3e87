package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func bash(script string) Spec {
	return Spec{Argv: []string{"/bin/bash", "--norc", "--noprofile", "-c", script}}
}

func TestRunReportsHowACommandEnded(t *testing.T) { // LOOP-26, LOOP-35
	t.Parallel()
	tests := []struct {
		name, script string
		merge        bool
		want         Result
	}{
		{"success", "echo out; echo err >&2", false, Result{Stdout: "out\n", Stderr: "err\n"}},
		{"merged in order", "echo 1; echo 2 >&2; echo 3", true, Result{Stdout: "1\n2\n3\n"}},
		{"exit code", "exit 7", false, Result{ExitCode: 7}},
		{"signal", "kill -KILL $$", false, Result{ExitCode: 137}},
		{"empty standard input", "cat; read -r line || echo none", false, Result{Stdout: "none\n"}},
		{"invalid bytes", `printf 'a\xff\xfeb\xc3'`, false, Result{Stdout: "a\uFFFDb\uFFFD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec := bash(tt.script)
			spec.Merge = tt.merge
			got, err := Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Result{}, "Duration")); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if got.Duration <= 0 {
				t.Error("no duration")
			}
		})
	}
}

func TestRunReturnsAnErrorOnlyIfTheCommandDidNotStart(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		spec Spec
		want error
	}{
		{"no program", t.Context(), Spec{}, nil},
		{"missing program", t.Context(), Spec{Argv: []string{"/no/such/program"}}, os.ErrNotExist},
		{"missing directory", t.Context(), Spec{Argv: []string{"/bin/true"}, Dir: "/no/such"}, os.ErrNotExist},
		{"ended context", cancelled, bash("true"), context.Canceled},
	}
	for _, tt := range tests {
		_, err := Run(tt.ctx, tt.spec)
		if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}

// Each pattern prints "ready" once its processes are in place, and would run
// for minutes.
var stubborn = map[string]string{
	"child":         `sleep 300 & echo ready; wait`,
	"foreground":    `echo ready; sleep 300; echo not reached`,
	"nohup":         `nohup sleep 300 >/dev/null 2>&1 & echo ready; wait`,
	"setsid":        `setsid sleep 300 & echo ready; wait`,
	"setsid silent": `setsid sleep 300 >/dev/null 2>&1 </dev/null & echo ready; wait`,
	"double fork":   `(setsid bash -c 'sleep 300 >/dev/null 2>&1 & echo ready') ; sleep 300`,
	"ignores TERM":  `trap '' TERM; echo ready; while true; do sleep 300; done`,
	"stopped":       `sleep 300 & kill -STOP $!; echo ready; wait`,
	"holds pipe":    `sleep 300 & echo ready`,
	"left group":    `setsid bash -c 'trap "" TERM HUP; echo ready; while true; do sleep 300; done' & wait`,
}

func TestRunLeavesNoProcess(t *testing.T) { // LOOP-123, K-37
	t.Parallel()
	for name, script := range stubborn {
		t.Run("abort/"+name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			got := runToEnd(t, ctx, script, 0, cancel)
			if !got.Interrupted || got.TimedOut {
				t.Errorf("result %+v, want interrupted", got)
			}
		})
		t.Run("timeout/"+name, func(t *testing.T) {
			t.Parallel()
			timeout := 4 * time.Second // a loaded machine needs more than one to begin
			if name == "holds pipe" {
				timeout = grace - grace/4 // then nobody waits any more for the output of a command that has ended
			}
			got := runToEnd(t, t.Context(), script, timeout, func() {})
			if !got.TimedOut || got.Interrupted {
				t.Errorf("result %+v, want timed out", got)
			}
		})
	}
}

// runToEnd runs a script, calls onReady once it runs, and checks that the run
// ends in time with its output kept and none of its processes alive.
func runToEnd(t *testing.T, ctx context.Context, script string, timeout time.Duration, onReady func()) Result {
	t.Helper()
	token := "TOKEN_OF_TEST=" + rand.Text()
	spec := bash(script)
	spec.Env = append(os.Environ(), token)
	spec.Timeout = timeout
	spec.Output = func(text string) {
		if strings.Contains(text, "ready") {
			onReady()
		}
	}
	got, err := Run(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if alive := carrying(t, token); len(alive) > 0 {
		t.Errorf("still alive: %q", alive)
	}
	if !strings.Contains(got.Stdout, "ready") {
		t.Errorf("partial output %q lost", got.Stdout)
	}
	if limit := timeout + 2*grace + time.Second; got.Duration > limit {
		t.Errorf("took %v, want at most %v", got.Duration, limit)
	}
	return got
}

// carrying lists the command lines of processes that have entry in their
// environment. A zombie no longer has one.
func carrying(t *testing.T, entry string) (found []string) {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environs) == 0 {
		t.Skip("needs /proc")
	}
	for _, name := range environs {
		if env, err := os.ReadFile(name); err == nil && bytes.Contains(env, []byte(entry)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
			found = append(found, string(line))
		}
	}
	return found
}

func TestTimeoutLetsAGroupCleanUp(t *testing.T) { // LOOP-123
	t.Parallel()
	const cleanUp = `trap 'sleep 0.5; touch "$MARK"; exit 3' TERM; while true; do sleep 0.1; done`
	for name, script := range map[string]string{
		"leader":           cleanUp,
		"after its leader": "(" + cleanUp + ") >/dev/null 2>&1 & wait",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mark := filepath.Join(t.TempDir(), "cleaned")
			spec := bash(script)
			spec.Env = append(os.Environ(), "MARK="+mark)
			spec.Timeout = 300 * time.Millisecond
			got, err := Run(t.Context(), spec)
			if err != nil || !got.TimedOut {
				t.Errorf("Run = %+v, %v; want a timeout", got, err)
			}
			if _, err := os.Stat(mark); err != nil {
				t.Errorf("the trap did not run to its end: %v", err)
			}
		})
	}
}

func TestTimeoutKillsAGroupThatHidItsMarker(t *testing.T) { // LOOP-123
	t.Parallel()
	spec := bash(`env -i /bin/bash -c 'trap "" TERM; echo $$; while true; do /bin/sleep 30; done' & wait`)
	spec.Timeout = 300 * time.Millisecond
	got, err := Run(t.Context(), spec)
	if err != nil || !got.TimedOut || got.Stdout == "" {
		t.Fatalf("Run = %+v, %v; want a timeout", got, err)
	}
	if line, _ := os.ReadFile("/proc/" + strings.TrimSpace(got.Stdout) + "/cmdline"); len(line) > 0 {
		t.Errorf("still alive: %q", line)
	}
}

func TestCommandMayLeaveABackgroundProcess(t *testing.T) {
	t.Parallel()
	token := "TOKEN_OF_TEST=" + rand.Text()
	spec := bash(`sleep 300 & echo started`)
	spec.Env = append(os.Environ(), token)
	got, err := Run(t.Context(), spec)
	if err != nil || !got.Left || got.ExitCode != 0 || got.Stdout != "started\n" {
		t.Errorf("Run = %+v, %v; want success with a process left", got, err)
	}
	if got.Duration > 2*grace {
		t.Errorf("waited %v for a process that holds the output", got.Duration)
	}
	if alive := carrying(t, token); len(alive) != 1 {
		t.Fatalf("alive: %q, want the sleep", alive)
	}
	// Shutdown would end the other tests' processes as well, so only processes
	// with this test's token are ended here.
	sweep(token)
	if alive := carrying(t, token); len(alive) > 0 {
		t.Errorf("alive after the sweep: %q", alive)
	}
}

func TestMarkersNest(t *testing.T) {
	a, b := Scope{}.nextCall(), Scope{}.nextCall()
	if strings.Contains(a+"1", b) || strings.Contains(b+"1", a) {
		t.Errorf("marker %q contains %q", a, b)
	}
	t.Setenv(markerName, "OUTER.7;")
	spec := bash("echo $" + markerName)
	got, err := Run(t.Context(), spec)
	if err != nil || !strings.HasPrefix(got.Stdout, "OUTER.7;"+program+".") {
		t.Errorf("marker %q, %v: want the outer one kept", got.Stdout, err)
	}
}

func TestOutputIsCapped(t *testing.T) { // K-02
	t.Parallel()
	spec := bash(`head -c 3000000 /dev/zero | tr '\0' a; printf 'TAIL'`)
	spec.Limit = 1000
	var streamed int
	spec.Output = func(text string) { streamed += len(text) }
	got, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if streamed != 3000004 {
		t.Errorf("streamed %d bytes, want all", streamed)
	}
	if got.Dropped != 3000004-1000 {
		t.Errorf("dropped %d", got.Dropped)
	}
	if n := len(got.Stdout); n > 1100 || !strings.HasPrefix(got.Stdout, "aaa") || !strings.HasSuffix(got.Stdout, "aTAIL") {
		t.Errorf("kept %d bytes: %.40q … %q", n, got.Stdout, got.Stdout[n-10:])
	}
	if !strings.Contains(got.Stdout, "2999004 bytes of output were dropped") {
		t.Error("the gap is not marked")
	}
}

func TestHoldDelaysStarts(t *testing.T) { // not parallel: it holds every Run
	release, again := Hold(), Hold()
	started := make(chan error, 1)
	go func() {
		_, err := Run(t.Context(), bash("true"))
		started <- err
	}()
	expired, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Run(expired, bash("true")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a held Run gave %v, want its context's error", err)
	}
	release()
	release()
	select {
	case <-started:
		t.Error("started while one hold was left")
	default:
	}
	again()
	if err := <-started; err != nil {
		t.Errorf("after release: %v", err)
	}
}

func TestChildHasThreeDescriptors(t *testing.T) {
	t.Parallel()
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	openInheritable(t, f)
	got, err := Run(t.Context(), Spec{Argv: []string{"/bin/ls", "/proc/self/fd"}})
	if err != nil || got.Stdout != "0\n1\n2\n3\n" { // 3 is the listing itself
		t.Errorf("descriptors %q, %v", got.Stdout, err)
	}
}

func TestRunFiltersByDefault(t *testing.T) {
	t.Setenv("SOME_API_KEY", "canary-value")
	got, err := Run(t.Context(), Spec{Argv: []string{"env"}})
	if err != nil || strings.Contains(got.Stdout, "canary-value") {
		t.Errorf("the child saw the key (%v):\n%s", err, got.Stdout)
	}
	if !strings.Contains(got.Stdout, "GIT_TERMINAL_PROMPT=0\n") || !strings.Contains(got.Stdout, "PATH="+os.Getenv("PATH")+"\n") {
		t.Errorf("environment:\n%s", got.Stdout)
	}
}

func TestDetachLeadsAnOwnSession(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ended, err := Detach("/bin/bash", "-c", `echo $(ps -o sid= -p $$) $$ >"$0"; exit 3`, fifo)
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(fifo)
	if ids := strings.Fields(string(said)); err != nil || len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("session and process %q, %v: want them equal", said, err)
	}
	if err := <-ended; err == nil || err.Error() != "exit status 3" {
		t.Errorf("ended: %v", err)
	}
	if _, err := Detach("/no/such/program"); err == nil {
		t.Error("no error for a missing program")
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("héllo wörld"), 3, 2)
	f.Add([]byte("\xf0\x9f\x98\x80\xff\xc3"), 1, 1)
	f.Fuzz(func(t *testing.T, data []byte, limit, chunk int) {
		limit, chunk = 1+max(limit, 0)%64, 1+max(chunk, 0)%16
		var emitted strings.Builder
		c := newCapture(limit, func(text string) {
			if !utf8.ValidString(text) {
				t.Errorf("emitted %q", text)
			}
			emitted.WriteString(text)
		})
		for rest := data; len(rest) > 0; {
			n := min(chunk, len(rest))
			_, _ = c.Write(rest[:n])
			rest = rest[n:]
		}
		c.flush()
		missing := c.missing()
		got := c.take()
		if !utf8.ValidString(got) {
			t.Errorf("kept %q", got)
		}
		if missing == 0 && got != emitted.String() {
			t.Errorf("kept %q of %q", got, emitted.String())
		}
		if utf8.Valid(data) && emitted.String() != string(data) {
			t.Errorf("emitted %q of %q", emitted.String(), data)
		}
	})
}

func openInheritable(t *testing.T, f *os.File) {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd())) // dup clears close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
}
