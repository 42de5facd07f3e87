package sandbox

import (
	"log/slog"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeProc keeps other processes of the same user from inspecting this one;
// executing a program resets that. An Atelier that runs as a command of another
// one stays open: it was given no secrets, and the other one identifies the
// processes to end by their environments.
func closeProc() {
	if os.Getenv(markerName) != "" {
		return
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		slog.Warn("could not conceal the environment", "err", err)
	}
}

// sacrifice asks the kernel to kill a child with everything it starts, rather
// than this program, when memory runs out. A failure is harmless.
func sacrifice(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
}
