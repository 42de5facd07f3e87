package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// Process is a running command. Its methods are safe for concurrent use.
type Process struct {
	cmd            child
	tree           tree
	limited        context.Context // ends with the caller, Stop or the timeout
	stop           context.CancelFunc
	stdout, stderr *capture
	begin          time.Time
	terminated     time.Time // when it was told to end

	keys   keyboard
	screen *screen // nil without a terminal

	done   chan struct{} // closed when result is set
	result Result
}

// child is a command and, if it is confined, its jail.
type child struct {
	*exec.Cmd
	jail    *jail
	profile *confine.Profile // nil if it is not confined
	network *privateNetwork  // nil if it shares that of this machine
	whole   bool             // see [Spec.Whole]
}

// Start starts the command, with its rights reduced if it is confined so.
func (c child) Start() error {
	if c.jail != nil && c.jail.start != nil {
		return c.jail.start(c.Cmd)
	}
	return c.Cmd.Start()
}

var (
	errTimeout = errors.New("the command's time is up")
	// ErrNoInput is returned for a write to a command without input.
	ErrNoInput = errors.New("the command takes no input")
	// ErrEnded is returned for a write to a command that has ended.
	ErrEnded = errors.New("the command has ended")
)

// Start starts a command that runs beside its caller. It ends by itself, by its
// timeout, with ctx or by Stop; the last three also end everything it started.
// An error means that it did not start.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	p, err := start(ctx, spec)
	if err != nil {
		return nil, err
	}
	go func() { // ends with the command
		p.supervise()
		close(p.done)
	}()
	return p, nil
}

// mostPlans is how often a command is planned whose files others keep replacing.
const mostPlans = 5

// start starts a command that the caller then supervises.
func start(ctx context.Context, spec Spec) (p *Process, err error) {
	if len(spec.Argv) == 0 {
		return nil, errors.New("start command: no program given")
	}
	if err := starts.wait(ctx); err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	for range mostPlans {
		var changed *planChanged
		if p, err = startOnce(ctx, spec); !errors.As(err, &changed) {
			break
		}
	}
	return p, err
}

// startOnce starts a command with one plan.
func startOnce(ctx context.Context, spec Spec) (p *Process, err error) {
	argv, environ, in, err := spec.prepare()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], err)
	}
	p = &Process{tree: tree{call: spec.Scope.nextCall()}, done: make(chan struct{})}
	if spec.Timeout > 0 {
		p.limited, p.stop = context.WithTimeoutCause(ctx, spec.Timeout, errTimeout)
	} else {
		p.limited, p.stop = context.WithCancel(ctx)
	}
	p.cmd = child{Cmd: exec.CommandContext(p.limited, argv[0], argv[1:]...), jail: in, profile: spec.Confine, whole: spec.Whole}
	if in != nil {
		p.cmd.network = in.network
		p.cmd.profile = cmp.Or(in.profile, spec.Confine)
	}
	p.cmd.Dir = spec.Dir
	p.cmd.Env = mark(environ, p.tree.call)
	p.cmd.Cancel = func() error {
		p.terminated = time.Now()
		return p.tree.terminate(p.cmd.jail.lead(p.cmd.Process))
	}
	p.cmd.WaitDelay = grace
	p.capture(spec)
	guard.watch() // first: the program may be killed as soon as the command runs
	if err := p.launch(spec); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		p.stop()
		in.release()
		return nil, fmt.Errorf("start %s: %w", spec.Argv[0], explained(err))
	}
	return p, nil
}

// explained adds plain words before the system's error: which resource is
// short, and what helps.
func explained(err error) error {
	switch {
	case errors.Is(err, syscall.EMFILE):
		return fmt.Errorf("too many files are open; stop commands that run on, or raise the limit of open files: %w", err)
	case errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("too many files are open on this machine; stop other programs: %w", err)
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("too many processes are running; stop commands that run on, or raise the limit of processes: %w", err)
	case errors.Is(err, syscall.ENOMEM):
		return fmt.Errorf("there is too little memory; stop commands that run on, or other programs: %w", err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("the disk is full; make room and try again: %w", err)
	}
	return err
}

// prepare returns the arguments to execute, the environment and the jail of a
// confined command.
func (s Spec) prepare() (argv, environ []string, in *jail, err error) {
	argv, environ = slices.Clone(s.Argv), s.Env
	if path := LookPath(argv[0]); path != "" {
		argv[0] = path
	}
	if s.Confine == nil {
		return argv, environ, nil, nil
	}
	by := s.by
	if by == nil {
		by = means(s.Confine.Weaker)
	}
	if in, err = by.jail(s, argv); err != nil {
		return nil, nil, nil, err
	}
	return in.argv, confinedEnviron(environ, in.env), in, nil
}

// capture connects the command's output.
func (p *Process) capture(spec Spec) {
	limit := spec.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	p.stdout, p.stderr = newCapture(limit, spec.Output), newCapture(limit, nil)
	if spec.SpillDir != "" {
		p.stdout.spill = &spill{dir: spec.SpillDir}
	}
	switch {
	case spec.TTY: // the terminal is all three, once it is open
	case spec.Raw != nil:
		p.cmd.Stdout, p.cmd.Stderr = rawWriter{spec.Raw, spec.RawEnd}, p.stderr
	case spec.Merge:
		p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stdout // the same writer, so that os/exec gives both one pipe
	default:
		p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	}
}

// launch starts the command with its input.
func (p *Process) launch(spec Spec) error {
	p.cmd.SysProcAttr = ownSession()
	var theirs, ours *os.File
	var err error
	switch {
	case spec.TTY:
		if ours, theirs, err = openTerminal(spec.Seat); err == nil {
			p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, theirs, theirs
			if spec.Confine == nil {
				p.cmd.SysProcAttr = ownTerminal()
			}
			if spec.Seat == (Seat{}) {
				p.cmd.Env = append(p.cmd.Env, terminalType)
			}
		}
	case spec.Input:
		if theirs, ours, err = openInput(); err == nil {
			p.cmd.Stdin = theirs
		}
	case spec.Stdin != nil:
		p.cmd.Stdin = bytes.NewReader(spec.Stdin) // os/exec writes it, and gives up with the command
	}
	if err != nil {
		return err
	}
	if theirs != nil {
		defer theirs.Close()
	}
	p.keys.file, p.keys.opened, p.keys.isTerminal = ours, ours, spec.TTY
	p.begin = time.Now()
	p.cmd.jail.enter(p.cmd.Cmd)
	if err := p.tree.start(p.cmd); err != nil {
		p.keys.close()
		return err
	}
	if err := p.cmd.jail.entered(); err != nil {
		p.stop()
		_ = p.cmd.Wait() // the caller releases the jail
		p.tree.release()
		p.keys.close()
		return err
	}
	if spec.TTY {
		var to io.Writer = p.stdout
		if spec.Raw != nil {
			to = rawWriter{spec.Raw, spec.RawEnd}
		}
		p.screen = follow(ours, to)
	}
	return nil
}

// supervise follows the command to its end and sets the result except its
// texts.
func (p *Process) supervise() {
	err := p.cmd.Wait()
	left := !p.screen.wait(p.limited, grace) || errors.Is(err, exec.ErrWaitDelay)
	aborted := p.limited.Err() != nil
	timedOut := errors.Is(context.Cause(p.limited), errTimeout)
	if aborted {
		if p.terminated.IsZero() { // the command had ended, but not its background children
			p.terminated = time.Now()
			_ = p.tree.terminate(p.cmd.jail.lead(p.cmd.Process))
		}
		p.tree.kill(p.cmd.Process, p.terminated.Add(grace))
	} else if p.cmd.whole {
		p.tree.kill(p.cmd.Process, time.Now())
	}
	p.tree.release()
	p.cmd.jail.leave()
	p.stop()
	if aborted {
		p.screen.wait(context.Background(), grace) // nobody holds the terminal any more
	}
	p.keys.close()
	p.screen.join()
	p.stdout.flush()
	p.stderr.flush()
	p.result = Result{
		ExitCode:    exitCode(p.cmd.ProcessState),
		Interrupted: aborted && !timedOut,
		TimedOut:    timedOut,
		Left:        !aborted && left,
		Dropped:     p.stdout.lost() + p.stderr.lost(),
		Duration:    time.Since(p.begin),
		Confined:    p.cmd.profile,
	}
	if s := p.stdout.spill; s != nil {
		p.result.Spill = s.Spill
	}
}

// Wait returns how the command ended, once it has, or ctx's error. The texts of
// the Result are empty, because Read returns them.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // both were so
		default:
			return Result{}, ctx.Err()
		}
	}
	return p.result, nil
}

// Read returns what the command printed to Stdout since the last Read.
func (p *Process) Read() string { return p.stdout.take() }

// Stop ends the command and everything it started, and waits until that is
// done.
func (p *Process) Stop() {
	p.stop()
	<-p.done
}

// Write types text to the command like a user at a terminal. Ctrl-C (\x03)
// alone interrupts it, with or without input, and Ctrl-D (\x04) at the end
// closes its input. A command on a terminal gets all keys unchanged and
// interprets them itself. Write fails with [ErrNoInput], [ErrEnded] or, if the
// command does not read its input, [os.ErrDeadlineExceeded].
func (p *Process) Write(text string) error {
	select {
	case <-p.done:
		return ErrEnded
	default:
	}
	if text == ctrlC && p.screen == nil {
		return p.tree.interrupt(p.cmd.jail.lead(p.cmd.Process))
	}
	return p.keys.write(text)
}
