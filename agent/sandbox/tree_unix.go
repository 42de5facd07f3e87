//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// tree is the command's process group, and the processes that left it but carry
// the marker of its call.
type tree struct{ call string }

// ownSession gives a child its own process group and no terminal: a program
// that asks for a password there fails instead of waiting.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (t *tree) start(command child) error {
	closeDescriptorsOnExec()
	if err := command.Start(); err != nil {
		return err
	}
	sacrifice(command.Process.Pid)
	return nil
}

func (t *tree) interrupt(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGINT) }

func (t *tree) terminate(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	_ = syscall.Kill(-leader.Pid, syscall.SIGCONT) // a stopped process would not handle the signal
	return err
}

// kill is for a leader that has already been waited for; its number stays in
// use while the group has a member.
func (t *tree) kill(leader *os.Process, deadline time.Time) {
	gone := func() bool { return syscall.Kill(-leader.Pid, 0) != nil }
	if !goneBy(deadline, gone) {
		_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
		goneBy(time.Now().Add(dying), gone) // a killed process remains for a moment
	}
	sweep(t.call)
}

func (t *tree) release() {}

// exitCode returns the shell's exit code: 128 plus the signal for a process
// that a signal ended.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// openInput returns the two ends of a command's standard input.
func openInput() (theirs, ours *os.File, err error) { return os.Pipe() }
