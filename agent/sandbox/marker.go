package sandbox

import (
	"cmp"
	"crypto/rand"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// markerName is the variable by which a call's processes are found, wherever
// they have moved. Its value lists the calls of all nested Ateliers.
const markerName = "ATELIER_CALL"

var (
	program = rand.Text()
	numbers atomic.Int64 // of scopes and calls
	called  atomic.Bool  // whether there was a call
)

// Scope marks the processes of one owner, such as a session, so that they can
// be ended together. The zero Scope stands for the whole program.
type Scope struct {
	marker string
	called *atomic.Bool    // whether there was a call of this scope
	net    *privateNetwork // of its confined commands; nil for the zero scope, each of whose commands has one
}

// NewScope returns a scope without processes.
func NewScope() Scope {
	return Scope{program + ".s" + strconv.FormatInt(numbers.Add(1), 10) + ".", new(atomic.Bool), new(privateNetwork)}
}

// End kills every process that was started with a [Spec] of this scope, even if
// it outlived its command. No Run of the scope may be in progress. On systems
// other than Linux and Windows it does nothing.
func (s Scope) End() {
	if s.calls().Load() { // else no process has the marker
		sweep(s.prefix())
	}
}

// calls says whether there was a call whose marker has the scope's prefix.
func (s Scope) calls() *atomic.Bool { return cmp.Or(s.called, &called) }

func (s Scope) prefix() string {
	if s.marker == "" {
		return program + "."
	}
	return s.marker
}

// nextCall returns the marker of a new call. It ends in a character that no
// number contains, so that no marker is a prefix of another.
func (s Scope) nextCall() string {
	called.Store(true)
	s.calls().Store(true)
	return s.prefix() + strconv.FormatInt(numbers.Add(1), 10) + ";"
}

// mark returns env, or the filtered environment if env is nil, with the call's
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

// Shutdown kills every process that this program started and left behind. Hosts
// call it last, when nothing runs any more. On systems other than Linux and
// Windows it does nothing.
func Shutdown() {
	Scope{}.End()
	settle()
	guard.dismiss()
}
