package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// sweep kills every process whose environment carries marker, and repeats until
// a pass over the process table finds none: a process may fork during a pass, a
// process that is executing a program shows its environment only afterwards,
// and a killed one remains for a moment on a busy machine. A process that
// cannot be killed, because it sleeps in the kernel, is given up after a while.
func sweep(marker string) {
	for range 500 {
		if !killMarked([]byte(marker)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// killMarked makes one pass. It reports whether another is needed.
func killMarked(marker []byte) (again bool) {
	for _, name := range processes() {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		dir := "/proc/" + name
		env, err := os.ReadFile(dir + "/environ")
		switch {
		case err != nil:
		case bytes.Contains(env, marker):
			again = killIf(pid, dir, marker) || again
		case len(env) == 0:
			again = again || isExecuting(dir)
		}
	}
	return again
}

// processes returns the names in the process table, of which numbers are processes.
func processes() []string {
	table, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer table.Close()
	names, _ := table.Readdirnames(-1)
	return names
}

// killIf kills the process in dir if its environment still carries marker once
// there is a handle to it. The handle pins the process, so that the signal
// cannot reach another one with the same number. It reports false if the process
// cannot be killed, which it cannot after its end.
func killIf(pid int, dir string, marker []byte) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	env, err := os.ReadFile(dir + "/environ")
	if err != nil || !bytes.Contains(env, marker) {
		return true // it has ended, or executes a program now: the next pass knows
	}
	return process.Signal(syscall.SIGKILL) == nil
}

// isExecuting reports whether a process in /proc that showed no environment has
// one after all because it was between two programs. Such a process executes a
// file, which neither a dead process nor the kernel's own does, and the address
// range of its environment is not empty.
func isExecuting(dir string) bool {
	if _, err := os.Readlink(dir + "/exe"); err != nil {
		return false
	}
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	const state, envStart, envEnd = 3, 50, 51 // as proc_pid_stat(5) counts the fields
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= envEnd-state {
		return false
	}
	start, end := string(fields[envStart-state]), string(fields[envEnd-state])
	return end == "0" || start != end
}
