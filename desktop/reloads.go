package desktop

import (
	"sync"
	"time"
)

// reloadLimit is how often within a minute a dead page is reloaded. A page that
// dies more often has a cause in its content.
const reloadLimit = 3

// reloads counts the reloads of the page. It is safe for concurrent use.
type reloads struct {
	mu    sync.Mutex
	times []time.Time
}

// allow reports whether the page may be reloaded once more, and counts the
// reload.
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
