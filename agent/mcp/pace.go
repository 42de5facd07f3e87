package mcp

import (
	"runtime"
	"sync"
	"time"
)

// startShare is how long a program that starts may keep the next one waiting.
const startShare = 300 * time.Millisecond

// pace has programs start a few at a time. An interpreter that loads its libraries
// keeps a processor busy, and ten of them would take all processors from the turn
// that is being prepared at the same time.
type pace struct {
	starting chan struct{} // holds one for each program that starts
	over     chan struct{} // closed when no program has to wait any more
	hurry    sync.Once     // closes over
}

func newPace() *pace {
	return &pace{starting: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), over: make(chan struct{})}
}

// end lets all programs start that wait now or later.
func (p *pace) end() { p.hurry.Do(func() { close(p.over) }) }

// begin records that a program starts, until started is called or its share is over.
func (p *pace) begin() (started func()) {
	leave := sync.OnceFunc(func() { <-p.starting })
	share := time.AfterFunc(startShare, leave)
	return func() {
		share.Stop()
		leave()
	}
}

// await waits until a server's program may start. One that a call waits for may at
// once. It reports false if something else is wanted meanwhile.
func (k *keeper) await() (started func(), ok bool) {
	if k.pace == nil || k.server.Transport != TransportStdio {
		return func() {}, true
	}
	select {
	case k.pace.starting <- struct{}{}:
		return k.pace.begin(), true
	case <-k.pace.over:
	case <-k.need:
	case <-k.wake:
		return nil, false
	case <-k.ctx.Done():
		return nil, false
	}
	return func() {}, true
}
