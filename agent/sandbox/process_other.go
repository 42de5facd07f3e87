//go:build !unix

package sandbox

import (
	"os"
	"syscall"
	"time"
)

func ownSession() *syscall.SysProcAttr { return nil }

// interrupt ends the process: there is no other signal here.
func interrupt(leader *os.Process) error { return leader.Kill() }

// terminate ends the process: there are no groups and no polite signal here.
func terminate(leader *os.Process) error { return leader.Kill() }

func killGroup(*os.Process, time.Time) {}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
