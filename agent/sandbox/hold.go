package sandbox

import (
	"context"
	"sync"
)

// holds delays the start of children.
type holds struct {
	mu    sync.Mutex
	count int
	free  chan struct{} // closed when count falls to 0; nil while count is 0
}

var starts holds

// Hold makes every [Run] wait until release is called. A host uses it until its
// window is painted, because children that start while the page loads can keep
// it blank. Holds add up; release may be called more than once.
func Hold() (release func()) {
	starts.mu.Lock()
	defer starts.mu.Unlock()
	if starts.count == 0 {
		starts.free = make(chan struct{})
	}
	starts.count++
	return sync.OnceFunc(starts.release)
}

func (h *holds) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	if h.count == 0 {
		close(h.free)
		h.free = nil
	}
}

// wait returns when no hold is left, or with ctx's error.
func (h *holds) wait(ctx context.Context) error {
	for ctx.Err() == nil {
		h.mu.Lock()
		free := h.free
		h.mu.Unlock()
		if free == nil {
			return nil
		}
		select {
		case <-free:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}
