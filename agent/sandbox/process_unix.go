//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// ownSession gives a child its own process group and takes the terminal from
// it: a program that asks for a password there fails instead of waiting.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// interrupt does to the process group what Ctrl-C does at a terminal.
func interrupt(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGINT) }

// terminate asks the process group to end.
func terminate(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	_ = syscall.Kill(-leader.Pid, syscall.SIGCONT) // a stopped process would not hear of it
	return err
}

// dying is how long killed processes get to be gone. One that sleeps in the
// kernel, or that nobody reaps, is not waited for longer.
const dying = 500 * time.Millisecond

// killGroup gives the group until the deadline to be gone, then kills it. The
// leader has been waited for already; its number stays taken while the group
// has a member.
func killGroup(leader *os.Process, deadline time.Time) {
	if gone(leader, deadline) {
		return
	}
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
	gone(leader, time.Now().Add(dying)) // a killed process is there for a moment still
}

// gone waits until the group has no member, or the deadline.
func gone(leader *os.Process, deadline time.Time) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(-leader.Pid, 0) == nil {
		if !time.Now().Before(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}

// exitCode is the shell's: 128 plus the signal for a process that one ended.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}
