package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// sweep kills every process whose environment carries marker, until a pass
// over the process table finds none: a process may fork while it is made.
// What cannot be killed (it sleeps in the kernel) is left after some passes.
func sweep(marker string) {
	for range 50 {
		if killMarked([]byte(marker)) == 0 {
			return
		}
	}
}

func killMarked(marker []byte) (killed int) {
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
		if env, err := os.ReadFile(dir + "/environ"); err == nil && bytes.Contains(env, marker) {
			if process.Signal(syscall.SIGKILL) == nil {
				killed++
			}
		}
		_ = process.Release()
	}
	return killed
}
