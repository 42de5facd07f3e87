package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// DefaultLimit is the capture cap of a stream that a [Spec] leaves open
// (K-02).
const DefaultLimit = 1 << 20

// grace is the time between SIGTERM and SIGKILL (LOOP-123). It is also how
// long a finished command's background children may hold its output open.
const grace = 2 * time.Second

// Spec is a command to run.
type Spec struct {
	// Argv is the program and its arguments. A program without a slash is
	// looked up on PATH.
	Argv []string
	// Dir is the working directory. Empty means this process's own.
	Dir string
	// Env is the whole environment. Nil means that of the zero [Filter].
	Env []string
	// Timeout is the wall-clock limit. 0 means none.
	Timeout time.Duration
	// Limit caps what is captured of each stream, in bytes: the first and the
	// last half of the limit are kept. 0 means [DefaultLimit].
	Limit int
	// Merge sends standard error into Stdout, in the order written.
	Merge bool
	// Output receives what goes to Stdout as it appears, all of it, as valid
	// UTF-8. Calls do not overlap and end before Run returns. May be nil.
	Output func(text string)
}

// Result is how a command ended. Its texts are valid UTF-8.
type Result struct {
	Stdout string
	Stderr string
	// ExitCode is 128 plus the signal's number for a child that a signal
	// ended.
	ExitCode int
	// TimedOut and Interrupted say who ended it early: the Spec's timeout or
	// the caller's context.
	TimedOut    bool
	Interrupted bool
	// Left says that the command ended and left a background process behind
	// that still held its output, which is no longer read.
	Left bool
	// Dropped counts the bytes of output beyond Limit, of both streams.
	Dropped  int64
	Duration time.Duration
}

// Run runs a command to its end (LOOP-26, LOOP-121..124). It first waits for
// [Hold]s to be released. An error means that the command did not start; any
// end of a started command is a Result. Run is safe for concurrent use.
func Run(ctx context.Context, spec Spec) (Result, error) {
	if len(spec.Argv) == 0 {
		return Result{}, errors.New("start command: no program given")
	}
	if err := starts.wait(ctx); err != nil {
		return Result{}, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	limited, cancel := ctx, context.CancelFunc(func() {})
	if spec.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, spec.Timeout)
	}
	defer cancel()

	call := nextCall()
	cmd := exec.CommandContext(limited, spec.Argv[0], spec.Argv[1:]...)
	cmd.Dir = spec.Dir
	cmd.Env = mark(spec.Env, call)
	cmd.SysProcAttr = ownGroup()
	var ended time.Time // when SIGTERM went out
	cmd.Cancel = func() error {
		ended = time.Now()
		return terminate(cmd.Process)
	}
	cmd.WaitDelay = grace
	stdout, stderr := capturePair(cmd, spec)

	begin := time.Now()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return Result{}, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	waitErr := cmd.Wait()
	aborted := limited.Err() != nil
	if aborted {
		if ended.IsZero() { // the command was over, its background children were not
			ended = time.Now()
			_ = terminate(cmd.Process)
		}
		killGroup(cmd.Process, ended.Add(grace))
		sweep(call)
	}

	stdout.flush()
	stderr.flush()
	return Result{
		Stdout: stdout.String(), Stderr: stderr.String(),
		ExitCode:    exitCode(cmd.ProcessState),
		Interrupted: ctx.Err() != nil,
		TimedOut:    aborted && ctx.Err() == nil,
		Left:        !aborted && errors.Is(waitErr, exec.ErrWaitDelay),
		Dropped:     stdout.dropped() + stderr.dropped(),
		Duration:    time.Since(begin),
	}, nil
}

// capturePair connects the command's output to captures.
func capturePair(cmd *exec.Cmd, spec Spec) (stdout, stderr *capture) {
	limit := spec.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	stdout, stderr = newCapture(limit, spec.Output), newCapture(limit, nil)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if spec.Merge {
		cmd.Stderr = stdout // the same writer: os/exec gives both one pipe
	}
	return stdout, stderr
}

// Detach starts a program for the user rather than for a call, such as
// xdg-open: it keeps the user's environment, sees no pipes and outlives this
// process. It does not wait for [Hold]s.
func Detach(argv ...string) error {
	if len(argv) == 0 {
		return errors.New("start program: no program given")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = withoutOwn(os.Environ())
	cmd.SysProcAttr = ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", argv[0], err)
	}
	go func() { _ = cmd.Wait() }() // reaps it; ends with the program or with us
	return nil
}

// LookPath finds a program as [Run] would. Empty means that there is none.
func LookPath(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}
