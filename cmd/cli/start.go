package cli

import (
	"os"
	"runtime/debug"
	"time"
)

// startTime is how long the garbage collector waits for a start.
const startTime = 250 * time.Millisecond

// startGarbage is the collector's percentage in that time: Go's least heap of 4 MB may
// become one of 16 MB.
const startGarbage = 400

// collectLater lets the garbage collector wait while the program starts. A start
// allocates 12 MB, of which 3 MB stay in use, so four collections would delay the first
// request and free little. A percentage that the user chose holds.
func collectLater() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(startGarbage)
	time.AfterFunc(startTime, func() { debug.SetGCPercent(usual) })
}
