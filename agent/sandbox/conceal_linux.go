package sandbox

import (
	"log/slog"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeProc makes this process one that no other of the same user may look
// into; executing a program opens that one again. An Atelier that is itself a
// command of another is left open: it was given no secrets, and the other finds
// by its environment what it has to end.
func closeProc() {
	if os.Getenv(markerName) != "" {
		return
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		slog.Warn("conceal the environment", "err", err)
	}
}

// sacrifice has the kernel end a child, with what it starts, rather than this
// program when memory runs out. It is a wish: where it cannot be made, nothing
// is lost.
func sacrifice(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("500"), 0)
}
