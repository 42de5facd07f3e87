package mcp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"atelier.dev/atelier/agent/sandbox"
)

const (
	keptErrors = 64 << 10 // bytes of a program's standard error
	// leaveTime is how long a program may take to end once its input has ended,
	// before it is told to.
	leaveTime = 2 * time.Second
)

// stdioLink is a server that is a program.
type stdioLink struct {
	*lineLink
	spec    sandbox.Spec
	process *sandbox.Process
}

// newStdioLink prepares a program; Start starts it.
func newStdioLink(s Server, cfg Config, p peer) *stdioLink {
	l := &stdioLink{lineLink: newLineLink(p)}
	dir := s.Stdio.Dir
	if dir == "" {
		dir = cfg.Dir
	}
	environ := sandbox.Environ
	if cfg.Environ != nil {
		environ = cfg.Environ
	}
	env := sandbox.Filter{}.Apply(environ())
	for _, name := range slices.Sorted(maps.Keys(s.Stdio.Env)) {
		env = append(env, name+"="+s.Stdio.Env[name]) // the last one of a name counts
	}
	l.spec = sandbox.Spec{
		Argv: append([]string{s.Stdio.Command}, s.Stdio.Args...), Dir: dir, Env: env,
		Input: true, Raw: l.feed.in.write, RawEnd: func() { go l.mute() }, Limit: keptErrors, Whole: true,
	}
	return l
}

// Start implements transport.Interface. The program lives until Close, or until ctx
// ends.
func (l *stdioLink) Start(ctx context.Context) error {
	if err := findProgram(l.spec.Argv[0], l.spec.Dir); err != nil {
		close(l.wrote)
		return err
	}
	process, err := sandbox.Start(ctx, l.spec)
	if err != nil {
		close(l.wrote)
		return &Fault{Kind: FaultStart, Detail: err.Error(), Err: err}
	}
	l.process, l.to.WriteCloser = process, process.Input()
	go l.write() // ends with Close
	go func() {  // ends with the program's input
		if process.InputClosed() {
			l.deaf(fmt.Errorf("write to %s: %w", l.spec.Argv[0], syscall.EPIPE))
		}
	}()
	go func() { // ends with the program
		<-process.Done()
		result, _ := process.Wait(context.Background())
		l.fail(&Fault{Kind: FaultExited, Detail: strconv.Itoa(result.ExitCode)})
	}()
	return nil
}

// findProgram says in advance, and better than the system, that there is no such
// program.
func findProgram(command, dir string) error {
	path := sandbox.LookPath(command)
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if path != "" {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return &Fault{Kind: FaultNoFile, Detail: command, Err: fmt.Errorf("find %s: %w", command, os.ErrNotExist)}
}

// Close ends the program with everything it started: its input ends, then it is
// told to end, then it is killed.
func (l *stdioLink) Close() error {
	if l.process == nil {
		l.fail(&Fault{Kind: FaultClosed})
		return nil
	}
	l.lineLink.close()
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	select {
	case <-l.process.Done():
	case <-patience.C:
	}
	l.process.Stop()
	return nil
}

func (l *stdioLink) pid() int { return l.process.PID() }

// errors returns what the program printed to its standard error; nothing if it did
// not start.
func (l *stdioLink) errors() string {
	if l.process == nil {
		return ""
	}
	return l.process.Errors()
}
