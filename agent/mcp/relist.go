package mcp

import "time"

// relisting decides when lists are read again: soon after a change, and more and
// more slowly while changes do not end.
type relisting struct {
	pause time.Duration
	last  time.Time
	timer *time.Timer
}

func (r *relisting) plan(now time.Time) {
	if r.timer != nil {
		return
	}
	if now.Sub(r.last) > 2*r.pause+leastRelist {
		r.pause = leastRelist
	} else {
		r.pause = min(2*r.pause, mostRelist)
	}
	r.timer = time.NewTimer(r.pause)
}

func (r *relisting) due() <-chan time.Time {
	if r.timer == nil {
		return nil
	}
	return r.timer.C
}

func (r *relisting) begin(now time.Time) { r.timer, r.last = nil, now }

func (r *relisting) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}
