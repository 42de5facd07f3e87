package mcp

import (
	"runtime"
	"sync"
	"time"
)

// startShare is how long a program that starts may keep the next one waiting.
const startShare = 300 * time.Millisecond

// throttle has programs start a few at a time. An interpreter that loads its libraries
// keeps a processor busy, and ten of them would take all processors from the turn
// that is being prepared at the same time.
type throttle struct {
	starting chan struct{} // holds one for each program that starts
	over     chan struct{} // closed when no program has to wait any more
	hurry    sync.Once     // closes over
}

func newThrottle() *throttle {
	return &throttle{starting: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), over: make(chan struct{})}
}

// end lets all programs start that wait now or later.
func (t *throttle) end() { t.hurry.Do(func() { close(t.over) }) }

// begin records that a program starts, until started is called or its share is over.
func (t *throttle) begin() (started func()) {
	leave := sync.OnceFunc(func() { <-t.starting })
	share := time.AfterFunc(startShare, leave)
	return func() {
		share.Stop()
		leave()
	}
}

// await waits until a server's program may start. One that a call waits for may at
// once. It reports false if something else is wanted meanwhile.
func (sup *supervisor) await() (started func(), ok bool) {
	if sup.throttle == nil || sup.server.Transport != TransportStdio {
		return func() {}, true
	}
	select {
	case sup.throttle.starting <- struct{}{}:
		return sup.throttle.begin(), true
	case <-sup.throttle.over:
	case <-sup.need:
	case <-sup.wake:
		return nil, false
	case <-sup.ctx.Done():
		return nil, false
	}
	return func() {}, true
}
