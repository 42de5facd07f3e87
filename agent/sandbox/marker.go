package sandbox

import (
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// markerName is the variable by which a call's processes are found again,
// wherever they have moved. Its value lists the calls of all the Ateliers
// that are nested in each other.
const markerName = "ATELIER_CALL"

var (
	program = rand.Text()
	calls   atomic.Int64
)

// nextCall returns the marker of a new call. It ends in a character that no
// number has, so that no marker begins another.
func nextCall() string {
	return program + "." + strconv.FormatInt(calls.Add(1), 10) + ";"
}

// mark returns env, or by default the filtered environment, with the call's
// marker.
func mark(env []string, call string) []string {
	if env == nil {
		env = Filter{}.Apply(os.Environ())
	}
	marked := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if !strings.HasPrefix(entry, markerName+"=") {
			marked = append(marked, entry)
		}
	}
	return append(marked, markerName+"="+os.Getenv(markerName)+call)
}

// Shutdown kills every process that a [Run] of this program started and left
// behind. Hosts call it last, when no Run is under way any more. On systems
// other than Linux it does nothing.
func Shutdown() { sweep(program + ".") }
