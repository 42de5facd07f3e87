package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// sweep kills every process whose environment carries marker, until a pass
// over the process table finds none: a process may fork while it is made, one
// that is just executing a program shows its environment only after that, and
// one that is killed is there until a busy machine comes to it. What cannot be
// killed (it sleeps in the kernel) is left after a while.
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
	table, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range table {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// The handle comes first: it pins the process, so that the signal
		// cannot reach another one that got the same number.
		process, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		switch {
		case err != nil:
		case bytes.Contains(env, marker):
			again = process.Signal(syscall.SIGKILL) == nil || again
		case len(env) == 0:
			again = again || isExecuting(dir)
		}
		_ = process.Release()
	}
	return again
}

// isExecuting reports whether a process of a directory in /proc that showed no
// environment has one all the same: it was between two programs. It executes a
// file, which neither the dead nor the kernel's own do, and its place for the
// environment is not an empty one.
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
