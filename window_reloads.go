package main

import (
	"sync"
	"time"
)

// reloadLimit is how often within a minute a dead page is loaded again. A page
// that dies more often dies of its content.
const reloadLimit = 3

// reloads counts the times that the page was loaded again. Safe for
// concurrent use.
type reloads struct {
	mu    sync.Mutex
	times []time.Time
}

// allow reports whether the page may be loaded once more, and counts it.
func (r *reloads) allow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	recent := r.times[:0]
	for _, at := range r.times {
		if now.Sub(at) < time.Minute {
			recent = append(recent, at)
		}
	}
	r.times = recent
	if len(r.times) >= reloadLimit {
		return false
	}
	r.times = append(r.times, now)
	return true
}
