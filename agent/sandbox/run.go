package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// DefaultLimit is the capture limit of a stream if a [Spec] sets none (K-02).
const DefaultLimit = 1 << 20

// grace is the time between asking a command to end and killing it (LOOP-123).
// It is also how long background children of a finished command may hold its
// output open.
const grace = 2 * time.Second

// Spec is a command to run.
type Spec struct {
	// Argv is the program and its arguments. A program without a slash is
	// looked up by [LookPath]. The last argument of cmd.exe is a command line,
	// which it gets unchanged (after /s /c).
	Argv []string
	// Dir is the working directory. Empty means this process's own.
	Dir string
	// Env is the whole environment. Nil means that of the zero [Filter].
	Env []string
	// Scope is the owner of the command's processes.
	Scope Scope
	// Input gives a [Process] a standard input to write to. Otherwise it is the
	// null device.
	Input bool
	// Stdin is the whole standard input, if it is known in advance. The command
	// need not read it.
	Stdin []byte
	// TTY runs the command on a terminal of its own, which is its input, output
	// and error: everything printed is Stdout, lines end in a carriage return
	// and a newline, and input is echoed. It fails with [ErrNoTerminal] if
	// there are no terminals. Only programs that behave differently on a
	// terminal need it.
	TTY bool
	// Seat is that terminal's size if a person sits at it, whose Env names its type.
	Seat Seat
	// Confine says what the command may do; nil means everything that the user
	// may. It fails with [ErrNoConfinement] if the machine cannot enforce it.
	Confine *confine.Profile
	// Timeout is the wall-clock limit. 0 means none.
	Timeout time.Duration
	// Limit limits what is captured of each stream, in bytes: its first and
	// last half are kept. 0 means [DefaultLimit].
	Limit int
	// SpillDir is the folder of the file for Stdout beyond Limit. If it is
	// empty, that output is dropped.
	SpillDir string
	// Merge sends standard error into Stdout, in the order written.
	Merge bool
	// Output receives everything that goes to Stdout as it appears, as valid
	// UTF-8. Calls do not overlap and end before Run returns. It may be nil.
	Output func(text string)
	// Raw receives standard output as it is written, instead of Stdout and Output.
	// Calls do not overlap. It must not keep the bytes, and while it blocks, the
	// command waits. It may be nil.
	Raw func(p []byte)
	// RawEnd is called once, when standard output has ended, which may be before the
	// command does. It needs Raw, and may be nil.
	RawEnd func()
	// Whole says that the end of the command is the end of everything it started.
	// Without it, what a command left behind lives on if it ended by itself.
	Whole bool

	by enforcer // nil means the best one
}

// Result is how a command ended. Its texts are valid UTF-8.
type Result struct {
	Stdout string
	Stderr string
	// ExitCode is 128 plus the signal's number for a child that a signal ended.
	// On Windows it is 0xC000013A for a child that Ctrl-C or we ended.
	ExitCode int
	// TimedOut and Interrupted say who ended it early: the Spec's timeout, or
	// the caller through its context or Stop.
	TimedOut    bool
	Interrupted bool
	// Left says that the command ended but left a background process that still
	// held its output, which is no longer read.
	Left bool
	// Dropped counts the bytes of output that are not in the texts; Spill has
	// them if the Spec asked for it.
	Dropped  int64
	Spill    Spill
	Duration time.Duration
	// Confined is the profile it ran under; nil if it was not confined. Notes say what
	// else whoever ran it has to say about it, in sentences.
	Confined *confine.Profile
	Notes    []string
}

// Run runs a command to its end (LOOP-26, LOOP-121..124). It first waits until
// every [Hold] is released. An error means that the command did not start;
// every end of a started command is a Result. Run is safe for concurrent use.
func Run(ctx context.Context, spec Spec) (Result, error) {
	p, err := start(ctx, spec)
	if err != nil {
		return Result{}, err
	}
	p.supervise()
	p.result.Stdout, p.result.Stderr = p.stdout.take(), p.stderr.take()
	return p.result, nil
}

// Detach starts a program for the user rather than for a call, such as
// xdg-open. The program keeps the user's environment except what [Conceal]
// removed, gets no pipes and outlives this process. Detach does not wait for a
// [Hold], nor for the program: ended receives once how it ended.
func Detach(argv ...string) (ended <-chan error, err error) {
	if len(argv) == 0 {
		return nil, errors.New("start program: no program given")
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = withoutOwn(os.Environ())
	cmd.SysProcAttr = ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	end := make(chan error, 1)
	go func() { end <- cmd.Wait() }() // reaps it; ends with the program or with us
	return end, nil
}

// LookPath finds a program on the PATH of children. It returns an empty string
// if there is none.
func LookPath(program string) string {
	if filepath.Base(program) != program {
		return program
	}
	for _, dir := range filepath.SplitList(searchPath()) {
		if !filepath.IsAbs(dir) {
			continue // programs in the working folder must not run by accident
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}

// ShellFinds returns the program that a child's shell runs for a name that is
// not a builtin. It returns an empty string if there is none, or if the PATH
// depends on the child's working folder.
func ShellFinds(program string) string {
	if filepath.Base(program) != program {
		return ""
	}
	for _, dir := range filepath.SplitList(searchPath()) {
		if !filepath.IsAbs(dir) {
			return ""
		}
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path
		}
	}
	return ""
}
