//go:build unix

package sandbox

import (
	"errors"
	"os"
	"syscall"
	"time"
)

func ownGroup() *syscall.SysProcAttr   { return &syscall.SysProcAttr{Setpgid: true} }
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// terminate asks the process group to end.
func terminate(leader *os.Process) error {
	err := syscall.Kill(-leader.Pid, syscall.SIGTERM)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// killGroup gives the group until the deadline to be gone, then kills it. The
// leader has been waited for already; its number stays taken while the group
// has a member.
func killGroup(leader *os.Process, deadline time.Time) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		if syscall.Kill(-leader.Pid, 0) != nil {
			return
		}
		<-tick.C
	}
	_ = syscall.Kill(-leader.Pid, syscall.SIGKILL)
}

// exitCode is the shell's: 128 plus the signal for a process that one ended.
func exitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}
