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
	numbers atomic.Int64 // of scopes and calls
)

// Scope marks the processes of one owner, such as a session, so that they can
// be ended together. The zero Scope is that of the whole program.
type Scope struct{ marker string }

// NewScope returns a scope without processes.
func NewScope() Scope {
	return Scope{program + ".s" + strconv.FormatInt(numbers.Add(1), 10) + "."}
}

// End kills every process that was started with a [Spec] of this scope, also
// those that outlived their command. No Run of it may be under way. On
// systems other than Linux and Windows it does nothing.
func (s Scope) End() { sweep(s.prefix()) }

func (s Scope) prefix() string {
	if s.marker == "" {
		return program + "."
	}
	return s.marker
}

// nextCall returns the marker of a new call. It ends in a character that no
// number has, so that no marker begins another.
func (s Scope) nextCall() string {
	return s.prefix() + strconv.FormatInt(numbers.Add(1), 10) + ";"
}

// mark returns env, or by default the filtered environment, with the call's
// marker.
func mark(env []string, call string) []string {
	if env == nil {
		env = Filter{}.Apply(Environ())
	}
	marked := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if !strings.HasPrefix(entry, markerName+"=") {
			marked = append(marked, entry)
		}
	}
	return append(marked, markerName+"="+os.Getenv(markerName)+call)
}

// Shutdown kills every process that this program started and left behind.
// Hosts call it last, when nothing is run any more. On systems other than
// Linux and Windows it does nothing.
func Shutdown() {
	Scope{}.End()
	guard.dismiss()
}
