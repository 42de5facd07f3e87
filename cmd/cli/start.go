package cli

import (
	"os"
	"runtime/debug"
	"sync"
	"time"
)

const (
	// startTime is how long the garbage collector waits for a start at most.
	startTime = 250 * time.Millisecond
	// longStart is when a start is surely over, also that of a window, whose page loads
	// most of its parts when the first screen is there.
	longStart = 8 * time.Second
)

// startGarbage is the collector's percentage in that time: Go's least heap of 4 MB may
// become one of 16 MB.
const startGarbage = 400

// starting lets the program start with more memory than it needs later, until over is
// called, or for the times above.
func starting() (over func()) {
	collect := collectLater()
	over = sync.OnceFunc(func() {
		collect()
		leaveProgram()
	})
	time.AfterFunc(longStart, over)
	return over
}

// collectLater lets the garbage collector wait while the program starts. A start
// allocates 12 MB, of which 3 MB stay in use, so four collections would delay the first
// request and free little. A percentage that the user chose holds.
func collectLater() (collect func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	usual := debug.SetGCPercent(startGarbage)
	collect = sync.OnceFunc(func() { debug.SetGCPercent(usual) })
	time.AfterFunc(startTime, collect)
	return collect
}
